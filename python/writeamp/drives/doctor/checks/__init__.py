"""Checks, one a file."""
