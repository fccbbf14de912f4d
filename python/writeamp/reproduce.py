"""`import writeamp.reproduce`: the package `writeamp_papers`, where it is installed."""

import sys
from importlib import import_module

from writeamp.extensions import PAPERS_MISSING

try:
    sys.modules[__name__] = import_module("writeamp_papers")
except ModuleNotFoundError as error:
    if error.name != "writeamp_papers":
        raise
    raise ModuleNotFoundError(PAPERS_MISSING, name=error.name) from None
