"""Paper 5: the four-level model of write amplification and its Ready/Busy signals."""
