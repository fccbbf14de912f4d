"""The virtual SSD: a drive that real programs write to, and that tells what its flash did for it."""
