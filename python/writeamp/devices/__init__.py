"""Drives: shape, profiles, logical size, times and policies."""
