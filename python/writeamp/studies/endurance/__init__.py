"""Endurance: drives that are run until they are worn out."""
