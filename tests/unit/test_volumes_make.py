"""Made fleets are what their parameters say, and the same for the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import writeamp as wa
from fleets import split_fleet
from in_process import document
from writeamp.volumes.settings import FleetSettings


def fleet(folder: Path, **settings: object) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the true parameters of a made fleet, and what a split finds."""
    volumes = split_fleet(folder, **settings).volumes
    return pl.read_parquet(folder / "fleet.truth.parquet"), volumes


def test_the_seed_decides_every_byte(tmp_path: Path) -> None:
    of_seed = {}
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        wa.volumes.make(tmp_path / name, volumes=3, requests=500, seed=seed)
        of_seed[name] = (tmp_path / name).read_bytes()
    assert of_seed["a.csv"] == of_seed["b.csv"] != of_seed["c.csv"]


@pytest.mark.parametrize("trace_format", ["alibaba", "tencent"])
def test_a_compressed_fleet_holds_the_same_requests(tmp_path: Path, trace_format: str) -> None:
    settings: Any = {"volumes": 3, "requests": 500, "trace_format": trace_format}
    read = []
    for suffix in ("", ".zst", ".gz"):
        wa.volumes.make(tmp_path / f"fleet.csv{suffix}", **settings)
        read.append(wa.traces.read(tmp_path / f"fleet.csv{suffix}", trace_format).requests)
    assert read[0].height == 500
    assert read[0].equals(read[1])
    assert read[0].equals(read[2])


def test_volumes_are_what_their_parameters_say(tmp_path: Path) -> None:
    truth, found = fleet(tmp_path, volumes=20, requests=200_000, sequential=0.4)
    assert found["volume"].to_list() == truth["volume"].to_list()
    share = found["requests"] / found["requests"].sum()
    assert (share - truth["share_of_requests"]).abs().max() < 0.01
    busy = truth.join(found, on="volume").filter(pl.col("requests") > 3000)
    assert busy.height >= 5
    reads = busy["reads"] / busy["requests"]
    assert (reads - busy["read_share"]).abs().max() < 0.04
    assert (busy["sequential_share"] - busy["sequential_share_right"]).abs().max() < 0.04
    assert (busy["written_set_bytes"] <= busy["pages"] * 4096).all()
    pages = busy["bytes_written"] / busy["writes"] / 4096
    assert (pages - busy["request_pages"]).abs().max() < 0.15


def test_the_largest_volumes_and_drifts_keep_to_their_pages(tmp_path: Path) -> None:
    truth, found = fleet(
        tmp_path, volumes=30, requests=500, size="8TiB", size_sigma=4, drift=1000, sequential=0
    )
    assert truth["pages"].max() == 2**31
    assert found["requests"].sum() == 500
    offsets = wa.traces.read(tmp_path / "fleet.csv", "alibaba").requests["offset"]
    assert offsets.max() < 2**43  # type: ignore[operator]
    for beyond in ({"size": "9TiB"}, {"drift": 1e50}):
        with pytest.raises(wa.WriteampError, match="it must"):
            FleetSettings(**beyond)  # type: ignore[arg-type]


def test_uniform_volumes_have_no_hot_pages_and_skewed_ones_have(tmp_path: Path) -> None:
    plain = {"volumes": 1, "requests": 60_000, "size": "4MiB", "size_sigma": 0, "sequential": 0,
             "reads": 0, "drift": 0, "request_pages": 1}  # fmt: skip
    _, uniform = fleet(tmp_path, skew_low=0, skew_high=0, **plain)
    (tmp_path / "skewed").mkdir()
    _, skewed = fleet(tmp_path / "skewed", skew_low=1, skew_high=1, **plain)
    assert uniform["written_set_bytes"].item() == 4 << 20
    assert uniform["hottest_10pct_share"].item() < 0.14
    # Of the law 1/r over 1,024 ranks, the first 102 have ln(103)/ln(1025) of the weight.
    assert skewed["hottest_10pct_share"].item() == pytest.approx(0.668, abs=0.02)


def test_drift_moves_the_hot_pages(tmp_path: Path) -> None:
    one = {"volumes": 1, "requests": 40_000, "size": "4MiB", "size_sigma": 0, "sequential": 0,
           "skew_low": 1.2, "skew_high": 1.2}  # fmt: skip
    _, still = fleet(tmp_path, drift=0, **one)
    (tmp_path / "moving").mkdir()
    _, moving = fleet(tmp_path / "moving", drift=5, **one)
    assert moving["hottest_10pct_share"].item() < 0.8 * still["hottest_10pct_share"].item()


def test_the_command_says_what_it_made(tmp_path: Path) -> None:
    out = tmp_path / "fleet.csv.zst"
    said = document("volumes make", f"--volumes 4 --requests 1e3 --seed 3 --out {out}")
    assert (said["volumes"], said["requests"], said["seed"]) == (4, 1000, 3)
    assert said["bytes"] == out.stat().st_size
    assert pl.read_parquet(said["truth"]).height == 4
