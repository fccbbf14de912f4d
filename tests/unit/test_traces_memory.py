"""Arrays, frames, streams and files of the same requests are one trace."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import writeamp as wa
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.runs.loads import load_of_trace
from writeamp.traces.streaming import Collection, GrowingRequests

DRIVE: dict[str, Any] = {"op": 0.2, "pages_per_block": 32, "spread": False}
PAGES = np.random.default_rng(1).integers(0, 2_000, 40_000)


class Stream:
    """An object with nothing but the Arrow stream interface."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def of_pages(pages: np.ndarray[Any, Any]) -> pl.DataFrame:
    return pl.DataFrame({"offset": pages * 4096, "length": 4096, "op": "write"})


SAME: dict[str, Callable[[], Any]] = {
    "u32": lambda: PAGES.astype(np.uint32),
    "i16": lambda: PAGES.astype(np.int16),
    "big-endian": lambda: PAGES.astype(">i8"),
    "whole floats": lambda: PAGES.astype(float),
    "every second": lambda: np.repeat(PAGES, 2)[::2],
    "runs": lambda: np.stack([PAGES, np.ones_like(PAGES)], axis=1),
    "list": PAGES.tolist,
    "generator of numbers": lambda: (int(page) for page in PAGES),
    "generator of arrays": lambda: iter(np.array_split(PAGES, 77)),
    "structured": lambda: np.array([(p, 1) for p in PAGES], [("page", "u4"), ("pages", "u2")]),
    "polars pages": lambda: pl.DataFrame({"page": PAGES}),
    "polars bytes": lambda: of_pages(PAGES),
    "polars series": lambda: pl.Series(PAGES),
    "polars lazy": lambda: of_pages(PAGES).lazy(),
    "pandas": lambda: pd.DataFrame(of_pages(PAGES).to_dict(as_series=False)),
    "pandas pages": lambda: pd.DataFrame({"page": PAGES}, index=PAGES),
    "pandas index": lambda: pd.Index(PAGES),
    "pandas decimals": lambda: pd.DataFrame({"page": [Decimal(int(page)) for page in PAGES]}),
    "polars decimals": lambda: pl.DataFrame({"page": pl.Series(PAGES).cast(pl.Decimal(20, 2))}),
    "numbers as objects": lambda: PAGES.astype(object),
    "pandas series": lambda: pd.Series(PAGES),
    "pandas categories": lambda: pd.DataFrame(
        {"page": PAGES, "op": pd.Categorical(["write"] * len(PAGES))}
    ),
    "arrow table": lambda: pa.table({"page": PAGES}),
    "arrow array": lambda: pa.array(PAGES),
    "arrow chunks": lambda: pa.chunked_array(np.array_split(PAGES, 3)),
    "arrow stream": lambda: Stream(pa.table({"page": PAGES})),
    "arrow batches": lambda: iter(pa.table({"page": PAGES}).to_batches(1000)),
    "arrow reader": lambda: pa.table({"page": PAGES}).to_reader(1000),
    "frames": lambda: [of_pages(PAGES[:9]), of_pages(PAGES[9:])],
    "trace": partial(traces.of, PAGES),
    "pages": partial(traces.to_pages, PAGES),
}


@pytest.fixture(scope="module")
def counters_of_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("traces") / "t.csv"
    path.write_text("".join(f"{page}\n" for page in PAGES))
    columns = "columns:offset=1:4KiB,length=4KiB,op=write"
    return counters(wa.simulate(trace=path, trace_format=columns, **DRIVE))


def counters(result: Any) -> dict[str, Any]:
    found = result.to_dict()
    return {key: found[key] for key in ("wa", "host_pages", "flash_pages", "causes", "erases")}


@pytest.mark.parametrize("name", SAME)
def test_the_same_writes_give_the_same_counters_whatever_holds_them(
    name: str, counters_of_file: dict[str, Any]
) -> None:
    assert counters(wa.simulate(trace=SAME[name](), **DRIVE)) == counters_of_file


def test_compare_and_endurance_take_data_too() -> None:
    small = {"pages_per_block": 32, "op": 0.2, "replicas": 2}
    found = wa.compare(trace=iter(PAGES.tolist()), managers="single,sepgc", **small)
    again = wa.compare(trace=PAGES, managers="single,sepgc", **small)
    assert found.to_frame()["wa"].equals(again.to_frame()["wa"])
    lives = [
        wa.endurance(trace=one, w_max=20, **small) for one in (PAGES, pl.DataFrame({"page": PAGES}))
    ]
    assert lives[0].wa == lives[1].wa


def test_columns_of_other_names_and_units_are_stated() -> None:
    frame = pl.DataFrame(
        {"ts": [1.5, 2.0], "disk": ["b", "a"], "lba": [8, 16], "n": [8, 8], "rw": [1, 0]}
    )
    columns = (
        "columns:time=ts:ms,device=disk,offset=lba:sectors,length=n:sectors,op=rw:0=read/1=write"
    )
    trace = traces.of(frame, columns)
    assert trace.devices == ["a", "b"]
    assert trace.requests.rows() == [
        (1_500_000, 1, "write", 4096, 4096),
        (2_000_000, 0, "read", 8192, 4096),
    ]
    assert trace.format == columns
    by_number = columns.replace("ts", "1").replace("disk", "2").replace("lba", "3")
    numbered = traces.of(frame, by_number.replace("=n:", "=4:").replace("rw", "5"))
    assert numbered.requests.equals(trace.requests)


@pytest.mark.parametrize(
    "disks",
    [[2, 10], [2.0, 10.0], ["2", "10"], [Decimal("2.0"), Decimal("10.0")], [np.uint8(2), 10]],
)
def test_devices_are_called_as_in_text_whatever_holds_their_numbers(disks: list[Any]) -> None:
    for frame in (
        pd.DataFrame({"page": [1, 2], "device": disks}),
        pl.DataFrame({"page": [1, 2], "device": disks}),
    ):
        assert traces.of(frame).devices == ["2", "10"]


def test_stated_columns_are_held_to_the_same_in_memory_as_in_text(tmp_path: Path) -> None:
    columns = "columns:time=time:ms,device=disk,offset=o:4k,length=4k,op=write"
    path = tmp_path / "t.csv"

    def outcomes(time: Any, disk: Any) -> list[Any]:
        path.write_text(f"time,disk,o\n1,x,1\n{time},{disk},2\n")
        found: list[Any] = []
        for data, format in (
            (path, columns),
            (pd.DataFrame({"time": [1, time], "disk": ["x", disk], "o": [1, 2]}), columns),
            (pl.DataFrame({"time": [1, time], "disk": ["x", disk], "o": [1, 2]}), columns),
        ):
            try:
                found.append(traces.of(data, format).requests.rows())
            except WriteampError:
                found.append("refused")
        return found

    assert outcomes(-1, "y") == outcomes(1, "") == outcomes(1, " ") == ["refused"] * 3
    read, *others = outcomes(5, "y")
    assert others == [read, read]
    with pytest.raises(WriteampError, match=r"row 1 .* has time -1, valid is a time in ms from 0"):
        traces.of(pl.DataFrame({"time": [-1], "disk": ["x"], "o": [1]}), columns)


def test_times_before_0_are_those_of_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame({"timestamp_ns": [-5, 3], "offset": 0, "length": 4096, "op": "write"})
    trace = traces.of(frame)
    traces.write(trace, tmp_path / "t.parquet")
    assert traces.read(tmp_path / "t.parquet").requests.equals(trace.requests)


@pytest.mark.parametrize(
    ("unit", "time", "nanoseconds"),
    [
        ("s", "1577808144.360767123", 1_577_808_144_360_767_123),
        ("ms", "0.5", 500_000),
        ("100ns", "1.25", 125),
        ("ns", "7.6", 8),
        ("filetime", "128166372003061629.1", 1_172_163_600_306_162_910),
    ],
)
def test_decimal_times_are_exact_to_the_nanosecond(unit: str, time: str, nanoseconds: int) -> None:
    frame = pl.DataFrame({"t": [Decimal(time)], "o": [1]})
    trace = traces.of(frame, f"columns:time=t:{unit},offset=o:4k,length=4k,op=write")
    assert trace.requests["timestamp_ns"].to_list() == [nanoseconds]


def test_columns_that_nobody_asked_for_are_ignored_with_a_note() -> None:
    batches = [
        pl.DataFrame({"page": [1, 2], "count": [9, 9]}),
        pl.DataFrame({"page": [3], "fua": [True]}),
    ]
    note = "ignored columns: 'count', 'fua'"
    assert note in traces.to_pages(iter(batches)).notes
    assert note in traces.of(iter(batches)).notes
    stated = "columns:offset=page:4k,length=4k,op=write"
    assert not any("ignored" in note for note in traces.of(batches[0], stated).notes)


def test_an_error_of_the_iterator_itself_is_its_own() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wa.simulate(trace=broken())


@pytest.mark.parametrize(
    "data",
    [
        [0] * 100,
        pl.DataFrame({"offset": [0, 8192] * 50, "length": 5000, "op": "write"}),
        pl.DataFrame({"offset": [100, 8292] * 50, "length": 3996, "op": "write"}),
    ],
)
def test_columns_of_one_value_are_replayed(data: Any) -> None:
    drive: dict[str, Any] = {"op": 0.5, "pages_per_block": 4, "logical_pages": 16}
    whole = wa.simulate(trace=traces.of(data), **drive)
    assert counters(wa.simulate(trace=data, **drive)) == counters(whole)


def test_a_device_of_a_request_takes_a_byte_and_is_freed() -> None:
    device = GrowingRequests().device
    device.append(np.array([0, 1, 255], np.uint32))
    assert device.dtype == np.uint8
    device.append(np.array([256], np.uint32))
    assert device.between(0, 4).tolist() == [0, 1, 255, 256]
    collection = Collection(
        4096, is_compact=True, device=None, logical_pages=None, with_reads=False
    )
    collection.add_all(traces.TraceData(pl.DataFrame({"page": [1, 2], "device": ["a", "b"]})))
    collection.number()
    assert collection.columns.device.is_usual


def test_more_devices_than_a_byte_tells_apart_stay_apart() -> None:
    frame = pl.DataFrame({"page": [7] * 700, "device": [at % 350 for at in range(700)]})
    pages = traces.to_pages(frame)
    assert pages.footprint_pages == 350
    assert np.array_equal(pages.start, np.arange(700) % 350)


def test_info_counts_what_is_in_memory() -> None:
    assert traces.info(PAGES)["writes"] == len(PAGES)
    assert traces.info(of_pages(PAGES)) == traces.info(traces.of(of_pages(PAGES)))


_REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(["read", "write", "trim", "flush"]),
        st.integers(0, 60),
        st.integers(0, 20),
        st.sampled_from(["d2", "d10"]),
    ),
    max_size=30,
)


@given(
    requests=_REQUESTS,
    page_bytes=st.sampled_from([512, 1024, 4096]),
    with_reads=st.booleans(),
    device=st.sampled_from([None, "d2"]),
    is_compact=st.booleans(),
    far=st.sampled_from([0, 2**45]),
)
def test_batches_come_to_the_pages_that_the_whole_trace_comes_to(
    *,
    requests: list[tuple[str, int, int, str]],
    page_bytes: int,
    with_reads: bool,
    device: str | None,
    is_compact: bool,
    far: int,
) -> None:
    requests = [*requests, ("write", 3, 5, "d2")]
    frame = pl.DataFrame(
        {
            "timestamp_ns": [len(requests) - at for at in range(len(requests))],
            "op": [op for op, *_ in requests],
            "offset": [far + offset * 300 for _, offset, _, _ in requests],
            "length": [length * 300 for _, _, length, _ in requests],
            "device": [disk for *_, disk in requests],
        }
    )
    asked: dict[str, Any] = {
        "device": device,
        "with_reads": with_reads,
        "mapping": "compact" if is_compact or far else "as-is",
    }

    def outcome(trace: Any) -> Any:
        try:
            return traces.to_pages(trace, page_bytes, **asked)
        except WriteampError as error:
            return str(error)

    batched = outcome(iter(frame.iter_slices(4)))
    whole = outcome(traces.of(frame))
    if isinstance(whole, str):
        assert batched == whole
        return
    for name in ("op", "start", "count"):
        assert np.array_equal(getattr(batched, name), getattr(whole, name))
    for name in ("head_bytes", "tail_bytes"):
        # What would be zeros may be left out.
        assert np.array_equal(
            np.zeros_like(whole.start)
            if getattr(batched, name) is None
            else getattr(batched, name),
            getattr(whole, name),
        )
    if with_reads:
        assert np.array_equal(batched.at_ns, whole.at_ns)
    for name in ("logical_pages", "footprint_pages", "host_pages", "partial_pages"):
        assert getattr(batched, name) == getattr(whole, name)
    assert [note for note in batched.notes if "devices" not in note] == whole.notes


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.array([1.5]), "row 1 of the trace has page 1.5, valid is a whole number from 0 to"),
        (np.array([3.0, np.nan]), "row 2 of the trace has page nan"),
        (np.array([3, -1]), "row 2 of the trace has page -1"),
        (np.array([2**32]), "row 1 of the trace has page 4294967296"),
        (np.array([True]), "row 1 of the trace has page True"),
        (np.array(["a"]), "row 1 of the trace has page 'a'"),
        (np.array(5), r"an array of shape \(\); valid are \(requests,\)"),
        (np.zeros((2, 3), int), r"an array of shape \(2, 3\)"),
        (np.array([[1, 2**32]]), "row 1 of the trace ends beyond page"),
        (np.ma.masked_array([1, 2], [0, 1]), "a masked array"),
        (np.array((1, 2), [("page", "u4"), ("pages", "u4")]), r"an array of shape \(\);"),
        (np.zeros((2, 2), [("page", "u4")]), r"an array of shape \(2, 2\);"),
        (np.array([], int), "the trace holds no request"),
        ([], "the trace holds no request"),
        ([1, 2, "x"], "item 3 of the trace is 'x'"),
        ([(1, 2)], r"item 1 of the trace is \(1, 2\)"),
        ([np.array([1]), of_pages(PAGES)], "row 2 of the trace begins a batch in bytes"),
        (5, "the trace is 5; a trace is the path of a file"),
        ({"page": [1]}, "a trace is the path of a file"),
        (b"t.csv", "a trace is the path of a file"),
        (pl.DataFrame({"x": [1]}), "no column offset, length, op, only 'x'"),
        (pl.DataFrame({"offset": [1], "length": [1]}), "no column op"),
        (pl.DataFrame({"page": [1], "offset": [1]}), "the columns page and offset"),
        (pl.DataFrame({"page": [1, None]}), "row 2 of the trace has no page"),
        (pl.DataFrame({"page": [1], "op": [0]}), "0 could mean a read or a write"),
        (pl.DataFrame({"page": [1], "op": ["W"]}), "has op 'W', valid is one of read, write"),
        (pd.DataFrame({"page": [1, None]}), "row 2 of the trace has page nan"),
        (pd.DataFrame({"page": [1, 2], "op": ["write", None]}), "row 2 of the trace has no op"),
        (
            pl.DataFrame({"offset": [1], "length": [2**32], "op": ["write"]}),
            "row 1 of the trace has length 4294967296",
        ),
        (pl.DataFrame({"page": [1], "op": ["read"]}), "no writes"),
        (pl.DataFrame({"page": [1], "length": [4096]}), "the columns page and length"),
        (pd.DataFrame([[1, 2]], columns=["page", "page"]), "2 columns .* have the name 'page'"),
        (pd.DataFrame([[1, 2, 3]], columns=["page", 1, "1"]), "2 columns .* have the name '1'"),
        (pa.table([pa.array([1])] * 2, ["page", "page"]), "page"),
        (pl.DataFrame({"page": [Decimal("7"), Decimal("1.5")]}), "row 2 .* has page .*1.5"),
        (pa.table({"page": [Decimal("7"), Decimal("1.5")]}), "row 2 .* has page .*1.5"),
        (pd.DataFrame({"page": [Decimal("7"), Decimal("1.5")]}), "row 2 .* has page .*1.5"),
        (pl.LazyFrame({"page": [1]}).select("nope"), "a polars.*LazyFrame, cannot be read .*nope"),
        (pl.LazyFrame({"page": [1]}).select(pl.col("page").str.head(1)), "cannot be read"),
        (pd.Index(["a"]), "row 1 of the trace has page 'a'"),
        (pl.DataFrame({"page": [1], "device": [[1]]}), "cannot be read .*valid|a trace is the"),
        (pl.DataFrame({"page": [1], "device": [None]}), "row 1 of the trace has no device"),
        (pl.DataFrame({"page": [1, 1], "device": ["a", ""]}), "row 2 of the trace has device ''"),
        (pl.DataFrame({"page": [1], "device": [np.nan]}), "row 1 of the trace has device nan"),
        (pd.DataFrame({"page": [1, 1], "device": [1, None]}), "row 2 of the trace has .*device"),
        (
            pl.DataFrame({"page": [1], "device": [1.5]}),
            "has device 1.5, valid is a name or a whole",
        ),
    ],
)
def test_data_that_are_no_trace_are_refused_in_a_sentence(data: Any, words: str) -> None:
    with pytest.raises(WriteampError, match=words) as error:
        wa.simulate(trace=data)
    assert "\n" not in str(error.value)


def test_the_row_that_is_not_valid_counts_over_all_batches() -> None:
    batches = [np.arange(100_000), np.arange(7), np.array([1, -2])]
    with pytest.raises(WriteampError, match="row 100009 of the trace has page -2"):
        wa.simulate(trace=iter(batches))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"trace_format": "msr"}, "trace_format 'msr' is for files"),
        ({"trace_format": "columns:offset=a:bytes"}, "length, op are missing"),
        ({"trace_format": "columns:offset=a:4k,length=4k,op=write"}, "unknown column 'a'"),
        ({"trace_format": "columns:offset=9:4k,length=4k,op=write"}, "offset is column 9"),
        ({"trace_format": "columns:offset=1:4k,length=4k,op=write,skip=1"}, "skip is for text"),
        ({"action": "Q"}, "action is for blkparse files"),
        ({"mapping": "as-is", "trace_device": "x"}, "unknown device 'x'"),
        ({"mapping": "as-is", "logical_pages": 1024, "op": 0.5}, "row|request 1 ends at page"),
    ],
)
def test_settings_that_do_not_fit_data_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        wa.simulate(trace=pl.DataFrame({"page": [5000]}), **settings)


def test_batches_that_came_once_serve_the_same_pages_again_and_no_others() -> None:
    experiment = wa.Experiment.of("simulate", trace=iter(PAGES.tolist()), **DRIVE)
    assert counters(wa.run(experiment)) == counters(wa.run(experiment))
    with pytest.raises(WriteampError, match="were read before"):
        wa.run(experiment.with_settings(page_bytes=8192))


def test_data_with_the_same_rows_are_the_same_experiment_however_they_are_cut() -> None:
    def experiment(trace: Any) -> wa.Experiment:
        return wa.Experiment.of("simulate", trace=trace, **DRIVE)

    frame = of_pages(PAGES)
    whole = experiment(frame)
    assert whole == experiment([frame[:70], frame[70:]])
    assert whole != experiment(of_pages(PAGES + 1))
    assert whole.hash != experiment(of_pages(PAGES + 1)).hash


def test_what_comes_only_once_equals_nothing_else() -> None:
    def experiment(trace: Any) -> wa.Experiment:
        return wa.Experiment.of("simulate", trace=trace, **DRIVE)

    once = experiment(iter([PAGES]))
    assert once == once.with_settings()
    assert once != experiment(iter([PAGES]))
    assert experiment([PAGES]) == experiment([PAGES])


def test_the_engine_reads_the_columns_of_a_stream_where_they_are() -> None:
    pages = traces.to_pages(iter(np.array_split(PAGES, 9)))
    # One value stands for all writes, and for all counts of one.
    assert pages.op.strides == pages.count.strides == (0,)
    assert type(pages.start.base).__name__ == "Owner"


def test_columns_that_the_engine_reads_can_never_be_written_to() -> None:
    batches = [np.array([[5, 3], [1, 300], [5, 1]])]
    pages = traces.to_pages(iter(batches))
    for column in (pages.start, pages.count, pages.start[1:], pages.start.view()):
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            column.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 7
        with pytest.raises(ValueError, match="own its data"):
            column.resize(9, refcheck=False)


def test_an_array_whose_owner_may_write_to_it_again_is_copied() -> None:
    pages = traces.to_pages(PAGES)
    start = np.array(pages.start)
    start.flags.writeable = False
    keeper = pages.start.base
    before = sys.getrefcount(start), sys.getrefcount(keeper)
    loads = [load_of_trace(trace, passes=1) for trace in (replace(pages, start=start), pages)]
    # The engine keeps nothing of what its owner may change, and does keep what nobody can.
    assert (sys.getrefcount(start), sys.getrefcount(keeper)) == (before[0], before[1] + 1)
    assert len(loads) == 2
