"""Measurement targets: simulated devices in virtual time, and real ones through fio."""
