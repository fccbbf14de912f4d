"""Analytic models of write amplification under uniform random writes: one module a model.

A module ends with its registry entry, which `_registry.py` finds by the names in `words.py`.
`writeamp.models` is the face that users see.
"""
