"""Hosts of real drives: fio writes a chain to one, and its counters are read."""
