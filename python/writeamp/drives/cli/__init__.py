"""Commands for real drives: `measure`, `lifetime` and `doctor`."""
