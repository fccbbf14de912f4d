"""Data sheets and rated erases of profiles: what they may say, and where they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

import writeamp as wa
from in_process import document, refusal, run
from vssd_documents import COUNTERS, counters
from writeamp.devices.profile import profile, profile_names
from writeamp.drives.lifetime.under_load import rated_cycles
from writeamp.vssd.counters import smart_log

PROFILE = "[geometry]\nblocks_per_plane = 64\npages_per_block = 16\n[management]\nop = 0.25\n"
FIGURES = {
    "product": '"a drive"',
    "state": '"sustained"',
    "sequential_read_mb_s": "500",
    "sequential_write_mb_s": "400",
    "random_read_iops": "90000",
    "random_write_iops": "20000",
    "sequential_read_depth": "32",
    "sequential_write_depth": "32",
    "random_read_depth": "64",
    "random_write_depth": "64",
}
TODAY = ("fdp-datacenter", "qlc", "tlc-client", "tlc-datacenter")


def text(**changes: str | None) -> str:
    lines = [f"{key} = {value}" for key, value in (FIGURES | changes).items() if value is not None]
    return PROFILE + "\n".join(["[data_sheet]", *lines, ""])


def test_a_data_sheet_is_read_as_data(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text(random_write_bytes="16384", rated_tbw="600"))
    found = profile(path).data_sheet
    assert found.corners == {
        "sequential_read_mb_s": 500,
        "sequential_write_mb_s": 400,
        "random_read_iops": 90_000,
        "random_write_iops": 20_000,
    }
    assert (found.random_read_bytes, found.random_write_bytes) == (4096, 16384)
    assert (found.rated_tbw, found.span_bytes) == (600, 0)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (text(random_read_iops=None), ["[data_sheet] lacks random_read_iops"]),
        (text(random_reads="3"), ["unknown key", "random_reads", "did you mean"]),
        (text(product="3"), ["data_sheet.product is 3", "name"]),
        (text(state='"new"'), ["data_sheet.state", "sustained, cached"]),
        (text(random_read_iops="0"), ["data_sheet.random_read_iops is 0", "above 0"]),
        (text(sequential_read_mb_s="nan"), ["data_sheet.sequential_read_mb_s is nan"]),
        (text(random_read_depth="1.5"), ["data_sheet.random_read_depth is 1.5", "whole number"]),
        (text(rated_dwpd="-1"), ["data_sheet.rated_dwpd is -1"]),
        (PROFILE + "data_sheet = 3\n", ["unknown key", "data_sheet"]),
        (PROFILE + "[wear]\nrated_erases = 0\n", ["wear.rated_erases is 0", "whole number"]),
        (PROFILE + "[wear]\nrated = 3\n", ["unknown key", "rated", "rated_erases"]),
    ],
)
def test_what_a_data_sheet_has_wrong_is_named(
    content: str, words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content)
    said = refusal("simulate", f"--device {path} --workload uniform --writes 1000")
    assert all(word in said for word in ("mine.toml", *words)), said


def test_profiles_of_today_name_a_product_and_rated_erases() -> None:
    named = {name for name in profile_names() if profile(name).data_sheet is not None}
    assert named == set(TODAY)
    rows = {row["name"]: row for row in document("list", "devices")["devices"]}
    for name in TODAY:
        assert rows[name]["data_sheet"]["product"] in rows[name]["parameters"]
        assert rows[name]["rated_erases"] == wa.device(name).rated_erases
    assert rows["ssd-v"]["data_sheet"] is rows["ssd-v"]["rated_erases"] is None


def test_the_list_says_what_a_profile_is_held_against() -> None:
    assert "Samsung 980 1 TB" in " ".join(run("list", "devices").out.split())


def test_drives_of_one_shape_are_one_drive_whatever_they_are_rated_for() -> None:
    found = wa.device("tlc-client")
    assert "rated_erases" not in found.meaning(with_times=True)
    assert wa.Device.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    ("mean", "rated", "percent"),
    [(9.01, None, 0), (9.01, 1000, 0), (29.9, 1000, 2), (1000, 1000, 100), (9999, 1000, 255)],
)
def test_percent_used_is_mean_erases_over_rated(
    mean: float, rated: int | None, percent: int
) -> None:
    assert smart_log(counters(mean_erase_count=mean), rated)["percent_used"] == percent
    assert smart_log(COUNTERS)["percent_used"] == 0


def test_both_kinds_of_flash_have_budgets_of_their_own() -> None:
    found = wa.simulate(
        device="tlc-client",
        size="256MiB",
        workload="random:bs=64k,write=1,qd=8",
        host_bytes="768MiB",
        precondition="full",
    )
    assert isinstance(found, wa.TimedResult)
    wear = found.wear_by_flash
    for kind, rated in (("tlc", 1500), ("slc", 30_000)):
        assert wear[kind]["rated_cycles"] == rated
        assert wear[kind]["cycles"]
        assert wear[kind]["used_share"] == pytest.approx((wear[kind]["cycles"] or 0) / rated)


def test_a_run_uses_a_percentage_of_the_rated_erases() -> None:
    load = {"workload": "random:bs=64k,write=1,qd=8", "host_bytes": "96MiB"}
    timed = wa.simulate("tlc-datacenter", size="16MiB", **load)
    untimed = wa.simulate("tlc-datacenter", size="16MiB", writes=20_000, warmup=15_000, replicas=1)
    for found in (timed, untimed):
        assert found.percentage_used
        assert found.to_dict()["percentage_used"] == found.percentage_used
    erases_of_block = timed.erases / timed.device.geometry.blocks
    assert timed.percentage_used == pytest.approx(100 * erases_of_block / 7000)
    # Nothing of it is left out as warm-up.
    erases_of_block = untimed.erases / untimed.device.geometry.blocks
    assert (untimed.percentage_used or 0) > 2 * 100 * erases_of_block / 7000
    cached = wa.simulate("tlc-client", size="64MiB", **load)
    assert isinstance(cached, wa.TimedResult)
    used_share = (cached.wear_by_flash or {})["tlc"]["used_share"]
    assert used_share
    assert cached.percentage_used == pytest.approx(100 * used_share)
    assert "percentage_used" not in wa.simulate("x25-m", size="16MiB", **load).to_dict()


def test_a_life_takes_the_rated_erases_of_the_profile() -> None:
    assert rated_cycles("qlc", None)[:3] == (600, 1600, 1600)
    assert rated_cycles("tlc-datacenter", None)[:3] == (1500, 7000, 7000)
    assert rated_cycles("ssd-v", None).source.startswith("typical for")
    assert rated_cycles("tlc-datacenter", 60)[:3] == (60, 60, 60)
