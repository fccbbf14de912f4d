"""Twins from counters of real drives in phases of known loads."""
