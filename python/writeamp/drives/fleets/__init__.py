"""Fleets: write amplification of many drives by model, and outliers."""
