"""Kinds of models by name, with summaries; nothing here imports scikit-learn.

Other packages add kinds by entry points of `writeamp.learners`, each a `ModelKind`.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from writeamp.errors import WriteampError, how_to_install
from writeamp.extensions import PAPERS_MISSING, extensions, loaded

# Kinds in the order in which they are listed. Kinds that `_OWN` lacks belong to the separate
# package of the papers' methods.
NAMES = (
    *("linear-tree", "linear-forest", "gaussian-process", "quantile-tree", "workload-specific"),
    *("linear", "cart", "boosted", "lightgbm"),
)


_PACKAGES = {"sklearn": "scikit-learn", "skops": "skops"}


class ModelKind(NamedTuple):
    """A kind of model.

    Attributes:
        summary: one line of description.
        learner: its `Learner` as `module:attribute`; empty if it is in `models/learners.py`.
    """

    summary: str
    learner: str = ""


_OWN = {
    "linear-tree": ModelKind("a tree with linear models in its leaves"),
    "linear-forest": ModelKind("the mean of 30 linear trees, each fitted to a sample of the rows"),
    "gaussian-process": ModelKind("a sum of Gaussian processes, the most accurate with few points"),
    "quantile-tree": ModelKind("a tree with the median in its leaves"),
    "linear": ModelKind("one linear model (baseline)"),
}


@cache
def model_kinds() -> dict[str, ModelKind]:
    """Return all kinds by name: the kinds in `NAMES` first, then kinds of other packages."""
    added = loaded(extensions("writeamp.learners").values(), ModelKind)
    kinds = added | _OWN
    return {name: kinds[name] for name in dict.fromkeys((*NAMES, *kinds)) if name in kinds}


def check_installed(name: str) -> None:
    """Reject a kind of model if it is in the papers' package and this is not installed."""
    if name in NAMES and name not in model_kinds():
        raise WriteampError(f"the model {name} is missing: {PAPERS_MISSING}")


def missing_packages() -> str | None:
    """Return a sentence on the missing packages of models, or None if all are installed."""
    names = [name for module, name in _PACKAGES.items() if find_spec(module) is None]
    if not names:
        return None
    verb = "is" if len(names) == 1 else "are"
    return (
        f"black-box models need {' and '.join(names)}, which {verb} not installed; run: "
        f"{how_to_install('blackbox')}"
    )
