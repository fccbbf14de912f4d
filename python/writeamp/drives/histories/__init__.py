"""Histories of real drives: their counters' documents over time in one SQLite file."""
