"""Predictions of write amplification by analytic models, without a simulation."""
