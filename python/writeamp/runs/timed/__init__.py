"""Runs in virtual time: latencies and bandwidth in addition to write amplification."""
