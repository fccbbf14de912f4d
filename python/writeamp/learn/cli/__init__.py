"""Verbs of learnt models: `blackbox`, `twin`."""
