"""Presentation of results: notebooks, data frames, CSV, and comparison by value."""
