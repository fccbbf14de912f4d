"""Counters of real drives: write amplification over a life or an interval, with its proof."""
