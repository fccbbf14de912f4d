"""Differences between two results of one command (verb), in settings and metrics."""
