"""Published traces, where they are at hand, read as a few obvious lines of Python read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from places import SHARED
from writeamp import traces

PUBLISHED = SHARED / "traces"
pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published traces are not beside this repository"
)

Row = tuple[str, bool, int, int, float]  # device, is a write, offset, length, seconds


def msr(fields: list[str]) -> Row:
    return (
        f"{fields[1]}_{fields[2]}",
        fields[3] == "Write",
        int(fields[4]),
        int(fields[5]),
        int(fields[0]) / 1e7,
    )


def spc(fields: list[str]) -> Row:
    return fields[0], fields[3] in "wW", int(fields[1]) * 512, int(fields[2]), float(fields[4])


def nanoseconds(fields: list[str]) -> Row:
    time, device, sector, sectors, kind = map(int, fields)
    return str(device), kind == 0, sector * 512, sectors * 512, time / 1e9


def milliseconds(fields: list[str]) -> Row:
    is_write = int(fields[4], 16) & 1 == 0
    return fields[1], is_write, int(fields[2]) * 512, int(fields[3]) * 512, float(fields[0]) / 1e3


def blkparse(fields: list[str]) -> Row:
    return fields[0], "W" in fields[6], int(fields[7]) * 512, int(fields[9]) * 512, float(fields[3])


def obvious_rows(path: Path, name: str, action: str | None) -> Iterator[Row]:
    parse = {"msr": msr, "spc": spc, "disksim": milliseconds, "blkparse": blkparse}
    for line in path.read_text().splitlines():
        fields = line.split("," if name in ("msr", "spc") else None)
        if name == "blkparse" and (len(fields) < 10 or fields[5] != action or fields[8] != "+"):
            continue
        yield parse.get(name, nanoseconds)(fields)


@pytest.mark.parametrize(
    ("file", "name", "action", "requests"),
    [
        ("msr_cambridge1_sample.csv", "msr", None, 1000),
        ("financial1_prefix10k.spc", "spc", None, 10_000),
        ("websearch1_prefix24783.spc", "spc", None, 24_783),
        ("mqsim_tpcc-small.trace", "mqsim", None, 6_999),
        ("ssdsim_example.ascii", "ssdsim", None, 10_000),
        ("disksim_ssd-iozone-aligned2-100K.trace", "disksim", None, 100_000),
        ("evelii_blkparse_sample.txt", "blkparse", "Q", 1_695),
        ("wiscsee_blkparse-output.txt", "blkparse", "D", 673),
    ],
)
def test_a_published_trace_has_the_figures_of_an_obvious_reading(
    file: str, name: str, action: str | None, requests: int
) -> None:
    trace = traces.read(PUBLISHED / file, name, action=action)
    obvious = list(obvious_rows(PUBLISHED / file, name, action))
    assert trace.requests.height == len(obvious) == requests
    found = trace.requests.select("device", "op", "offset", "length").rows()
    assert [(trace.devices[d], op == "write", o, n) for d, op, o, n in found] == [
        row[:4] for row in obvious
    ]
    times = [row[4] for row in obvious]
    assert traces.info(trace)["duration_s"] == pytest.approx(max(times) - min(times), abs=1e-4)


def test_ssdsims_example_is_the_financial_trace_cut_to_sectors() -> None:
    # The same requests published in two formats: seconds and bytes, nanoseconds and sectors.
    financial = traces.info(traces.read(PUBLISHED / "financial1_prefix10k.spc"))
    ssdsim = traces.info(traces.read(PUBLISHED / "ssdsim_example.ascii", "ssdsim"))
    for figure in ("writes", "reads", "bytes_written", "unique_bytes_written", "extent_bytes"):
        assert ssdsim[figure] == financial[figure]
    assert ssdsim["duration_s"] == pytest.approx(financial["duration_s"], abs=1e-6)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("msr_cambridge1_sample.csv", "msr"),
        ("financial1_prefix10k.spc", "spc"),
        ("evelii_blkparse_sample.txt", "blkparse"),
    ],
)
def test_a_published_trace_with_rows_of_its_own_is_detected(file: str, name: str) -> None:
    assert traces.detect(PUBLISHED / file) == name
