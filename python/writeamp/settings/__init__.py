"""Settings of the drive, its load, its policies and the run, each with default and domain."""
