"""Wear of this machine's drives now: who writes, how much, and what it costs."""
