"""Differences between two results of the same command, in settings and metrics."""
