"""Mistakes in benchmarks of write amplification: found, explained, and put in numbers."""
