"""The four-level model of write amplification and its Ready/Busy signals (paper 5)."""
