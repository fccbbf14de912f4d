"""Content of each trace format, and the way in which they are told apart."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from places import TINY
from refusals import refusal
from trace_files import TEXT_SAMPLES, read_as, tick_ns
from writeamp import traces
from writeamp.errors import WriteampError

FIVE_COLUMNS = ["mqsim", "ssdsim", "disksim"]
MSR_ROW = "128166372003061629,hm,0,Write,4096,8192,2833\n"


def rows(trace: traces.Trace) -> list[tuple[object, ...]]:
    return trace.requests.rows()


@pytest.mark.parametrize(("name", "sample"), TEXT_SAMPLES.items())
def test_the_same_three_requests_read_the_same_from_every_text_format(
    name: str, sample: str
) -> None:
    trace = traces.read(TINY / sample, name)
    start_ns = trace.requests["timestamp_ns"][0]
    relative = trace.requests.with_columns(pl.col("timestamp_ns") - start_ns)
    tick = tick_ns(name)
    assert relative.rows() == [
        (0, 0, "write", 4096, 8192),
        (10_000 // tick * tick, 0, "read", 512, 1024),
        (1_000_000_000, 1, "write", 4096, 4096),
    ]
    assert dict(trace.requests.schema) == traces.SCHEMA
    assert trace.format == name
    assert trace.notes


def test_every_text_format_of_the_registry_has_a_sample_here() -> None:
    written = {one.name for one in traces.FORMATS.values() if one.is_written}
    assert set(TEXT_SAMPLES) == written - {"parquet"}


@pytest.mark.parametrize("name", [name for name in TEXT_SAMPLES if traces.FORMATS[name].certain])
def test_a_format_with_rows_of_its_own_is_detected(name: str) -> None:
    assert traces.detect(TINY / TEXT_SAMPLES[name]) == name


def test_our_parquet_is_detected(tmp_path: Path) -> None:
    traces.write(traces.read(TINY / "tiny.spc"), tmp_path / "tiny.parquet")
    assert traces.detect(tmp_path / "tiny.parquet") == "parquet"


@pytest.mark.parametrize("name", FIVE_COLUMNS)
def test_five_columns_are_refused_with_their_units_because_they_differ_only_in_those(
    name: str,
) -> None:
    sentence = refusal(traces.detect, TINY / TEXT_SAMPLES[name])
    assert all(words in sentence for words in ("--format", name, "time in ms"))
    # Its times have decimals, which leaves one candidate.
    assert name != "disksim" or "mqsim" not in sentence


def test_a_damaged_first_row_does_not_hide_the_format(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match=r"trace\.txt:1: .*Size"):
        read_as(tmp_path, MSR_ROW.replace("8192", "many") + MSR_ROW)


@pytest.mark.parametrize(
    "row",
    ["419,W,8792731648,16384", "1538323200,12910952,128,2,1063", "fio version", "hello world"],
)
def test_rows_of_no_known_format_are_refused_with_the_known_ones(tmp_path: Path, row: str) -> None:
    sentence = refusal(read_as, tmp_path, row + "\n")
    assert "not a row of a known format" in sentence
    assert all(name in sentence for name in traces.FORMATS)


def test_blank_lines_tabs_carriage_returns_and_a_byte_order_mark_change_nothing(
    tmp_path: Path,
) -> None:
    plain = traces.read(TINY / "tiny.msr.csv")
    messy = "\ufeff" + (TINY / "tiny.msr.csv").read_text().replace(",", "\t, ")
    messy = "\n" + messy.replace("\n", " \r\n\r\n")
    assert rows(read_as(tmp_path, messy, "msr")) == rows(plain)


def test_rows_keep_their_order_across_blocks(tmp_path: Path) -> None:
    count = 150_000  # two blocks and a bit
    text = "".join(f"{time} 0 {time * 8} 8 0\n" for time in range(count))
    assert len(text) > 2**21
    trace = read_as(tmp_path, text, "mqsim")
    assert trace.requests["offset"].to_list() == [time * 4096 for time in range(count)]


def test_a_last_line_without_a_newline_counts_and_is_noted(tmp_path: Path) -> None:
    trace = read_as(tmp_path, MSR_ROW + MSR_ROW.rstrip())
    assert trace.requests.height == 2
    assert any("does not end with a newline" in note for note in trace.notes)


def test_rows_out_of_time_order_are_kept_and_noted(tmp_path: Path) -> None:
    trace = read_as(tmp_path, "20 0 8 8 0\n10 0 0 8 0\n", "ssdsim")
    assert trace.requests["timestamp_ns"].to_list() == [20, 10]
    assert any(note.startswith("1 requests have an earlier time") for note in trace.notes)


class TestMsr:
    def test_file_times_become_nanoseconds_since_1970(self, tmp_path: Path) -> None:
        # 2007-02-22T17:00:00.3061629Z; as nanoseconds since 1601 it would not fit 64 bits.
        trace = read_as(tmp_path, MSR_ROW)
        assert trace.requests["timestamp_ns"].to_list() == [1_172_163_600_306_162_900]

    def test_ticks_that_start_near_zero_are_taken_as_relative(self, tmp_path: Path) -> None:
        trace = read_as(tmp_path, "25,hm,0,Read,0,512,1\n1025,hm,0,Write,0,512,1\n")
        assert trace.requests["timestamp_ns"].to_list() == [2_500, 102_500]
        assert any("start of the trace" in note for note in trace.notes)

    def test_a_header_on_line_1_is_skipped_and_line_numbers_hold(self, tmp_path: Path) -> None:
        header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
        trace = read_as(tmp_path, header + MSR_ROW)
        assert trace.requests.height == 1
        assert "line 1 is a header" in trace.notes
        with pytest.raises(WriteampError, match=r":3: "):
            read_as(tmp_path, header + MSR_ROW + "broken\n")

    def test_devices_are_host_and_disk_in_natural_order(self, tmp_path: Path) -> None:
        text = "".join(MSR_ROW.replace(",0,", f",{disk},") for disk in (10, 2, 10))
        trace = read_as(tmp_path, text)
        assert trace.devices == ["hm_2", "hm_10"]
        assert trace.requests["device"].to_list() == [1, 0, 1]


class TestSpc:
    def test_addresses_are_sectors_sizes_are_bytes_and_more_fields_optional(
        self, tmp_path: Path
    ) -> None:
        text = "0,20941264,8192,W,0.551706,Alpha/NT\n0,2,512,W,0.6\n0,3,512,w,0.7,a,b,c\n"
        assert rows(read_as(tmp_path, text)) == [
            (551_706_000, 0, "write", 20941264 * 512, 8192),
            (600_000_000, 0, "write", 1024, 512),
            (700_000_000, 0, "write", 1536, 512),
        ]

    def test_the_same_address_of_two_units_is_two_places(self, tmp_path: Path) -> None:
        trace = read_as(tmp_path, "0,8,4096,W,0\n1,8,4096,W,0\n")
        assert traces.info(trace)["unique_bytes_written"] == 8192

    def test_a_size_of_zero_is_kept_and_noted(self, tmp_path: Path) -> None:
        trace = read_as(tmp_path, "0,8,0,W,0\n0,8,512,W,0\n")
        assert trace.requests["length"].to_list() == [0, 512]
        assert any(note.startswith("1 requests of zero bytes") for note in trace.notes)

    def test_a_time_in_powers_of_ten_is_read_exactly(self, tmp_path: Path) -> None:
        trace = read_as(tmp_path, "0,8,512,W,1e-05\n0,8,512,W,1577808144.360767123\n")
        assert trace.requests["timestamp_ns"].to_list() == [10_000, 1_577_808_144_360_767_123]


class TestFiveColumns:
    @pytest.mark.parametrize("name", ["mqsim", "ssdsim"])
    def test_zero_is_a_write_and_one_a_read(self, tmp_path: Path, name: str) -> None:
        trace = read_as(tmp_path, "5 0 1 1 0\n6 0 1 1 1\n", name)
        assert trace.requests["op"].to_list() == ["write", "read"]
        assert trace.requests["timestamp_ns"].to_list() == [5, 6]

    def test_disksim_flags_are_hexadecimal_and_bit_0_is_a_read(self, tmp_path: Path) -> None:
        flags = ["0", "1", "8", "9", "a", "B", "10", "0x11"]
        text = "".join(f"1.5\t0\t0\t8\t{flag}\n" for flag in flags)
        trace = read_as(tmp_path, text, "disksim")
        reads = [op == "read" for op in trace.requests["op"]]
        assert reads == [bool(int(flag, 16) & 1) for flag in flags]

    def test_disksim_milliseconds_keep_every_digit_to_the_nanosecond(self, tmp_path: Path) -> None:
        trace = read_as(tmp_path, "1700000000000.123456 0 0 8 0\n", "disksim")
        assert trace.requests["timestamp_ns"].to_list() == [1_700_000_000_000_123_456]


class TestBlkparse:
    def test_one_action_is_taken_and_the_others_counted(self) -> None:
        trace = traces.read(TINY / "tiny.blkparse")
        assert trace.requests.height == 3
        assert trace.devices == ["8,0", "8,16"]
        note = (
            "requests are the events of action Q (queued by the host); events by action: "
            "3 Q, 1 C, 1 D, 1 G, 1 U; sectors of 512 bytes"
        )
        assert note in trace.notes

    @pytest.mark.parametrize("action", ["D", "C"])
    def test_another_action_is_taken_when_named(self, action: str) -> None:
        trace = traces.read(TINY / "tiny.blkparse", action=action)
        assert trace.requests.select("op", "offset", "length").rows() == [("write", 4096, 8192)]

    def test_without_queue_events_the_actions_present_are_named(self, tmp_path: Path) -> None:
        text = (TINY / "tiny.blkparse").read_text().replace(" Q ", " D ")
        sentence = refusal(read_as, tmp_path, text)
        for words in ("no event has the default action Q", "4 D, 1 C, 1 G, 1 U", "from D, C"):
            assert words in sentence

    def test_with_no_data_action_at_all_the_refusal_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(WriteampError, match=r"nor one of Q, D, C; there are 1 G"):
            read_as(tmp_path, "8,0 0 1 0.1 5 G W 8 + 8 [x]\n")

    @pytest.mark.parametrize(
        ("rwbs_and_rest", "request_"),
        [
            ("W 8 + 16 [x]", ("write", 4096, 8192)),
            ("RAM 8 + 16 [x]", ("read", 4096, 8192)),
            ("FWFSM 8 + 16 [x]", ("write", 4096, 8192)),
            ("DS 8 + 16 [x]", ("trim", 4096, 8192)),
            ("DE 8 + 16 [x]", ("trim", 4096, 8192)),
            ("FWS [kworker/0:1 H]", ("flush", 0, 0)),
            ("FN [jbd2]", ("flush", 0, 0)),
            ("FF 0 [0]", ("flush", 0, 0)),
            ("WS 8 + 16 (  123456) [x]", ("write", 4096, 8192)),
            ("W 8 + 0 [x]", ("write", 4096, 0)),
        ],
    )
    def test_rwbs_and_sectors_say_what_is_done(
        self, tmp_path: Path, rwbs_and_rest: str, request_: tuple[str, int, int]
    ) -> None:
        trace = read_as(tmp_path, f"8,0 0 1 0.5 5 Q {rwbs_and_rest}\n")
        assert rows(trace) == [(500_000_000, 0, *request_)]

    @pytest.mark.parametrize("rest", ["N 0 (00 ..) [kworker]", "R 36 (12 01) [udevd]", "WS [x]"])
    def test_commands_without_sectors_are_left_out_and_counted(
        self, tmp_path: Path, rest: str
    ) -> None:
        text = f"8,0 0 1 0.5 5 Q {rest}\n8,0 0 2 0.6 5 Q R 8 + 8 [x]\n"
        trace = read_as(tmp_path, text)
        assert trace.requests.height == 1
        assert "1 events without a range of sectors are left out" in trace.notes

    def test_remap_merge_message_and_unplug_rows_are_no_requests(self, tmp_path: Path) -> None:
        text = (
            "8,0 0 1 0.1 5 A W 2056 + 8 <- (8,1) 8\n"
            "8,0 0 2 0.2 5 Q W 2056 + 8 [x]\n"
            "8,0 0 3 0.3 5 M W 2064 + 8 [x]\n"
            "8,0 0 0 0.3 0 m N cfq5 slice expired\n"
            "8,0 0 4 0.4 5 UT N [x] 1\n"
        )
        assert read_as(tmp_path, text).requests["offset"].to_list() == [2056 * 512]


class TestParquet:
    def frame(self) -> pl.DataFrame:
        return traces.read(TINY / "tiny.spc").requests

    def test_a_file_of_ours_names_its_schema_units_and_devices(self, tmp_path: Path) -> None:
        path = tmp_path / "tiny.parquet"
        traces.write(traces.read(TINY / "tiny.msr.csv"), path)
        metadata = pl.read_parquet_metadata(path)
        assert metadata["writeamp.trace_schema"] == "1"
        assert '"offset": "bytes"' in metadata["writeamp.units"]
        assert metadata["writeamp.devices"] == '["hm_0", "hm_1"]'

    def test_more_columns_and_other_integer_widths_are_accepted(self, tmp_path: Path) -> None:
        path = tmp_path / "foreign.parquet"
        foreign = self.frame().with_columns(
            pl.col("offset", "length", "device").cast(pl.Int64),
            pl.col("op").cast(pl.String),
            latency_ns=pl.lit(5),
        )
        foreign.write_parquet(path)
        trace = traces.read(path)
        assert trace.requests.equals(self.frame())
        assert trace.devices == ["0", "1"]
        assert any("no schema version" in note for note in trace.notes)

    def test_numbers_of_devices_are_their_names_and_rows_out_of_order_are_noted(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "foreign.parquet"
        self.frame().with_columns(pl.col("device") * 4_000_000_000).reverse().write_parquet(path)
        trace = traces.read(path)
        assert trace.devices == ["0", "4000000000"]
        assert any("earlier time" in note for note in trace.notes)


def test_five_columns_with_commas_may_be_of_any_origin() -> None:
    with pytest.raises(WriteampError, match=r"name one with --format.*: tencent \(time in seconds"):
        traces.detect(TINY / "tiny.tencent.csv")


class TestIolog:
    def test_the_waits_of_version_2_are_its_clock_over_all_blocks(self, tmp_path: Path) -> None:
        rows = "f write 0 4096\nf wait 10 0\n" * 200_000
        trace = read_as(tmp_path, f"fio version 2 iolog\nf add\nf open\n{rows}f wait 5\nf sync\n")
        times = trace.requests["timestamp_ns"]
        assert times.to_list()[:3] == [0, 10_000, 20_000]
        assert times[-1] == 2_000_005_000
        assert trace.requests.row(-1)[2:] == ("flush", 0, 0)
        assert "2 rows add, open or close a file; they do not count as requests" in trace.notes

    def test_what_real_fio_writes_is_read(self, tmp_path: Path) -> None:
        fio = shutil.which("fio")
        if fio is None:
            pytest.skip("needs fio")
        log = tmp_path / "out.iolog"
        job = "--name=j --ioengine=psync --rw=randwrite --bs=4k --size=64k --io_size=64k --fsync=4"
        subprocess.run(
            [fio, *job.split(), f"--filename={tmp_path / 'f'}", f"--write_iolog={log}"],
            check=True,
            capture_output=True,
            cwd=tmp_path,
        )
        trace = traces.read(log)
        assert trace.format == "iolog"
        found = traces.info(trace)
        assert (found["writes"], found["bytes_written"]) == (16, 2**16)
        assert found["flushes"] >= 3
        assert found["devices"] == [str(tmp_path / "f")]
        assert found["duration_s"] < 60

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("fio version 1 iolog\n", ":1: the line is 'fio version 1 iolog', valid are"),
            ("0 f write 0 512\n", ":1: the line is '0 f write 0 512'"),
            ("fio version 3 iolog\n0 f\n", ":2: the row is '0 f', valid is timestamp file action"),
            ("fio version 3 iolog\nf write 0 512\n", ":2: the row is"),
            ("fio version 3 iolog\n0 f wait 5 0\n", ":2: action is 'wait', valid in version 3"),
            ("fio version 2 iolog\nf erase 0 512\n", ":2: action is 'erase'"),
            ("fio version 2 iolog\n\nf write 0\n", ":3: length is missing"),
            ("fio version 2 iolog\nf write\n", ":2: offset is missing"),
            ("fio version 2 iolog\nf trim 0 4294967296\n", ":2: length is '4294967296'"),
            ("fio version 2 iolog\nf read 9223372036854775807 1\n", "valid are 0 to"),
            (
                "fio version 3 iolog\n9223372036854775 f read 0 1\n9223372036854776 f read 0 1\n",
                ":3: the time",
            ),
            ("fio version 2 iolog\nf write 0 512\nf write 0 5x", "the file ends within it"),
        ],
    )
    def test_a_row_that_does_not_fit_names_its_line(
        self, tmp_path: Path, text: str, words: str
    ) -> None:
        assert words in refusal(read_as, tmp_path, text, "iolog")
