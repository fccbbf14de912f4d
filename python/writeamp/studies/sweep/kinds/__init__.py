"""Kinds of points of a sweep, one file for each."""
