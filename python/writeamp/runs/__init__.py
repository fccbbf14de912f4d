"""Runs of one experiment on a drive and its replicas, of some length or until wear-out."""
