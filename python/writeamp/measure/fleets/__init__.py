"""Fleets: write amplification of many drives by their counters, by model, and which stand out."""
