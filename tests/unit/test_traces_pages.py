"""Byte ranges to pages, held against a slow and obvious reading of the rules."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import TRACE as EXAMPLE_TRACE
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.text import Detail

Request = tuple[int, str, int, int]  # device, op, offset, length

PAGE = 4096
requests_strategy = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(traces.OPERATIONS),
        st.integers(0, 12 * PAGE),
        st.one_of(st.just(0), st.integers(0, 5 * PAGE), st.just(2 * PAGE)),
    ),
    min_size=1,
    max_size=40,
)


def trace_of(requests: list[Request], devices: int = 3) -> traces.Trace:
    columns = list(zip(*requests, strict=True))
    frame = pl.DataFrame(
        {
            "timestamp_ns": range(len(requests)),
            **dict(zip(["device", "op", "offset", "length"], columns, strict=True)),
        },
        schema=traces.SCHEMA,
    )
    return traces.Trace(frame, "by-hand", "by-hand", [f"sd{i}" for i in range(devices)])


OPS = {"write": 0, "trim": 1, "read": 2, "flush": 3}
Step = tuple[int, int, int, int, int, int]  # op, start, count, at_ns, head_bytes, tail_bytes


def steps(pages: traces.PageTrace) -> list[Step]:
    columns = (pages.op, pages.start, pages.count, pages.at_ns, pages.head_bytes, pages.tail_bytes)
    return list(zip(*(column.tolist() for column in columns if column is not None), strict=True))


def changes(pages: traces.PageTrace) -> list[tuple[int, int, int]]:
    """The writes and trims, without times and partial pages."""
    return [step[:3] for step in steps(pages) if step[0] in (OPS["write"], OPS["trim"])]


def slow_pages(request: Request, page_bytes: int) -> tuple[list[tuple[int, int]], int]:
    """The pages that a request touches, one by one, and how many it covers in part."""
    device, op, offset, length = request
    touched, partial = [], 0
    for page in range((offset + length) // page_bytes + 1):
        first, beyond = page * page_bytes, (page + 1) * page_bytes
        covered = min(offset + length, beyond) - max(offset, first)
        whole = covered == page_bytes
        if op in ("write", "read") and covered > 0:
            touched.append((device, page))
            partial += not whole
        if op == "trim" and whole:
            touched.append((device, page))
    return touched, partial


def slow_steps(
    requests: list[Request], page_bytes: int, number_of: dict[tuple[int, int], int]
) -> list[Step]:
    """List the page steps of requests, where pages without a number are none of the drive's."""
    found = []
    for at_ns, request in enumerate(requests):
        _, op, offset, length = request
        if op == "flush":
            found.append((OPS[op], 0, 0, at_ns, 0, 0))
            continue
        pages, _ = slow_pages(request, page_bytes)
        numbers = [number_of[page] for page in pages if page in number_of]
        if not numbers:
            continue
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        head = tail = 0
        if op != "trim" and len(numbers) == len(pages):
            head, tail = offset % page_bytes, -(offset + length) % page_bytes
        found.append((OPS[op], numbers[0], len(numbers), at_ns, head, tail))
    return found


def since_first(found: list[Step]) -> list[Step]:
    """The steps with times that begin at the first."""
    first = min((step[3] for step in found), default=0)
    return [(*step[:3], step[3] - first, *step[4:]) for step in found]


@given(requests_strategy, st.sampled_from([512, 4096, 3 * 512]))
def test_compact_mapping_is_the_rank_among_the_written_pages(
    requests: list[Request], page_bytes: int
) -> None:
    by_request = [(r[1], *slow_pages(r, page_bytes)) for r in requests]
    written = sorted({page for op, pages, _ in by_request if op == "write" for page in pages})
    if not written:
        with pytest.raises(WriteampError, match="it has no writes"):
            traces.to_pages(trace_of(requests), page_bytes)
        return
    number_of = {page: number for number, page in enumerate(written)}
    expected = slow_steps(requests, page_bytes, number_of)
    found = traces.to_pages(trace_of(requests), page_bytes)
    assert steps(found) == since_first(expected)
    assert found.logical_pages == found.footprint_pages == len(written)
    assert found.host_pages == sum(step[2] for step in expected if step[0] == OPS["write"])
    assert found.partial_pages == sum(partial for op, _, partial in by_request if op == "write")


@given(requests_strategy, st.sampled_from([512, 4096]))
def test_as_is_mapping_keeps_the_addresses_of_one_device(
    requests: list[Request], page_bytes: int
) -> None:
    # The requests of other devices keep their times, by which the chosen ones have theirs.
    chosen = [r if r[0] == 1 else (1, "read", 0, 0) for r in requests]
    by_request = [(r[1], slow_pages(r, page_bytes)[0]) for r in chosen]
    if not any(op == "write" and pages for op, pages in by_request):
        return
    changed = [page for op, pages in by_request if op in ("write", "trim") for _, page in pages]
    end = max(changed) + 1
    expected = slow_steps(chosen, page_bytes, {(1, page): page for page in range(end)})
    found = traces.to_pages(trace_of(requests), page_bytes, mapping="as-is", device="sd1")
    assert steps(found) == since_first(expected)
    assert found.logical_pages == end
    assert found.footprint_pages == len(
        {page for op, pages in by_request if op == "write" for page in pages}
    )


@given(requests_strategy)
def test_info_counts_every_byte_once_per_device(requests: list[Request]) -> None:
    found = traces.info(trace_of(requests))
    by_op = {op: [r for r in requests if r[1] == op] for op in traces.OPERATIONS}

    def distinct(*ops: str) -> int:
        return len({(d, b) for op in ops for d, _, o, n in by_op[op] for b in range(o, o + n)})

    for verb, op in {"written": "write", "read": "read", "trimmed": "trim"}.items():
        assert found[f"bytes_{verb}"] == sum(length for _, _, _, length in by_op[op])
    assert found["unique_bytes_written"] == distinct("write")
    assert found["footprint_bytes"] == distinct("write", "read")
    assert found["extent_bytes"] == sum(
        max((o + n for d, _, o, n in requests if d == device), default=0) for device in range(3)
    )
    assert [found[f"{op}s" if op != "flush" else "flushes"] for op in traces.OPERATIONS] == [
        len(by_op[op]) for op in traces.OPERATIONS
    ]
    assert found["bytes_written"] == sum(length for *_, length in by_op["write"])


def slow_share(counts: Counter[tuple[int, int]], share: float) -> float | None:
    """The share of the writes to so much of the pages, the most written, counted one by one."""
    if not counts:
        return None
    hottest = sorted(counts.values(), reverse=True)[: math.ceil(share * len(counts))]
    return sum(hottest) / sum(counts.values())


@given(requests_strategy, st.sampled_from([1, 3, 1 << 16]))
def test_info_counts_the_writes_of_each_page(requests: list[Request], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("writeamp.traces.intervals._EVENTS", at_once)
        found = traces.info(trace_of(requests))
    counts = Counter(
        page for one in requests if one[1] == "write" for page in slow_pages(one, PAGE)[0]
    )
    assert found["page_bytes"] == PAGE
    assert (found["pages_written"], found["page_writes"]) == (len(counts), counts.total())
    assert found["writes_per_page"] == (counts.total() / len(counts) if counts else None)
    assert found["hottest_1pct_share"] == slow_share(counts, 0.01)
    assert found["hottest_10pct_share"] == slow_share(counts, 0.1)


def test_the_shares_of_the_hottest_pages_are_exact_of_a_skewed_trace_of_many_pages() -> None:
    drawn = np.random.default_rng(1).zipf(1.3, 200_000) % 5_000
    found = traces.info(drawn)
    counts = Counter((0, int(page)) for page in drawn)
    assert found["hottest_1pct_share"] == slow_share(counts, 0.01)
    assert found["hottest_10pct_share"] == slow_share(counts, 0.1)
    assert found["hottest_1pct_share"] > 0.5


def test_the_drive_writes_of_a_trace_are_those_of_the_drive_that_it_just_fills() -> None:
    found = traces.info(EXAMPLE_TRACE)
    assert found["drive_writes_of"] == "unique_bytes_written"
    assert found["drive_writes"] == found["bytes_written"] / found["unique_bytes_written"]
    pages = traces.to_pages(traces.read(EXAMPLE_TRACE), PAGE)
    assert found["writes_per_page"] == pages.host_pages / pages.footprint_pages


def test_requests_of_terabytes_are_counted_without_their_pages() -> None:
    long = 2**32 - 1
    found = traces.info(trace_of([(0, "write", at * long, long) for at in range(1000)] * 2))
    assert found["pages_written"] == -(-1000 * long // PAGE)
    assert found["writes_per_page"] == pytest.approx(2, rel=1e-3)


def test_info_gives_no_mean_over_no_request() -> None:
    found = traces.info(trace_of([(0, "read", 0, 512)]))
    assert found["mean_write_bytes"] is None
    heat = ("drive_writes", "writes_per_page", "hottest_1pct_share", "hottest_10pct_share")
    assert [found[name] for name in heat] == [None] * 4
    assert found["mean_read_bytes"] == 512
    assert found["write_fraction"] == 0
    assert found["duration_s"] == 0


def test_a_page_cut_at_both_ends_is_one_partial_page() -> None:
    found = traces.to_pages(trace_of([(0, "write", 512, 1024), (0, "write", 512, PAGE)]), PAGE)
    assert changes(found) == [(0, 0, 1), (0, 0, 2)]
    assert found.partial_pages == 3


def test_a_trim_frees_only_whole_pages_and_says_how_many_freed_none() -> None:
    trace = trace_of([(0, "write", 0, 4 * PAGE), (0, "trim", 1, 3 * PAGE), (0, "trim", 1, PAGE)])
    found = traces.to_pages(trace, PAGE)
    assert changes(found) == [(0, 0, 4), (1, 1, 2)]
    assert found.notes == ["1 trims that cover no whole page are left out"]


def test_a_trim_across_a_gap_frees_the_written_pages_on_both_sides() -> None:
    writes = [(0, "write", 0, PAGE), (0, "write", 8 * PAGE, 2 * PAGE)]
    trims = [(0, "trim", 0, 9 * PAGE), (0, "trim", 2 * PAGE, PAGE)]
    found = traces.to_pages(trace_of(writes + trims), PAGE)
    assert changes(found) == [(0, 0, 1), (0, 1, 2), (1, 0, 2)]
    assert found.notes == ["1 trims of pages that are never written are left out"]
    assert isinstance(found.notes[0], Detail)


def test_the_arrays_have_the_types_that_the_engine_takes() -> None:
    found = traces.to_pages(trace_of([(0, "write", 0, PAGE)]))
    types = np.uint8, np.uint32, np.uint32
    assert (found.op.dtype, found.start.dtype, found.count.dtype) == types


def test_the_columns_of_a_trace_are_not_writeable_and_constant_ones_take_no_memory() -> None:
    single = traces.to_pages(trace_of([(0, "write", page * PAGE, PAGE) for page in range(4)]))
    varied = [(0, "write", 512, PAGE), (0, "read", 0, 2 * PAGE), (0, "trim", 0, PAGE)]
    mixed = traces.to_pages(trace_of(varied))
    for pages, constant in ((single, True), (mixed, False)):
        for column in (pages.op, pages.count, pages.head_bytes):
            assert column is not None
            assert (column.strides == (0,)) == constant
        for column in (pages.start, pages.at_ns, pages.op, pages.count):
            assert column is not None
            assert not column.flags.writeable


def test_addresses_near_the_end_of_the_largest_device_are_exact() -> None:
    offset = 2**63 - 2**32 - PAGE
    trace = trace_of([(0, "write", offset, PAGE), (1, "write", 0, PAGE), (1, "write", offset, 1)])
    assert traces.info(trace)["unique_bytes_written"] == 2 * PAGE + 1
    assert changes(traces.to_pages(trace)) == [(0, 0, 1), (0, 1, 1), (0, 2, 1)]


def test_devices_beyond_64_bits_together_are_refused() -> None:
    trace = trace_of([(device, "write", 2**62, 512) for device in range(4)], devices=4)
    with pytest.raises(WriteampError, match=r"by-hand: the devices together reach to \d+"):
        traces.info(trace)


def test_a_request_beyond_the_drive_names_itself_its_end_and_the_size() -> None:
    trace = trace_of([(0, "read", 0, 1), (0, "write", 0, PAGE), (0, "write", PAGE, PAGE + 1)], 1)
    words = "request 3 ends at byte 8193, but the drive has 2 pages of 4096 bytes"
    with pytest.raises(WriteampError, match=words):
        traces.to_pages(trace, mapping="as-is", logical_pages=2)
    assert traces.to_pages(trace, mapping="as-is", logical_pages=3).logical_pages == 3


def test_a_footprint_larger_than_the_drive_names_both() -> None:
    trace = trace_of([(0, "write", 0, 3 * PAGE)])
    with pytest.raises(WriteampError, match=r"writes 3 distinct pages.*the drive has 2 pages"):
        traces.to_pages(trace, logical_pages=2)
    assert traces.to_pages(trace, logical_pages=10).logical_pages == 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mapping": "as-is"}, "from sd0, sd1"),
        ({"device": "sdx"}, r"unknown device 'sdx'.*sd0"),
        ({"mapping": "as_is"}, r"unknown mapping 'as_is' \(did you mean 'as-is'"),
        *(
            ({"page_bytes": page_bytes}, r"page_bytes is .*; valid are multiples of 512")
            for page_bytes in (0, -4096, 100, 4097, 2**25)
        ),
        *(({"logical_pages": pages}, "logical_pages is") for pages in (0, -1, 2**32 + 1)),
        (
            {"page_bytes": 512, "mapping": "as-is", "device": "sd1"},
            "a drive has at most 4294967296 pages",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], words: str) -> None:
    trace = trace_of([(0, "write", 0, 1), (1, "write", 2**33 * 512, 512)], devices=2)
    with pytest.raises(WriteampError, match=words):
        traces.to_pages(trace, **settings)
