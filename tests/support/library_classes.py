"""Classes of the library, found by a walk over its modules."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import writeamp as wa


def library_classes() -> Iterator[type]:
    """Give every class that a module of writeamp defines."""
    for found in pkgutil.walk_packages(wa.__path__, "writeamp."):
        if found.name in ("writeamp._engine", "writeamp._nbdkit"):
            continue
        for _, one in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
            if one.__module__ == found.name:
                yield one
