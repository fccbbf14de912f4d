"""Kinds of sweep points (simulations, comparisons, theory), one module for each."""
