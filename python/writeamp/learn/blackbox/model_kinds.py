"""Kinds of models by name, with summaries; nothing here imports scikit-learn.

Other packages add kinds by entry points of `writeamp.learners`, each of which is a `ModelKind`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.extensions import PAPERS_MISSING, extensions, loaded

# In the order in which they are listed; those that are not `_OWN` are in the package of the papers.
NAMES = (
    *("linear-tree", "linear-forest", "gaussian-process", "quantile-tree", "workload-specific"),
    *("linear", "cart", "boosted", "lightgbm"),
)


class ModelKind(NamedTuple):
    """A kind of model.

    Attributes:
        summary: what it is.
        learner: its `Learner` as `module:attribute`; empty if `models/learners.py` has it.
    """

    summary: str
    learner: str = ""


_OWN = {
    "linear-tree": ModelKind("a tree with linear models in its leaves"),
    "linear-forest": ModelKind("the mean of 30 such trees, each of a part of the rows"),
    "gaussian-process": ModelKind(
        "a sum of Gaussian processes, the most accurate while points are few"
    ),
    "quantile-tree": ModelKind("the tree with the median in its leaves"),
    "linear": ModelKind("one linear model (baseline)"),
}


@cache
def model_kinds() -> dict[str, ModelKind]:
    """Return all kinds by name: those of `NAMES` first, then those of other packages."""
    added = loaded(extensions("writeamp.learners").values(), ModelKind)
    found = added | _OWN
    return {name: found[name] for name in dict.fromkeys((*NAMES, *found)) if name in found}


def check_installed(name: str) -> None:
    """Refuse a kind of model that is in the package of the papers if that is not installed."""
    if name in NAMES and name not in model_kinds():
        raise WriteampError(f"the model {name} is missing: {PAPERS_MISSING}")
