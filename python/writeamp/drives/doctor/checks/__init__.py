"""Checks of the doctor, one per module."""
