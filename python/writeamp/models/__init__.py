"""Analytic models of write amplification under uniform random writes: NumPy in, NumPy out.

One file holds one model; `MODELS` is the registry that the command line, the documentation and
the tests read. To add a model, write its file and add one entry below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from writeamp.models._arguments import FloatOrArray
from writeamp.models.expected_value import expected_value
from writeamp.models.markov import markov
from writeamp.models.uniform_distribution import uniform_distribution
from writeamp.names import unknown

__all__ = ["MODELS", "Model", "expected_value", "find_model", "markov", "uniform_distribution"]


@dataclass(frozen=True)
class Model:
    """A registered model: what it is, what it takes for granted, and how to call it.

    `function` takes the arguments named in `parameters` by keyword, broadcasts them, and returns
    write amplification (flash pages programmed per host page written).
    """

    name: str
    summary: str
    assumes: str
    source: str
    parameters: tuple[str, ...]
    function: Callable[..., FloatOrArray]


MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            name="uniform-distribution",
            summary="valid pages per block spread evenly above the victim's: (1 + op) / (2 op)",
            assumes="uniform random writes, a full drive, greedy collection, and evenly spread "
            "valid counts, which real drives do not have; below 1 (impossible) for op > 1",
            source="Park et al. 2017, section 3.2, eq. 4 (after Agarwal and Marrow 2010)",
            parameters=("op",),
            function=uniform_distribution,
        ),
        Model(
            name="expected-value",
            summary="each page of the victim was overwritten independently; exact for FIFO",
            assumes="uniform random writes, a full drive, many blocks, collection in order of age",
            source="Park et al. 2017, section 3.3, eq. 5 (after Luojie and Kurkoski 2012)",
            parameters=("op",),
            function=expected_value,
        ),
        Model(
            name="markov",
            summary="greedy collection of blocks of a finite number of pages",
            assumes="uniform random writes, a full drive, many blocks, greedy collection; "
            "falls below 1 (impossible) towards 2N/(2N+1) once op exceeds about ln(2N) - 1",
            source="Park et al. 2017, section 3.4, eqs. 6-7 (after Desnoyers 2012)",
            parameters=("op", "pages_per_block"),
            function=markov,
        ),
    )
}


def find_model(name: str) -> Model:
    """Return the registered model called `name`; an unknown name is a `WriteampError`."""
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    return MODELS[name]
