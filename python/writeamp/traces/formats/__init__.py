"""Formats of block traces: one module a format, each with its `FORMAT`."""
