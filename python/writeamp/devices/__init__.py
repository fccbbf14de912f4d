"""Drives: their shape and profiles, how much of them the host sees, and what they work by."""
