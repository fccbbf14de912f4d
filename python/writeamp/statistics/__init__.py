"""What a series of counters says: steady state, passes over a trace, means over replicas."""
