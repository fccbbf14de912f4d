"""Differences between two results of one verb: in what was set, and in what was found."""
