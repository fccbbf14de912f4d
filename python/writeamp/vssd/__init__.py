"""The virtual SSD: a block device that real programs write to, and what it tells of itself."""
