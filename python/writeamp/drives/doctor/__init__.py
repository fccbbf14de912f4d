"""Mistakes in benchmarks of write amplification: detection, explanation, and effect on WA."""
