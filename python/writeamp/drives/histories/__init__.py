"""Histories of real drives: documents of their counters over time in one SQLite file."""
