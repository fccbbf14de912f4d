"""Presentation of results in notebooks, data frames and CSV; and equality by value."""
