"""Verbs of what is learnt from measurements: `blackbox`, `twin`."""
