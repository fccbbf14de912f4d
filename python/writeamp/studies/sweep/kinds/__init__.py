"""Kinds of points of a sweep, one module for each."""
