"""Wear of a disk now: its writers, and their cost."""
