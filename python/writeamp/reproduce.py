"""`import writeamp.reproduce`: the function `wa.reproduce`, where the papers are installed."""

import sys
from importlib.util import find_spec

import writeamp as wa
from writeamp.extensions import PAPERS_MISSING

if find_spec("writeamp_papers") is None:
    raise ModuleNotFoundError(PAPERS_MISSING, name="writeamp_papers")
# The import sets the attribute of the package to what is here: a module could not be called.
sys.modules[__name__] = wa.reproduce  # type: ignore[assignment]
