"""Runs in virtual time: latencies and bandwidth beside write amplification."""
