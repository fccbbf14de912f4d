"""Formats of block traces: one module per format, each with its `FORMAT`."""
