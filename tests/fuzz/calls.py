"""Calls of the library to try, with arguments of any kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import specs
import writeamp as wa
from hypothesis import strategies as st
from writeamp.errors import WriteampError

_ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 70),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([2**31, 2**64, 10**400, 10**5000, 1e-300, math.nan, [], [1], {}, b"x", 1j]),
)
_RATIO = st.one_of(st.floats(0, 1), _ANYTHING)
_SMALL = {"blocks": 64, "pages_per_block": 16, "op": 0.3, "writes": 3000}
_HOT = {"pages_per_block": 16, "op": 0.2, "d": 10, "hot_fraction": 0.2, "hot_write_fraction": 0.8}
# Absurd or small, as on the command line; nothing that is valid and takes hours.
_FEW = st.one_of(st.integers(-1, 5), st.sampled_from([None, True, 1.5, "2", 10**400]))

CALLS: dict[str, tuple[Callable[..., object], dict[str, Any], dict[str, Any]]] = {
    "simulate": (
        wa.simulate,
        _SMALL,
        {
            "op": _RATIO,
            "blocks": _ANYTHING,
            "pages_per_block": _ANYTHING,
            "utilization": _RATIO,
            "seed": _ANYTHING,
            "precision": _RATIO,
            "warmup": _ANYTHING,
            "manager": st.one_of(specs.specs("managers"), _ANYTHING),
            "victims": st.one_of(specs.specs("victims"), _ANYTHING),
            "workload": st.one_of(specs.specs("workloads"), _ANYTHING),
            "wear_leveling": st.one_of(specs.specs("wear_levelers"), _ANYTHING),
            "device": _ANYTHING,
            "trace": st.one_of(st.none(), st.text(max_size=5), st.sampled_from([1, [], b"x"])),
            "layout": _ANYTHING,
            "precondition": _ANYTHING,
            "batch_pages": _ANYTHING,
        },
    ),
    "predict": (
        wa.predict,
        {"op": 0.2},
        {
            "op": _RATIO,
            "pages_per_block": _ANYTHING,
            "d": _ANYTHING,
            "window": _ANYTHING,
            "reserve": _ANYTHING,
            "logical_blocks": _ANYTHING,
            "utilization": _RATIO,
            "hot_ratio": _RATIO,
            "models": st.one_of(st.none(), st.lists(st.text(max_size=5), max_size=2)),
        },
    ),
    "d_choices": (
        wa.models.d_choices,
        {"spare_factor": 0.2, "pages_per_block": 16},
        {"spare_factor": _RATIO, "pages_per_block": _ANYTHING, "d": _ANYTHING},
    ),
    "required_op": (
        wa.models.required_op,
        {"wa": 1.5},
        {
            "wa": st.one_of(st.floats(1), _ANYTHING),
            "model": st.sampled_from(["fifo", "markov", "x"]),
        },
    ),
    "meanfield.hot_cold": (
        wa.meanfield.hot_cold,
        _HOT,
        {key: _ANYTHING if key == "d" else _RATIO for key in _HOT},
    ),
    "meanfield.hot_cold_swap": (
        wa.meanfield.hot_cold_swap,
        {**_HOT, "d_swap": 5},
        {"d_swap": _ANYTHING, "op": _RATIO, "hot_fraction": _RATIO, "hot_write_fraction": _RATIO},
    ),
    "device": (
        wa.device,
        {"blocks": 64},
        dict.fromkeys(
            ("base", "blocks", "logical_pages", "pages_per_block", "op", "layout"), _ANYTHING
        ),
    ),
    "endurance": (
        wa.endurance,
        {"blocks": 48, "pages_per_block": 8, "op": 0.3, "w_max": 5, "replicas": 1},
        {
            "w_max": _FEW,
            "replicas": _FEW,
            "threads": _FEW,
            "spare_share": _RATIO,
            "seed": _ANYTHING,
        },
    ),
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """The name of a function, and its keyword arguments."""
    name = draw(st.sampled_from(sorted(CALLS)))
    _, usual, odd = CALLS[name]
    chosen = draw(st.lists(st.sampled_from(sorted(odd)), max_size=3, unique=True))
    return name, {**usual, **{key: draw(odd[key]) for key in chosen}}


def make(name: str, arguments: dict[str, Any]) -> None:
    """Make the call; a refusal is as good as a result."""
    try:
        CALLS[name][0](**arguments)
    except WriteampError as refusal:
        if "\n" in str(refusal):
            raise AssertionError("a refusal of several lines") from refusal
