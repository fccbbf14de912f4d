"""Runs of one experiment on a drive and its replicas, for some writes or until wear-out."""
