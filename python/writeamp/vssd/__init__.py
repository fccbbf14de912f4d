"""Virtual SSD: a block device for real programs, with counters."""
