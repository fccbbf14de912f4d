"""A split fleet: its volumes are those of the trace, its facts what a plain count finds."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

import writeamp as wa
from in_process import document, run
from writeamp.volumes import facts, gathering, reading
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.selection import facts_table, info
from writeamp.volumes.settings import SelectionSettings

ALIBABA: Any = {"trace_format": "alibaba"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "fleet.csv"
    wa.volumes.make(path, volumes=12, requests=30_000, size="2MiB")
    return path


@pytest.fixture(scope="module")
def fleet(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    out = tmp_path_factory.mktemp("split") / "[fleet] *"
    with small_parts():
        return wa.volumes.split(trace, out, **ALIBABA).fleet


def small_parts() -> Any:
    """Return a context in which chunks, files and groups of rows are many."""
    return patch.multiple(gathering, _FILE_REQUESTS=5000, _GROUP_ROWS=1000)


def small_chunks() -> Any:
    return patch.object(reading, "CHUNK_REQUESTS", 4000)


def own_trace(trace: Path, name: str) -> pl.DataFrame:
    """Return the requests of one device of a trace, as the reader finds them."""
    whole = wa.traces.read(trace, "alibaba")
    mine = pl.col("device") == whole.devices.index(name)
    return whole.requests.filter(mine).with_columns(device=pl.lit(0, pl.UInt32))


def test_each_volume_has_its_requests_in_their_order(trace: Path, fleet: Fleet) -> None:
    assert fleet.volumes["file"].n_unique() > 3
    assert fleet.volumes["volume"].to_list() == wa.traces.read(trace, "alibaba").devices
    for name in fleet.volumes["volume"]:
        assert fleet.volume(name).requests.equals(own_trace(trace, name)), name


def plain_facts(requests: pl.DataFrame) -> dict[str, Any]:
    """Return facts of a volume, counted page by page."""
    writes: Counter[int] = Counter()
    last: dict[int, int] = {}
    intervals, followed, end_before = [], 0, None
    for at_ns, _, op, offset, length in requests.iter_rows():
        followed += offset == end_before
        end_before = offset + length
        if op == "write":
            for page in range(offset // 4096, (offset + length - 1) // 4096 + 1):
                writes[page] += 1
                if page in last:
                    intervals.append(at_ns - last[page])
                last[page] = at_ns
    hottest = sorted(writes.values(), reverse=True)
    total = sum(hottest)
    return {
        "requests": requests.height,
        "page_writes": total,
        "written_set_bytes": len(writes) * 4096,
        "drive_writes": total / len(writes),
        "hottest_1pct_share": sum(hottest[: -(-len(hottest) // 100)]) / total,
        "hottest_10pct_share": sum(hottest[: -(-len(hottest) // 10)]) / total,
        "sequential_share": followed / requests.height,
        "median_update_interval_s": statistics.median(intervals) / 1e9,
    }


@pytest.mark.parametrize("is_sparse", [False, True])
def test_facts_are_those_of_a_plain_count(trace: Path, tmp_path: Path, is_sparse: bool) -> None:
    few = {"_FEWEST_COUNTERS": 0, "_COUNTERS_PER_WRITE": 0} if is_sparse else {}
    with patch.multiple(facts, _FEWEST_SAMPLED=1 << 30, _MOST_SAMPLED=1 << 30, **few):
        table = wa.volumes.split(trace, tmp_path / "fleet", **ALIBABA).fleet.volumes
    for row in table.iter_rows(named=True):
        for name, value in plain_facts(own_trace(trace, row["volume"])).items():
            assert row[name] == pytest.approx(value), (row["volume"], name)


def test_a_sample_of_pages_finds_nearly_the_median_interval(trace: Path, tmp_path: Path) -> None:
    with patch.multiple(facts, _FEWEST_SAMPLED=1, _MOST_SAMPLED=3000):
        table = wa.volumes.split(trace, tmp_path / "fleet", **ALIBABA).fleet.volumes
    row = table.sort("requests").row(-1, named=True)
    exact = plain_facts(own_trace(trace, row["volume"]))["median_update_interval_s"]
    assert row["median_update_interval_s"] == pytest.approx(exact, rel=0.25)
    assert row["median_update_interval_s"] != exact


@pytest.mark.parametrize("at", [3000, 9000, 40_000])
def test_a_split_that_stopped_goes_on(trace: Path, fleet: Fleet, tmp_path: Path, at: int) -> None:
    """Stopped while it reads its first chunk, a later one, or while it gathers volumes."""

    class StopError(Exception):
        pass

    def stop(done: int, whole: int) -> None:
        if done >= at:
            raise StopError

    out = tmp_path / "fleet"
    with small_chunks(), small_parts(), patch("writeamp.traces.source.BLOCK_BYTES", 40_000):
        with pytest.raises(StopError):
            wa.volumes.split(trace, out, **ALIBABA, progress=stop)
        with pytest.raises(wa.WriteampError, match="no fleet, or its split was not finished"):
            Fleet.open(out)
        again = wa.volumes.split(trace, out, **ALIBABA)
    assert again.requests_now == {3000: 30_000, 40_000: 0}.get(at, again.requests_now)
    assert again.requests_now < 30_000 or at == 3000
    assert again.fleet.volumes.equals(fleet.volumes)
    for name in fleet.volumes["volume"]:
        assert again.fleet.volume(name).requests.equals(fleet.volume(name).requests)
    assert not (out / ".split").exists()


def test_compressed_files_go_on_too(trace: Path, fleet: Fleet, tmp_path: Path) -> None:
    packed = tmp_path / "fleet.csv.zst"
    wa.volumes.make(packed, volumes=12, requests=30_000, size="2MiB")

    def stop(done: int, whole: int) -> None:
        if done >= 9000:
            raise KeyError

    with small_chunks(), small_parts(), patch("writeamp.traces.source.BLOCK_BYTES", 40_000):
        with pytest.raises(KeyError):
            wa.volumes.split(packed, tmp_path / "fleet", **ALIBABA, progress=stop)
        again = wa.volumes.split(packed, tmp_path / "fleet", **ALIBABA)
    assert again.requests_now < 30_000
    assert again.fleet.volumes.equals(fleet.volumes)


def test_files_are_read_in_the_order_of_their_times(
    trace: Path, fleet: Fleet, tmp_path: Path
) -> None:
    lines = trace.read_bytes().splitlines(keepends=True)
    early, late = tmp_path / "b-early.csv", tmp_path / "a-late.csv"
    early.write_bytes(b"".join(lines[:10_000]))
    late.write_bytes(b"".join(lines[10_000:]))
    with small_parts():
        found = wa.volumes.split([late, early], tmp_path / "fleet", **ALIBABA)
    assert found.fleet.volumes.equals(fleet.volumes)
    assert found.to_dict()["inputs"] == [str(early), str(late)]


def test_a_broken_row_is_named_and_the_good_file_is_split_afterwards(
    trace: Path, tmp_path: Path
) -> None:
    broken, out = tmp_path / "broken.csv", tmp_path / "fleet"
    text = trace.read_text().splitlines()
    broken.write_text("\n".join([*text[:20_000], "7,W,many,4096,1577836800000000", *text[20_000:]]))
    with small_chunks(), patch("writeamp.traces.source.BLOCK_BYTES", 40_000):
        done = run("volumes split", f"{broken} --format alibaba --out {out}")
    assert done.status == 2
    assert f"{broken}:20001: offset is 'many'" in done.err
    assert not (out / "writeamp-fleet.json").exists()
    with pytest.raises(wa.WriteampError, match="unfinished split of other files"):
        wa.volumes.split(trace, out, **ALIBABA)
    broken.write_text("\n".join(text))
    assert wa.volumes.split(broken, out, **ALIBABA).requests_now == 30_000


def test_folders_with_something_else_are_refused(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(wa.WriteampError, match="holds other files"):
        wa.volumes.split(trace, tmp_path, **ALIBABA)
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]
    other = tmp_path / "other.csv"
    other.write_bytes(trace.read_bytes()[:50_000].rpartition(b"\n")[0])
    wa.volumes.split(other, tmp_path / "fleet", **ALIBABA)
    with pytest.raises(wa.WriteampError, match="holds another fleet"):
        wa.volumes.split(trace, tmp_path / "fleet", **ALIBABA)


def test_a_file_may_be_a_volume(trace: Path, tmp_path: Path) -> None:
    named = tmp_path / "w03.csv"
    named.write_bytes(trace.read_bytes())
    found = wa.volumes.split(named, tmp_path / "fleet", **ALIBABA, by_file=True).fleet
    assert found.volumes["volume"].item() == "w03"
    nameless = "columns:time=5:us,offset=3:bytes,length=4:bytes,op=2:R=read/W=write"
    found = wa.volumes.split(named, tmp_path / "columns", trace_format=nameless)
    assert found.fleet.volumes["volume"].item() == "w03"


def test_the_commands_say_what_they_found(trace: Path, fleet: Fleet, tmp_path: Path) -> None:
    out = tmp_path / "fleet"
    said = document("volumes split", f"{trace} --format alibaba --out {out}")
    assert (said["requests"], said["volumes"]) == (30_000, 12)
    assert said["bytes_in"] == trace.stat().st_size
    assert said["requests_per_s"] > 0
    assert document("volumes split", f"{trace} --format alibaba --out {out}")["requests"] == 30_000
    found = document("volumes info", str(out))
    assert found["volumes"] == found["volumes_in_all"] == 12
    assert found["bytes_written"] == fleet.volumes["bytes_written"].sum()
    assert found["distributions"]["drive_writes"]["0.5"] == fleet.volumes["drive_writes"].median()


def test_volumes_are_chosen(fleet: Fleet) -> None:
    most = float(fleet.volumes["drive_writes"].median())  # type: ignore[arg-type]
    half = SelectionSettings(where=f"drive_writes > {most}")
    assert info(fleet, **vars(half))["volumes"] == 6
    assert (facts_table(fleet, half)["drive_writes"] > most).all()
    assert info(fleet)["presets"]["sepbit"] == 0
    for where in ("no_column > 2", "drive_writes", "sum(drive_writes) > 2", "drive_writes >"):
        with pytest.raises(wa.WriteampError, match="not a valid condition on volumes"):
            info(fleet, where=where)
    with pytest.raises(wa.WriteampError, match="no volume of 12 meets"):
        info(fleet, preset="sepbit")
    with pytest.raises(wa.WriteampError, match="sample is 13"):
        info(fleet, sample=13)


def test_a_sample_keeps_the_distribution() -> None:
    from writeamp.volumes.selection import select  # noqa: PLC0415

    many = pl.DataFrame(
        {
            "volume": [str(number) for number in range(1000)],
            "page_writes": [int(1.01**number) for number in range(1000)],
            "drive_writes": [(7919 * number % 1000) / 10 for number in range(1000)],
        }
    )
    means = defaultdict(list)
    for seed in range(20):
        found = select(many, SelectionSettings(sample=100, sample_seed=seed))
        tens = found["page_writes"].search_sorted(found["page_writes"]).len()
        assert tens == 100
        # Ten of each tenth of the sizes.
        tenth = found["volume"].cast(pl.Int64) // 100
        assert tenth.value_counts()["count"].to_list() == [10] * 10
        means["drive"].append(found["drive_writes"].mean())
    assert statistics.mean(means["drive"]) == pytest.approx(49.95, abs=1)  # type: ignore[type-var]
