"""Views of the results of sweeps, one module for each."""
