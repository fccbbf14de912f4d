"""Writing a trace: what comes back is what went in, or an error, and never half a file."""

from __future__ import annotations

import os
import tempfile
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_files import tick_ns
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.traces import rows
from writeamp.traces.source import TextBlock

WRITTEN = [one.name for one in traces.FORMATS.values() if one.is_written]
# What every format can carry: reads and writes of whole sectors at multiples of 100 ns.
_SECTORS = st.integers(0, (2**63 - 2**32) // 512)
common_requests = st.lists(
    st.tuples(
        st.integers(0, 2**52 // 100),
        st.integers(0, 3),
        st.sampled_from(["read", "write"]),
        st.one_of(st.integers(0, 1000), _SECTORS),
        st.integers(0, 2**23 - 1),
    ),
    min_size=1,
    max_size=20,
)


def trace_of(
    requests: list[tuple[int, int, str, int, int]], devices: list[str] | None = None
) -> traces.Trace:
    frame = pl.DataFrame(requests, schema=traces.SCHEMA, orient="row")
    used = frame["device"].unique().sort()
    names = devices or [f"sd{code}" for code in range(len(used))]
    frame = frame.with_columns(device=used.search_sorted(frame["device"]).cast(pl.UInt32))
    return traces.Trace(frame, "by-hand", "by-hand", names)


def write_then_read(trace: traces.Trace, format: str) -> traces.Trace:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trace"
        traces.write(trace, path, format)
        return traces.read(path, format)


@pytest.mark.parametrize("name", WRITTEN)
@given(requests=common_requests)
def test_what_every_format_carries_comes_back_unchanged(
    name: str, requests: list[tuple[int, int, str, int, int]]
) -> None:
    by_time = sorted(requests, key=lambda request: request[0])
    tick = max(100, tick_ns(name))
    trace = trace_of(
        [(t * 100 // tick * tick, d, op, s * 512, n * 512) for t, d, op, s, n in by_time]
    )
    assert write_then_read(trace, name).requests.equals(trace.requests)


@pytest.mark.parametrize("name", ["parquet", "blkparse", "iolog"])
def test_trims_and_flushes_come_back_from_the_formats_that_have_them(name: str) -> None:
    trace = trace_of(
        [(1000, 0, "trim", 512, 1024), (2000, 0, "flush", 0, 0), (3000, 1, "write", 0, 512)]
    )
    assert write_then_read(trace, name).requests.equals(trace.requests)


def test_parquet_keeps_odd_bytes_early_times_and_device_names() -> None:
    trace = trace_of([(-5, 0, "write", 13, 7), (2**63 - 1, 1, "read", 1, 0)], ["sda", "näme"])
    back = write_then_read(trace, "parquet")
    assert back.requests.equals(trace.requests)
    assert back.devices == trace.devices


@pytest.mark.parametrize(
    ("name", "devices"),
    [
        ("msr", ["hm_0", "src1_2"]),
        ("spc", ["3", "20"]),
        ("mqsim", ["3", "20"]),
        ("blkparse", ["8,0", "8,16"]),
    ],
)
def test_device_names_that_fit_a_format_come_back(name: str, devices: list[str]) -> None:
    trace = trace_of([(0, 0, "write", 0, 512), (100, 1, "write", 0, 512)], devices)
    assert write_then_read(trace, name).devices == devices


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "parquet"])
def test_device_names_that_do_not_fit_are_replaced_and_noted(name: str, tmp_path: Path) -> None:
    trace = trace_of([(0, 0, "write", 0, 512)], ["my disk"])
    notes = traces.write(trace, tmp_path / "trace", name)
    assert any("my disk becomes" in note for note in notes)


def test_parquet_is_sorted_by_time_with_ties_in_order_and_a_note(tmp_path: Path) -> None:
    count = 20_000  # long enough that an unstable sort would show
    trace = trace_of([(i % 2, 0, "write", i, 1) for i in range(count)])
    notes = traces.write(trace, tmp_path / "trace.parquet")
    offsets = traces.read(tmp_path / "trace.parquet").requests["offset"].to_list()
    assert offsets == [*range(0, count, 2), *range(1, count, 2)]
    assert notes == [
        "9999 requests had an earlier time than the request before them: all requests are written "
        "sorted by time"
    ]


def test_times_between_the_ticks_of_msr_are_cut_with_a_note(tmp_path: Path) -> None:
    notes = traces.write(trace_of([(199, 0, "read", 0, 1)], ["hm_0"]), tmp_path / "trace.msr")
    assert notes == ["times are cut to 100 ns, the tick of msr"]
    assert traces.read(tmp_path / "trace.msr").requests["timestamp_ns"].to_list() == [100]


READS_AND_WRITES = ["msr", "spc", "mqsim", "ssdsim", "disksim", "alibaba", "tencent"]


@pytest.mark.parametrize(
    ("name", "request_", "words"),
    [
        *(
            (name, (0, 0, op, 0, 0), f"request 2 is a {op}, but {name} has only read and write")
            for name in READS_AND_WRITES
            for op in ("trim", "flush")
        ),
        *(
            (
                name,
                (-1, 0, "write", 0, 512),
                f"request 2 is at -1 ns, but times in {name} cannot be negative",
            )
            for name in WRITTEN
            if name != "parquet"
        ),
        ("spc", (0, 0, "write", 100, 512), "request 2 is at offset 100, but spc counts"),
        ("mqsim", (0, 0, "write", 100, 512), "request 2 is at offset 100, but mqsim counts"),
        ("ssdsim", (0, 0, "write", 512, 100), "request 2 is at length 100, but ssdsim counts"),
        ("disksim", (0, 0, "write", 512, 100), "request 2 is at length 100, but disksim counts"),
        ("blkparse", (0, 0, "write", 512, 100), "request 2 is at length 100, but blkparse counts"),
    ],
)
def test_a_request_that_a_format_cannot_express_is_refused(
    tmp_path: Path, name: str, request_: tuple[int, int, str, int, int], words: str
) -> None:
    with pytest.raises(WriteampError, match=words):
        traces.write(trace_of([(0, 0, "read", 0, 512), request_]), tmp_path / "trace", name)


class TestTheFileAppearsWholeOrNotAtAll:
    trace = trace_of([(0, 0, "write", 0, 512), (1, 0, "trim", 0, 512)])

    @pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
    def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
    ) -> None:
        def interrupt(*args: object, **options: object) -> None:
            raise error

        path = tmp_path / "trace.parquet"
        path.write_text("old")
        monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupt)
        with pytest.raises(error):
            traces.write(self.trace, path)
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == ["trace.parquet"]

    def test_a_refused_conversion_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(WriteampError):
            traces.write(self.trace, tmp_path / "trace.msr")
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        "error", [OSError(28, "No space left on device"), pl.exceptions.ComputeError("full\ndisk")]
    )
    def test_a_full_disk_is_one_sentence(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        def fill(*args: object, **options: object) -> None:
            raise error

        monkeypatch.setattr(pl.DataFrame, "write_parquet", fill)
        with pytest.raises(WriteampError, match=r"cannot write trace .*: (No space|full)") as found:
            traces.write(self.trace, tmp_path / "trace.parquet")
        assert "\n" not in str(found.value)
        assert os.listdir(tmp_path) == []

    def test_a_file_is_replaced_through_a_link_that_stays_one(self, tmp_path: Path) -> None:
        (tmp_path / "real.parquet").write_text("old")
        (tmp_path / "link.parquet").symlink_to("real.parquet")
        traces.write(self.trace, tmp_path / "link.parquet")
        assert (tmp_path / "link.parquet").is_symlink()
        assert traces.read(tmp_path / "real.parquet").requests.height == 2

    def test_a_trace_is_not_written_onto_the_file_it_was_read_from(self, tmp_path: Path) -> None:
        path = tmp_path / "trace.parquet"
        traces.write(self.trace, path)
        before = path.read_bytes()
        with pytest.raises(WriteampError, match="it is the input"):
            traces.write(traces.read(path), path)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("none/trace.parquet", "No such file or directory"),
            ("file/trace.parquet", "Not a directory"),
            ("directory.parquet", "is a directory"),
            ("pipe.parquet", "not a regular file"),
            ("n" * 300 + ".parquet", "File name too long"),
            ("nul\0.parquet", "not a file name"),
            ("trace.csv", "end it in one of .msr, .spc"),
            ("trace", "--to"),
        ],
    )
    def test_a_place_that_cannot_hold_it_is_one_sentence(
        self, tmp_path: Path, name: str, words: str
    ) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "directory.parquet").mkdir()
        os.mkfifo(tmp_path / "pipe.parquet")
        before = sorted(os.listdir(tmp_path))
        with pytest.raises(WriteampError, match=words):
            traces.write(self.trace, tmp_path / name)
        assert sorted(os.listdir(tmp_path)) == before

    def test_an_unknown_format_names_the_nearest(self, tmp_path: Path) -> None:
        with pytest.raises(WriteampError, match="did you mean 'parquet'"):
            traces.write(self.trace, tmp_path / "x", "parket")


# The fast parser and the slow one that words the errors must agree on what is valid.
_NUMBER = st.one_of(
    st.integers(-2, 2**64 + 1).map(str),
    st.decimals(-1, 10**12, allow_nan=True).map(str),
    st.sampled_from(["", "+5", "007", "1e3", "1E-3", ".5", "5.", "0x1", "1_0", "inf", "१", "-0"]),
    st.text("0123456789+-.eE_x", max_size=6),
)
_LAYOUT = rows.RowLayout(
    ",", {"whole": rows.FieldKind.WHOLE, "at": rows.FieldKind.SECONDS, "word": rows.FieldKind.WORD}
)


@given(st.lists(st.lists(_NUMBER, min_size=2, max_size=4), min_size=1, max_size=3))
def test_the_fast_parser_accepts_nothing_that_the_exact_one_refuses(
    table: list[list[str]],
) -> None:
    text = "".join(",".join(fields) + "\n" for fields in table).encode()
    block = TextBlock(Path("table"), 1, text)
    fast = rows._parse_fast(text, _LAYOUT)
    if fast is None:
        return
    exact = rows._parse_line_by_line(block, _LAYOUT)
    assert fast.equals(exact)


def test_the_exact_parser_rounds_to_the_nanosecond_as_the_fast_one_does() -> None:
    block = TextBlock(Path("table"), 1, b"1,0.0000000025,x\n2,1.5e-9,x\n")
    expected = [Decimal("2E-9"), Decimal("2E-9")]
    assert rows.parse(block, _LAYOUT, (rows.time_check("at"),))["at"].to_list() == expected
    assert rows._parse_line_by_line(block, _LAYOUT)["at"].to_list() == expected
