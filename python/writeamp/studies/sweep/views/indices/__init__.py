"""Sensitivity indices of axes, one file for each kind of design."""
