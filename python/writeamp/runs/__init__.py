"""Runs of one experiment on a drive and its replicas, in host pages or to the end of life."""
