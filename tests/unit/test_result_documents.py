"""Results as JSON documents: read again exactly as written, and nothing else is read."""

from __future__ import annotations

import base64
import copy
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import writeamp as wa
from places import TRACE
from writeamp.errors import WriteampError
from writeamp.results.documents import from_document, to_document
from writeamp.runs.capacity_error import Scale, ScalingError
from writeamp.runs.simulation_result import Result
from writeamp.runs.spread import Spread

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25, "writes": 3000}
MANAGERS = ("single", "sepgc", "hcwf:d=5", "sepbit", "wolf", "wolf-interval", "eti")
APART = ("plan", "device")


class Life(TypedDict):
    """A table with fields of its own types."""

    end: dict[str, npt.NDArray[np.uint64]]
    erases: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Inner:
    """A field that is a dataclass."""

    low: float
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Everything:
    """One field of each kind that results have."""

    whole: int
    number: float
    text: str
    flag: bool
    maybe: float | None
    pair: tuple[int, float]
    many: tuple[float, ...]
    inner: Inner | None
    inners: list[Inner]
    by_name: dict[str, npt.NDArray[np.uint64]]
    small: npt.NDArray[np.uint32]
    grid: npt.NDArray[np.float64]
    frame: pl.DataFrame
    life: Life


def assert_same(one: Any, other: Any) -> None:
    """Check that two values are the same to the last bit, and of the same types."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, pl.DataFrame):
        assert one.schema == other.schema
        assert_frame_equal(one, other, check_exact=True)
    elif is_dataclass(one):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, Mapping):
        assert list(one) == list(other)
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair)
    elif isinstance(one, float):
        assert one.hex() == other.hex()
    else:
        assert one == other


def through_json(value: Any, **how: Any) -> Any:
    return json.loads(json.dumps(to_document(value, **how), allow_nan=False))


@cache
def results() -> dict[str, Result]:
    """Return a small run of each sort."""
    load = "hot-cold:f=0.1,r=0.9"
    found: dict[str, Any] = {
        name: wa.simulate(workload=load, manager=name, **DRIVE) for name in MANAGERS
    }
    groups = "groups:sizes=0.1/0.9,freq=0.9/0.1,swap_at=1000"
    found["wolf of a load that changes"] = wa.simulate(workload=groups, manager="wolf", **DRIVE)
    found["a trace"] = wa.simulate(trace=TRACE, op=0.2, repeat=3)
    found["an aged drive"] = wa.simulate(precondition="random:2", **DRIVE)
    found["a drive aged until steady"] = wa.simulate(precondition="random", **DRIVE)
    found["too short to be judged"] = wa.simulate(**(DRIVE | {"writes": 5}))
    spread = Spread(2.5, 2.4, math.nan, 0.24, 0.26)
    found["with spread"] = replace(found["single"], spread=spread)
    scale = Scale(2**40, 2**30, 1024.0, ("a window is not scaled",))
    for name, error in (("of a capacity", 0.01), ("of a capacity, unknown", math.nan)):
        found[name] = replace(found["single"], scaling=ScalingError(scale, error))
    return found


@pytest.mark.parametrize("name", [*MANAGERS, "wolf of a load that changes", "a trace",
    "an aged drive", "a drive aged until steady", "too short to be judged", "with spread",
    "of a capacity", "of a capacity, unknown"])  # fmt: skip
def test_a_result_is_read_as_it_was_written(name: str) -> None:
    result = results()[name]
    found = from_document(
        Result, through_json(result, without=APART), plan=result.plan, device=result.device
    )
    assert_same(found, result)
    # Of a result that was read, too.
    assert to_document(found, without=APART) == to_document(result, without=APART)
    assert json.dumps(found.to_dict()) == json.dumps(result.to_dict())


def test_the_samples_of_results_have_everything_that_is_tested() -> None:
    found = results()
    assert found["wolf of a load that changes"].events.height > 0
    assert any(one.lives.height > 0 for one in found.values())
    assert found["a trace"].passes.height > 1
    assert found["an aged drive"].ageing is not None
    assert math.isnan(found["too short to be judged"].steady_state.ci_low)
    assert found["with spread"].spread is not None


numbers = st.floats(allow_nan=True, allow_infinity=True)
# What JSON and UTF-8 have: surrogates are no characters.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["nan", "inf", "zlib", "columns"]
)
counts = st.integers(0, 2**64 - 1)
wholes = st.lists(counts, max_size=4).map(lambda some: np.array(some, np.uint64))
inners = st.builds(Inner, numbers, st.lists(texts, max_size=3).map(tuple))
tables = st.dictionaries(texts, wholes, max_size=3)


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(0, 4))

    def values(of: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(of | st.none(), min_size=rows, max_size=rows))

    columns = {
        "z": pl.Series(values(counts), dtype=pl.UInt64),
        "a": pl.Series(values(numbers), dtype=pl.Float64),
        "text": pl.Series(values(texts), dtype=pl.String),
        "flag": pl.Series(values(st.booleans()), dtype=pl.Boolean),
        "i": pl.Series(values(st.integers(-(2**63), 2**63 - 1)), dtype=pl.Int64),
    }
    names = draw(st.permutations(list(columns)))[: draw(st.integers(0, 5))]
    return pl.DataFrame({name: columns[name] for name in names})


everything = st.builds(
    Everything,
    whole=st.integers(),
    number=numbers,
    text=texts,
    flag=st.booleans(),
    maybe=numbers | st.none(),
    pair=st.tuples(st.integers(), numbers),
    many=st.lists(numbers, max_size=3).map(tuple),
    inner=inners | st.none(),
    inners=st.lists(inners, max_size=2),
    by_name=tables,
    small=st.lists(st.integers(0, 2**32 - 1), max_size=3).map(lambda one: np.array(one, np.uint32)),
    grid=st.lists(numbers, max_size=6).map(lambda one: np.array([one, one]).T),
    frame=frames(),
    life=st.fixed_dictionaries(
        {"end": tables, "erases": st.lists(numbers, max_size=2).map(np.array)}
    ).map(lambda one: {"end": one["end"], "erases": one["erases"].astype(np.float64)}),
)


@given(everything)
@settings(max_examples=60)
def test_whatever_a_result_holds_is_read_as_it_was_written(value: Everything) -> None:
    assert_same(from_document(Everything, through_json(value)), value)


def test_zero_keeps_its_sign_and_an_array_its_missing_dimensions() -> None:
    assert math.copysign(1, from_document(float, through_json(-0.0))) == -1
    for array in (np.array(3.5), np.empty((0, 4)), np.asfortranarray(np.ones((2, 3)))):
        assert_same(from_document(npt.NDArray[np.float64], through_json(array)), array.copy("C"))
    big_endian = np.array([1, 2], ">u8")
    found = from_document(npt.NDArray[np.uint64], through_json(big_endian))
    assert found.tolist() == [1, 2]


def test_what_no_document_holds_is_not_written() -> None:
    with pytest.raises(TypeError, match="object"):
        to_document(np.array([None]))
    with pytest.raises(TypeError, match="List"):
        to_document(pl.DataFrame({"a": [[1]]}))


# A count of eight bytes.
ZERO = base64.b64encode(zlib.compress(bytes(8))).decode()

WRONG: list[tuple[Any, Any]] = [
    (float, "much"), (float, True), (float, None), (float, {}), (float, []), (float, 10**400),
    (int, 1.0), (int, "1"), (int, True), (int, {}),
    (str, 3), (str, {}), (str, None), (bool, 1), (bool, {}),
    (float | None, "x"), (float | None, {}), (tuple[int, float], [1]), (tuple[int, float], {}),
    (tuple[float, ...], "nan"), (tuple[float, ...], ["x"]), (list[int], {"0": 1}),
    (dict[str, int], []), (dict[str, int], {"a": "b"}),
    (Inner, None), (Inner, []), (Inner, {}), (Inner, {"low": 1.0}),
    (Inner, {"low": 1.0, "names": [], "more": 1}), (Inner, {"low": "x", "names": []}),
    (Inner | None, {}), (Life, {}), (Life, {"end": {}, "erases": []}),
    (npt.NDArray[np.uint64], {}), (npt.NDArray[np.uint64], []),
    (npt.NDArray[np.uint64], {"dtype": "<u8", "shape": [1], "zlib": "AAAA"}),
    (npt.NDArray[np.uint64], {"dtype": "<u8", "shape": [1], "zlib": "?"}),
    (npt.NDArray[np.uint64], {"dtype": "<u8", "shape": [1], "zlib": ZERO[:-4]}),
    (npt.NDArray[np.uint64], {"dtype": "<u8", "shape": [2], "zlib": ZERO}),
    (npt.NDArray[np.uint64], {"dtype": "<u8", "shape": [-1], "zlib": ZERO}),
    (npt.NDArray[np.uint64], {"dtype": "<u8", "shape": [2**70], "zlib": ""}),
    (npt.NDArray[np.uint64], {"dtype": "<f8", "shape": [1], "zlib": ZERO}),
    (npt.NDArray[np.uint64], {"dtype": "|O", "shape": [1], "zlib": ZERO}),
    (npt.NDArray[np.uint64], {"dtype": 8, "shape": 1, "zlib": None}),
    (npt.NDArray[np.uint64], {"dtype": "<u8", "shape": [0] * 99, "zlib": ""}),
    (pl.DataFrame, {}), (pl.DataFrame, {"columns": {}}), (pl.DataFrame, {"columns": [3]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "Object", "values": []}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "UInt64", "values": [-1]}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "UInt64", "values": [2**64]}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "UInt64", "values": [True]}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "Float64", "values": ["x"]}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "UInt64",
                                 "values": {"dtype": "<u8", "shape": [1, 1], "zlib": ZERO}}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "Float64",
                                 "values": {"dtype": "<u8", "shape": [1], "zlib": ZERO}}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "String",
                                 "values": {"dtype": "<u8", "shape": [1], "zlib": ZERO}}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "String", "values": ["\ud800"]}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "UInt64", "values": [1]},
                                {"name": "a", "type": "UInt64", "values": [1]}]}),
    (pl.DataFrame, {"columns": [{"name": "a", "type": "UInt64", "values": [1]},
                                {"name": "b", "type": "UInt64", "values": [1, 2]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "document"), WRONG)
def test_a_document_of_something_else_is_refused(kind: Any, document: Any) -> None:
    with pytest.raises(WriteampError, match=r"^the document is not a valid "):
        from_document(kind, document)


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Give every value in a document, as what holds it and where."""
    if isinstance(document, dict | list):
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for at, value in list(items):
            yield document, at
            yield from _places(value)


junk = st.sampled_from(
    [None, True, 0, -1, 2**70, 1.5, "", "nan", "x", "\ud800", "AAAA", [], [[]], {}, {"a": 1}]
)


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_a_mutated_document_is_a_result_or_refused_in_a_sentence(data: st.DataObject) -> None:
    result = results()[data.draw(st.sampled_from(["wolf-interval", "a trace", "an aged drive"]))]
    document = copy.deepcopy(_document(result))
    places = list(_places(document))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, at = places[data.draw(st.integers(0, len(places) - 1))]
        if data.draw(st.booleans()) or isinstance(holder, list):
            if isinstance(holder, dict) or at < len(holder):
                holder[at] = data.draw(junk)
        else:
            holder.pop(at, None)
    with suppress(WriteampError):
        found = from_document(Result, document, plan=result.plan, device=result.device)
        assert isinstance(found, Result)


def _document(result: Result) -> Any:
    return through_json(result, without=APART)
