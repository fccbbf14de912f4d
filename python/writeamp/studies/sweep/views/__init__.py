"""What is seen in the results of sweeps: one file for each way to look at them."""
