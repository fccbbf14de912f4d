"""Sweeps: many experiments from one file, which states the settings that vary."""
