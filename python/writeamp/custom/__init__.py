"""Placements and victim policies of users, written in Python: their classes and their files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
