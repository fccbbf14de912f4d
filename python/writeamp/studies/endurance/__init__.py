"""Endurance: drives that are driven until they are worn out."""
