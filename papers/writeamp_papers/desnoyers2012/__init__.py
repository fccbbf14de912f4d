"""Desnoyers 2012: write amplification of LRW and greedy collection, by formulas."""
