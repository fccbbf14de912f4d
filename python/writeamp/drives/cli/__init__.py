"""Verbs of real drives: `measure`, `lifetime`, `doctor`."""
