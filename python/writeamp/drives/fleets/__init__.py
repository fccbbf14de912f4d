"""Fleets: write amplification of many drives by model, and drives that stand out."""
