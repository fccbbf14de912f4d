"""Parsing and formatting of ratios of spare space, sizes in bytes and durations."""
