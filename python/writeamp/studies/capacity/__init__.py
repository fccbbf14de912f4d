"""Requested capacities: scaled-down drives, simulated in place of the requested drive."""
