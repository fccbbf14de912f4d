"""Runs of one experiment on a drive and its replicas, for a number of writes or to wear-out."""
