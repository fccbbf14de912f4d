"""Differences between two results of one verb, in settings and metrics."""
