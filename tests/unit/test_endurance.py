"""Lives of drives: their exact ends, and the report of fairness, endurance and years."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import writeamp as wa
from in_process import document, run
from page_traces import page_trace
from registered import alone, fewest_blocks
from writeamp import _engine
from writeamp.devices.policy import Policy
from writeamp.plots import LifeCurve, erases_of_blocks, life_over_w, save
from writeamp.runs.seeds import replica_seed
from writeamp.studies.endurance.lifetime import run_lifetime
from writeamp.units.byte_sizes import parse_bytes

SMALL = {"blocks": 60, "pages_per_block": 16, "op": 0.25, "w_max": 50, "replicas": 4}
SKEWED = "hot-cold:f=0.1,r=0.9"


def numbers(found: wa.Endurance) -> dict[str, Any]:
    """Return all that a result says, but for how long that took on how many threads."""
    said = found.to_dict(curve=True)
    return {name: value for name, value in said.items() if name not in ("elapsed_s", "threads")}


def test_blocks_erased_in_turn_give_the_life_that_counting_gives() -> None:
    # Sequential writes and FIFO on 4 blocks of 2 pages, 6 of them logical: after the fill, 2 pages
    # find room; then blocks 0, 1, 2, 3, 0, … are erased without a valid page, 2 writes apart.
    drive = wa.device(blocks=4, pages_per_block=2, fill=0.75)
    found = wa.endurance(drive, "sequential", victims="fifo", w_max=3, replicas=2)
    assert found.lives["erases"].to_list() == [9, 9]
    assert found.erases_of_block.tolist() == [[3, 2, 2, 2]] * 2
    assert (found.pe_fairness, found.endurance_full_drive_writes) == (9 / (3 * 4), 9 * 2 / (2 * 4))
    assert found.endurance_logical_drive_writes == 9 * 2 / 6
    assert (found.host_pages, found.wa) == (2 + 8 * 2, 1)
    assert found.curve["pe_fairness"].to_list() == [1 / 4, 5 / 8, 9 / 12]
    assert found.curve["endurance_full_drive_writes"].to_list() == [1 / 4, 5 / 4, 9 / 4]
    assert found.erase_histogram["blocks"].to_list() == [0, 0, 6, 2]
    assert any("replicas are equal" in note for note in found.notes)


def test_a_small_drive_lives_as_many_drive_writes_as_the_one_that_is_meant() -> None:
    found = wa.endurance(**SMALL)
    drive_writes = found.host_pages / found.plan.device.logical_pages
    assert found.years(1e12, capacity_bytes=2e12) == pytest.approx(drive_writes * 2 / 365)
    document = found.to_dict(daily_bytes=1e12, capacity_bytes=2e12)
    assert document["years"] == found.years(1e12, capacity_bytes=2e12)
    assert document["capacity_bytes"] == 2e12
    with pytest.raises(wa.WriteampError, match="give the real drive's capacity"):
        found.years(1e12)
    with pytest.raises(wa.WriteampError, match="capacity_bytes is 0"):
        found.years(1e12, capacity_bytes=0)


def test_a_rate_that_no_drive_is_made_for_is_refused_before_the_run() -> None:
    # A run of so many erases would take hours.
    text = "--blocks 1024 --w-max 1000000 --daily-writes 1TB"
    done = run("endurance", text)
    assert done.status == 2
    assert "drives are rated for at most 100; give the real drive's capacity" in done.err


@pytest.mark.parametrize("victims", ["d-choices:d=10", "greedy"])
def test_a_life_is_what_a_replay_page_by_page_finds(victims: str) -> None:
    drive = wa.device(blocks=40, pages_per_block=8, op=0.3)
    w_max, seed = 30, 5
    simulation = _engine.Simulation(
        Policy("single", victims, None).drive(drive),
        _engine.Load.spec(SKEWED, drive.logical_pages),
        seed=seed,
        batch_pages=1,
    )
    simulation.fill(0, drive.logical_pages)
    moments: list[tuple[int, int, int]] = []
    erases = host_pages = 0
    while len(moments) < w_max:
        simulation.run(1)
        counters = simulation.counters()
        assert counters["erases"] <= erases + 1  # else this replay could not tell their order
        if counters["erases"] > erases and simulation.erase_counts().max() > len(moments):
            # The collection went before the page that this step wrote.
            moments.append((counters["erases"], counters["gc"], host_pages))
            worn = simulation.erase_counts()
        erases, host_pages = counters["erases"], host_pages + 1

    found = wa.endurance(
        drive, SKEWED, victims=victims, w_max=w_max, seed=seed, replicas=1, batch_pages=777
    )
    reached = found.reached
    columns = (reached.erases[0], reached.migrated[0], reached.host_pages[0])
    assert moments == list(zip(*(column.tolist() for column in columns), strict=True))
    assert found.erases_of_block[0].tolist() == worn.tolist()
    last_erases, last_migrated, last_host = moments[-1]
    assert found.pe_fairness == last_erases / (40 * w_max)
    assert found.endurance_full_drive_writes == (8 * last_erases - last_migrated) / (8 * 40)
    assert (found.host_pages, found.wa) == (last_host, 1 + last_migrated / last_host)


def test_neither_threads_nor_batches_change_anything() -> None:
    case = {**SMALL, "manager": "sepgc", "victims": "d-choices:d=3", "spare_share": 0.05}
    first = numbers(wa.endurance(**case, workload=SKEWED, runner=wa.runners.Here()))
    for other in (
        {"runner": wa.runners.Threads(2)},
        {"runner": wa.runners.Threads(7), "batch_pages": 1},
        {"batch_pages": 10_000},
    ):
        assert numbers(wa.endurance(**case, workload=SKEWED, **other)) == first


def test_each_replica_is_the_run_with_its_seed() -> None:
    together = wa.endurance(**SMALL, victims="d-choices:d=3", seed=11)
    alone = [
        wa.endurance(**{**SMALL, "replicas": 1}, victims="d-choices:d=3", seed=replica_seed(11, i))
        for i in range(4)
    ]
    assert together.lives.equals(pl.concat([one.lives for one in alone]))
    assert len(set(together.lives["erases"])) > 1


def test_the_intervals_are_students_over_the_replicas() -> None:
    found = wa.endurance(**SMALL, victims="d-choices:d=3", workload=SKEWED)
    for column, mean, interval in (
        ("pe_fairness", found.pe_fairness, found.pe_fairness_ci95),
        ("endurance_full_drive_writes", found.endurance_full_drive_writes, found.endurance_ci95),
        ("wa", found.wa, found.ci),
    ):
        values = found.lives[column].to_numpy()
        expected = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
        assert interval == pytest.approx(expected, rel=1e-12)
        assert mean == pytest.approx(values.mean(), rel=1e-12)


def test_one_replica_has_no_interval() -> None:
    found = wa.endurance(**{**SMALL, "replicas": 1})
    assert math.isnan(found.pe_fairness_ci95[0])
    document = found.to_dict(curve=True)
    assert document["pe_fairness_ci95"] == document["wa_ci95"] == [None, None]
    assert document["curve"]["pe_fairness_high"] == [None] * 50
    assert json.dumps(document, allow_nan=False)
    assert any("one replica" in note for note in found.notes)


def test_the_curve_is_that_of_shorter_lives() -> None:
    case = {**SMALL, "victims": "d-choices:d=3", "workload": SKEWED}
    long = wa.endurance(**case)
    for w_max in (1, 7, 50):
        short = wa.endurance(**{**case, "w_max": w_max})
        row = long.curve.row(w_max - 1, named=True)
        assert row["w"] == w_max
        assert row["pe_fairness"] == pytest.approx(short.pe_fairness, rel=1e-12)
        endurance = row["endurance_full_drive_writes"]
        assert endurance == pytest.approx(short.endurance_full_drive_writes, rel=1e-12)
        assert row["wa"] == pytest.approx(short.wa, rel=1e-12)


def test_wear_endurance_and_wa_are_one_account() -> None:
    found = wa.endurance(**{**SMALL, "w_max": 300}, victims="d-choices:d=4", workload=SKEWED)
    # Every erase made room for b pages, of which the host got one in WA; but for the spare space of
    # the new drive, which it got for nothing.
    account = found.pe_fairness * 300 / found.wa
    assert found.endurance_full_drive_writes == pytest.approx(account, rel=2e-3)
    written = found.host_pages / found.plan.device.physical_pages
    room = found.endurance_full_drive_writes + found.plan.device.spare_factor
    # The room that the last collection made is not written yet when the life ends.
    assert 0 < room - written <= 1 / found.plan.device.geometry.blocks
    assert sum(found.causes.values()) / found.host_pages == pytest.approx(found.wa, rel=1e-3)


def test_random_victims_wear_a_drive_as_balls_fill_urns_whatever_is_written() -> None:
    # Paper 4, §6: with d = 1 neither fairness nor endurance depends on f and r.
    case = {"blocks": 300, "pages_per_block": 8, "spare_factor": 0.25, "w_max": 60, "replicas": 30}
    lives = [
        wa.endurance(workload=workload, victims=victims, **case)
        for workload in ("uniform", "hot-cold:f=0.05,r=0.95")
        for victims in ("random", "d-choices:d=1")
    ]
    random = np.random.default_rng(3)
    balls = []
    for _ in range(60):
        counts = np.zeros(300, int)
        for urn in random.integers(0, 300, 300 * 60):
            counts[urn] += 1
            if counts[urn] == 60:
                break
        balls.append(counts.sum() / (300 * 60))
    for found in lives:
        scatter = math.hypot(stats.sem(found.lives["pe_fairness"]), stats.sem(balls))
        assert abs(found.pe_fairness - np.mean(balls)) < 4 * scatter + 0.005
        assert found.wa == pytest.approx(4, rel=0.02)
    assert np.mean(balls) < 0.8  # far from even


@pytest.mark.registry
def test_fairness_is_a_share_for_every_entry() -> None:
    both = ["flat", "striped-per-lun"]
    runs = [
        ({"manager": entry.example}, fewest_blocks(entry, 64), entry.declared["layouts"])
        for entry in alone("managers")
    ]
    runs += [({"victims": entry.example}, 64, both) for entry in alone("victims")]
    for policies, blocks, layouts in runs:
        for layout in layouts:
            drive = wa.device("eagletree", blocks=blocks, pages_per_block=16, layout=layout)
            asked = {"workload": SKEWED, "w_max": 30, "replicas": 2, **policies}
            found = run_lifetime(wa.Experiment.of("endurance", device=drive, **asked))
            assert 0 < found.pe_fairness <= 1, policies
            assert found.curve["pe_fairness"].is_between(0, 1, closed="right").all(), policies
            assert found.erases_of_block.max() == 30


@pytest.mark.parametrize(
    ("spare_share", "spare", "worn"), [(0, 0, 1), (0.01, 0, 1), (0.02, 1, 1), (0.1, 6, 6)]
)
def test_a_life_ends_when_as_many_blocks_are_worn_out_as_are_spare(
    spare_share: float, spare: int, worn: int
) -> None:
    found = wa.endurance(
        **{**SMALL, "op": 0.5}, victims="d-choices:d=3", workload=SKEWED, spare_share=spare_share
    )
    assert found.plan.spare_blocks == spare
    assert (found.erases_of_block == 50).sum(axis=1).tolist() == [worn] * 4
    assert found.erases_of_block.max() == 50
    assert found.erase_histogram["blocks"].sum() == 4 * 60
    assert any("no block is spare" in note for note in found.notes) == (spare_share == 0.01)


def test_each_lun_has_its_share_of_spare_blocks() -> None:
    drive = wa.device("eagletree", blocks=160, pages_per_block=16, op=0.6, layout="striped-per-lun")
    luns = drive.geometry.luns
    found = wa.endurance(drive, SKEWED, victims="random", w_max=20, spare_share=0.1, replicas=3)
    per_lun = 160 // luns // 10
    assert found.plan.spare_blocks == per_lun * luns > luns
    worn = (found.erases_of_block == 20).reshape(3, luns, 160 // luns).sum(axis=2)
    # The life ends with the first LUN whose spare blocks are used up.
    assert worn.max(axis=1).tolist() == [per_lun] * 3
    assert (worn == per_lun).sum(axis=1).tolist() == [1] * 3


def test_spare_blocks_lengthen_the_life_and_are_taken_from_the_spare_space() -> None:
    case = {"pages_per_block": 16, "workload": SKEWED, "victims": "d-choices:d=3", "w_max": 100}
    drive = wa.device(blocks=400, pages_per_block=16, op=0.3)
    whole = wa.endurance(drive, **case)
    found = wa.endurance(drive, **case, spare_share=0.02)
    rest = wa.device(blocks=392, pages_per_block=16, fill=drive.logical_pages / (392 * 16))
    without = wa.endurance(rest, **case)
    assert found.wa == pytest.approx(without.wa, rel=0.01)
    assert found.wa > 1.02 * whole.wa
    assert found.host_pages > 1.05 * without.host_pages


def test_a_trace_is_replayed_until_the_drive_is_worn_out() -> None:
    pages = np.random.default_rng(1).integers(0, 700, 5_000).tolist()
    case = {**SMALL, "trace": page_trace(pages, logical_pages=700)}
    found = wa.endurance(**case)
    assert found.host_pages > 2 * 5_000
    assert found.to_dict()["workload"] == "trace"
    # Greedy collection draws nothing at random, and neither does a trace.
    assert any("replicas are equal" in note for note in found.notes)
    assert len(set(wa.endurance(**case, victims="random").lives["erases"])) > 1


def test_the_fill_is_not_counted_and_wears_nothing() -> None:
    filled = wa.endurance(**SMALL)
    empty = wa.endurance(**SMALL, precondition="none")
    physical_pages = filled.plan.device.physical_pages
    assert filled.host_pages < empty.host_pages
    # Collection makes the same room; only what was free at first differs.
    assert filled.endurance_full_drive_writes == pytest.approx(
        empty.endurance_full_drive_writes, rel=0.1
    )
    gap = empty.host_pages / physical_pages - empty.endurance_full_drive_writes
    assert gap == pytest.approx(1, abs=0.01)


def test_unwritten_space_lengthens_the_life() -> None:
    half = wa.endurance(**SMALL, utilization=0.5)
    full = wa.endurance(**SMALL)
    assert half.endurance_full_drive_writes > 1.3 * full.endurance_full_drive_writes
    assert half.wa < full.wa


def test_years_follow_from_the_bytes_that_the_host_writes() -> None:
    found = wa.endurance(**SMALL, page_bytes=8192)
    assert found.host_bytes == found.host_pages * 8192
    assert found.years(found.host_bytes / 365) == pytest.approx(1)
    assert found.to_dict(daily_bytes=1e6)["years"] == found.host_bytes / 1e6 / 365
    for wrong in (0, -1, math.nan, math.inf):
        with pytest.raises(wa.WriteampError, match="daily_bytes"):
            found.years(wrong)


def test_units_of_bytes_are_what_they_are_spelled() -> None:
    for text, size in {
        "100GB": 100e9,
        "100 GiB": 100 * 2**30,
        "1.5TB": 1.5e12,
        "1e3 kB": 1e6,
        "7B": 7.0,
        "2EiB": 2 * 2.0**60,
        "100G": 100 * 2**30,
        "32768000": 32_768_000.0,
    }.items():
        assert parse_bytes("it", text) == size
    for wrong in ("1.5", "100Gb", "gb", "", "0GB", "-1GB", "1.2.3GB", "infGB", "1e400GB"):
        with pytest.raises(wa.WriteampError, match=r"it is .* unit"):
            parse_bytes("it", wrong)


def test_progress_rises_to_all_of_the_wear_and_an_error_in_it_stops_the_run() -> None:
    seen: list[tuple[int, int]] = []
    long = {"blocks": 256, "pages_per_block": 64, "op": 0.25, "w_max": 600, "replicas": 2}
    wa.endurance(
        **long,
        runner=wa.runners.Here(),
        progress=lambda done, expected: seen.append((done, expected)),
    )
    assert seen == sorted(seen)
    assert seen[-1] == (1200, 1200)

    def stop(_done: int, _expected: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        wa.endurance(blocks=8192, w_max=100_000, progress=stop)  # hours of a whole life


def test_figures_show_fairness_endurance_and_erases(tmp_path: Path) -> None:
    found = wa.endurance(**SMALL, workload=SKEWED)
    for draw, words in (
        (found.plot, ["PE fairness", "endurance", "W_max 50", "op = (T-U)/U", "95% confidence"]),
        (found.plot_erases, ["Wear at the end of life", "blocks", SKEWED, "PE fairness 0."]),
    ):
        draw(tmp_path / "it.svg")
        draw(tmp_path / "it.html")
        text = (tmp_path / "it.svg").read_text("utf-8")
        assert [word for word in words if word not in text] == []
        assert words[0] in (tmp_path / "it.html").read_text("utf-8")


def test_curves_of_policies_share_a_figure_and_wrong_ones_are_refused() -> None:
    line = np.linspace(0.1, 0.5, 2000)
    nan = np.full(2000, math.nan)
    curves = [
        LifeCurve("with", np.arange(1, 2001), line, line - 0.1, line + 0.1, line, line, line),
        LifeCurve("without", np.arange(1, 2001), line, nan, nan, line, nan, nan),
    ]
    spec = life_over_w(curves, title="both", subtitle="op 0.1")
    assert [len(panel.lines) for panel in spec.panels] == [4, 4]
    mean = spec.panels[0].lines[2]
    assert (mean.label, len(mean.x), mean.x[0], mean.x[-1]) == ("with", 500, 1, 2000)
    bad = LifeCurve("bad", [1, 2], [1], [1], [1], [1], [1], [1])
    for wrong in ([], [bad]):
        with pytest.raises(wa.WriteampError):
            life_over_w(wrong, title="", subtitle="")


def test_the_outline_of_a_histogram_has_the_height_of_its_bins(tmp_path: Path) -> None:
    spec = erases_of_blocks([0, 2, 4], [5, 0, 7], width=2, label="a", title="b", subtitle="c")
    (line,) = spec.lines
    assert list(zip(line.x, line.y, strict=True)) == [
        (0, 0), (0, 5), (2, 5), (2, 0), (4, 0), (4, 7), (6, 7), (6, 0),
    ]  # fmt: skip
    save(spec, tmp_path / "it.png")
    assert (tmp_path / "it.png").stat().st_size > 1000


def test_the_command_prints_the_promised_keys_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = (
        f"--manager sepgc --victims d-choices:d=5 --workload {SKEWED} --replicas 3 "
        "--logical-blocks 1000 --pages-per-block 32 --spare-factor 0.10 --w-max 100 --curve "
        "--spare-share 0.01 --daily-writes 100MB --plot a.png --plot-erases b.svg"
    )
    found = document("endurance", arguments)
    assert found.keys() >= {
        "pe_fairness", "pe_fairness_ci95", "endurance_full_drive_writes", "endurance_ci95", "wa",
        "erase_histogram", "endurance_logical_drive_writes", "years", "host_pages", "op",
    }  # fmt: skip
    low, high = found["endurance_ci95"]
    assert low < found["endurance_full_drive_writes"] < high
    assert sum(row["blocks"] for row in found["erase_histogram"]) == 3 * found["blocks"]
    assert (found["spare_blocks"], len(found["curve"]["w"])) == (11, 100)
    assert {path.name for path in tmp_path.iterdir()} == {"a.png", "b.svg"}


def test_life_under_jesd219_is_beside_that_of_the_load() -> None:
    drive = {"blocks": 64, "pages_per_block": 32, "op": 0.3, "w_max": 20, "replicas": 2}
    beside, alone = wa.endurance(**drive), wa.endurance(workload="jesd219", **drive)
    assert beside.under_jesd219 is not None
    assert beside.under_jesd219.tbw == alone.tbw != beside.tbw
    assert beside.to_dict()["jesd219"] == alone.to_dict()["jesd219"]
    assert alone.under_jesd219 is alone
    too_small = wa.endurance(**drive | {"blocks": 4, "pages_per_block": 4, "op": 2.0})
    assert too_small.to_dict()["jesd219"] is None
