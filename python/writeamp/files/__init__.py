"""File input and output: size limits, atomic writes and temporary folders."""
