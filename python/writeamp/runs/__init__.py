"""Runs: one experiment on one drive and its replicas, in host pages or to the end of its life."""
