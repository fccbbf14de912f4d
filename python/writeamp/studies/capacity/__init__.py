"""Stated capacities: smaller drives simulated in the place of the one that is meant."""
