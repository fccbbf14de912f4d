"""Statistics of counters: steady state, passes over a trace, means over replicas."""
