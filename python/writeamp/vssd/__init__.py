"""Virtual SSD: a block device that real programs write to, and its counters."""
