"""`import writeamp.reproduce`: the function `wa.reproduce`, if writeamp-papers is installed."""

import sys
from importlib.util import find_spec

import writeamp as wa
from writeamp.extensions import PAPERS_MISSING

if find_spec("writeamp_papers") is None:
    raise ModuleNotFoundError(PAPERS_MISSING, name="writeamp_papers")
# An import sets the package's attribute to this module, which could not be called.
sys.modules[__name__] = wa.reproduce  # type: ignore[assignment]
