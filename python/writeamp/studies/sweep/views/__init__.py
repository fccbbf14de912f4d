"""Views of the results of sweeps, one file for each way to look at them."""
