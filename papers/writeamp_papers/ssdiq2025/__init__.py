"""Haas et al. 2025 (SSD-iq): the simulated values of their figures."""
