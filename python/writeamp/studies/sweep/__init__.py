"""Sweeps: many experiments from one file, which names the settings to vary and their values."""
