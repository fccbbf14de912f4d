"""Twins of phases: counters of a drive under known loads, read, fitted and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import in_process
import writeamp as wa
from twins import SOME
from writeamp._engine import Drive, Geometry, Load, Simulation
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.fitting import Fit, fit
from writeamp.learn.twin.phases.checked import CheckedPhase
from writeamp.learn.twin.phases.checking import PhaseTwin, check
from writeamp.learn.twin.phases.counted import GIB, CountedPhase
from writeamp.learn.twin.phases.served import GRID
from writeamp.learn.twin.phases.table import CountedDrive, read_drives
from writeamp.learn.twin.phases.windows import PhaseWindows
from writeamp.learn.twin.phases.zoned import weighed_by_zones
from writeamp.learn.twin.profile import write_profile
from writeamp.learn.twin.serving import programmed_pages
from writeamp.learn.twin.table import table_of

PAGES, UNIT, OP = 2**13, 32, 0.25
# The drive writes this much as parity for each page.
FACTOR = 1.05
SMALL = replace(GRID, unit_pages=(32,), op=(0.15, 0.2, 0.25, 0.3, 0.36), logical_pages=PAGES)
GREEDY = SOME[:1]
ZONES, ZONES_LOAD = "zns-noshuffle", f"zones-sequential:zone={3 << 19},active=4,bs={1 << 19}"


def rows_of(
    workload: str, number: int, span: float, *, filled: bool, unit: int = UNIT, rows: int = 30
) -> list[dict[str, object]]:
    """Return rows of the counters of a simulated drive in a phase, after a fill of its span."""
    pages = round(PAGES * span)
    geometry = Geometry(
        channels=1,
        chips_per_channel=1,
        dies_per_chip=1,
        planes_per_die=1,
        blocks_per_plane=round(PAGES * (1 + OP) / unit),
        pages_per_block=unit,
        page_bytes=4096,
    )
    drive = Drive(
        geometry=geometry, logical_pages=pages, layout="flat", manager="single", victims="greedy"
    )
    load = ZONES_LOAD if workload == ZONES else workload
    simulation = Simulation(drive, Load.spec(load, pages, 4096), seed=7, batch_pages=256)
    if filled:
        simulation.fill(0, pages)
    length = pages if workload == "sequential" else 4 * PAGES
    begun, found = programmed_pages(simulation), []
    for at in range(1, rows + 1):
        simulation.run(length * at // rows - length * (at - 1) // rows)
        media = (programmed_pages(simulation) - begun) * 4096 * FACTOR
        found.append(
            {
                "drive": "synthetic",
                "run": "run1",
                "phase": number,
                "pattern": workload,
                "details": "activeZones: 4 pagesPerZone: 3" if workload == ZONES else "",
                "span_gib": span * PAGES * 4096 / GIB,
                "host_bytes": length * at // rows * 4096,
                "media_bytes": round(media),
            }
        )
    return found


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table of a fill and a uniform phase of the whole drive, and of 85% of it."""
    rows = [
        *rows_of("sequential", 0, 1.0, filled=False),
        *rows_of("uniform", 1, 1.0, filled=True),
        *rows_of("sequential", 2, 0.85, filled=False),
        *rows_of("uniform", 3, 0.85, filled=True),
    ]
    path = tmp_path_factory.mktemp("phases") / "phases.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


@pytest.fixture(scope="module")
def drive(table: Path) -> CountedDrive:
    """Return the drive of the table."""
    return read_drives(table)[0]


@pytest.fixture(scope="module")
def learnt(drive: CountedDrive, tmp_path_factory: pytest.TempPathFactory) -> Fit:
    """Return the fit to the phases of the whole drive."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        windows = PhaseWindows(drive, drive.chosen(["run1:0", "run1:1"]), SMALL)
        return fit(windows, table=table_of(windows.served, families=GREEDY))


def test_the_op_of_a_drive_is_learnt_from_one_phase(learnt: Fit) -> None:
    assert learnt.op[0] == pytest.approx(OP, rel=0.04)
    document = learnt.to_dict()
    assert document["sequential_factor"] == pytest.approx(FACTOR, rel=1e-3)
    assert document["learnt_from"] == ["run1:0", "run1:1"]
    # Uniform writes of single pages do not show the erase unit, so none is claimed.
    assert document["erase_unit_pages"] is None


def test_a_phase_that_was_not_learnt_is_predicted_and_a_wrong_counter_is_found(
    drive: CountedDrive, learnt: Fit
) -> None:
    twin = PhaseTwin.of("mine.toml", learnt.profile(), "mine.toml")
    found = check(twin, [drive])
    (test,) = found.tests
    assert test.phase.name == "run1:3"
    assert test.steady.error == pytest.approx(0.0, abs=0.02)
    assert test.steady.holds
    assert all(window.holds for window in test.fifths)
    assert found.summary["held"] == 1
    assert found.warnings == []
    rows = test.to_dict()
    assert rows["learnt_from"] == ["run1:0", "run1:1", "run1:2"]
    assert rows["predicted_low"] < rows["wa"] < rows["predicted_high"]
    wrong = [
        replace(phase, media_bytes=1.1 * phase.media_bytes) if phase.name == "run1:3" else phase
        for phase in drive.phases
    ]
    doubted = check(twin, [replace(drive, phases=tuple(wrong))])
    assert doubted.tests[0].steady.holds is False
    assert "1 of 1 phases are outside" in doubted.warnings[0]


def test_phases_of_other_drives_and_unknown_loads_have_a_reason(
    drive: CountedDrive, learnt: Fit
) -> None:
    twin = PhaseTwin.of("mine.toml", learnt.profile(), "mine.toml")
    other = replace(drive, name="other", phases=drive.phases[:1])
    unknown = replace(drive.phases[3], pattern="fiozipf-shuffle", details="0.8")
    later = replace(drive.phases[3], number=4)
    found = check(twin, [other, replace(drive, phases=(*drive.phases[:3], unknown, later))])
    reasons = {phase.phase.name: phase.reason for phase in found.phases[:-1]}
    # Phases of other drives come last.
    assert found.phases[-1].reason == "the twin is of synthetic"
    assert "SSD-iq calls fiozipf" in str(reasons["run1:3"])
    assert reasons["run1:4"] == "the state that the phase before it left is unknown"
    assert all(phase.to_dict()["predicted"] is None for phase in found.phases if phase.reason)
    assert all(phase.to_dict()["wa"] is not None for phase in found.phases)


def test_zones_are_predicted_only_with_an_erase_unit(drive: CountedDrive, learnt: Fit) -> None:
    zones = replace(
        drive.phases[1], pattern="zns-noshuffle", details="activeZones: 4 pagesPerZone: 2", number=4
    )
    assert zones.load.zones == (1 << 20, 4)
    twin = PhaseTwin.of("mine.toml", learnt.profile(), "mine.toml")
    zoned = replace(drive, phases=(*drive.phases[2:], zones))
    assert "erase unit is unknown" in str(check(twin, [zoned]).phases[-1].reason)
    # 32 zones of 1 MiB on 32 MiB. In erase units of 1 MiB, four active zones share units.
    small, large = (
        check(replace(twin, erase_unit_pages=unit_pages), [zoned]).phases[-1].steady.predicted
        for unit_pages in (16.0, 256.0)
    )
    assert small is not None
    assert large is not None
    assert 1.0 <= small.median / FACTOR < 1.1 < large.median / FACTOR < 2
    with pytest.raises(wa.WriteampError, match="must be 'activeZones: N pagesPerZone: N'"):
        assert replace(zones, details="2 zones").load


def check_of(learnt: Fit, drive: CountedDrive, *phases: CountedPhase) -> dict[str, CheckedPhase]:
    twin = PhaseTwin.of("mine.toml", learnt.profile(), "mine.toml")
    found = check(twin, [replace(drive, phases=phases)])
    return {phase.phase.name: phase for phase in found.phases}


def test_a_prediction_does_not_depend_on_which_other_phases_the_table_has(
    drive: CountedDrive, learnt: Fit
) -> None:
    whole = check_of(learnt, drive, *drive.phases)["run1:3"].steady.predicted
    alone = check_of(learnt, drive, *drive.phases[2:])["run1:3"].steady.predicted
    assert whole is not None
    assert alone is not None
    assert alone.median == pytest.approx(whole.median, rel=1e-3)


def test_a_phase_whose_state_is_unknown_has_no_prediction(drive: CountedDrive, learnt: Fit) -> None:
    fill, load = drive.phases[:2]
    half = replace(load, number=2, span_bytes=load.span_bytes / 2)
    large = replace(load, number=0, run="other", span_bytes=2 * load.span_bytes)
    short = replace(load, number=2, host_bytes=load.host_bytes / 1e7)
    for phases, name, reason in (
        ((load,), "run1:1", "the table lacks the phase before it"),
        ((fill, replace(load, number=2)), "run1:2", "the table lacks the phase before it"),
        ((fill, load, half), "run1:2", "its span differs"),
        ((fill, load, large), "other:0", "its span is larger than the drive"),
        ((fill, load, short), "run1:2", "less than a page of the simulated drives"),
    ):
        found = check_of(learnt, drive, *phases)
        assert reason in str(found[name].reason)
        assert found[name].steady.predicted is None
        # Others are predicted all the same.
        assert len(phases) < 3 or found["run1:1"].steady.predicted is not None


def test_a_simulation_of_zones_asks_for_the_erase_unit(learnt: Fit, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    zones = {"workload": "zones-sequential:zone=1MiB,active=2", "writes": 1000}
    write_profile(mine, learnt.profile(), [])
    with pytest.raises(wa.WriteampError, match="did not show the drive's erase unit"):
        wa.simulate(mine, **zones)
    tables = learnt.profile()
    tables["twin"]["erase_unit_pages"] = 32.0
    write_profile(mine, tables, [])
    with pytest.raises(wa.WriteampError, match="give --pages-per-block 32, the erase unit"):
        wa.simulate(mine, **zones)
    assert wa.simulate(mine, **zones, pages_per_block=32, size="32MiB").wa >= 1


def test_the_fill_before_a_chosen_phase_is_used(drive: CountedDrive) -> None:
    windows = PhaseWindows(drive, drive.chosen(["run1:1"]), SMALL)
    assert windows.facts()["learnt_from"] == ["run1:0", "run1:1"]
    assert windows.sequential_factor == pytest.approx(FACTOR, rel=1e-3)
    assert "assumptions" in windows.notes[-1]
    fill, load = drive.phases[:2]
    still = replace(fill, media_bytes=np.zeros_like(fill.media_bytes))
    kib = replace(load, host_bytes=load.host_bytes / 1024)
    for phases, sentence in (
        ((still, load), "does not move in run1:0"),
        ((fill, replace(load, media_bytes=5000 * load.media_bytes)), "are both host_bytes and"),
        ((fill, kib), "less than a page|are both host_bytes and"),
    ):
        with pytest.raises(wa.WriteampError, match=sentence):
            PhaseWindows(replace(drive, phases=phases), phases, SMALL).check()


def test_a_counter_that_stands_still_gives_no_wa(drive: CountedDrive, learnt: Fit) -> None:
    fill, load = drive.phases[:2]
    still = replace(load, media_bytes=np.minimum(load.media_bytes, load.media_bytes[3]))
    found = check_of(learnt, drive, fill, still)["run1:1"]
    assert found.steady.measured is None
    assert "does not move" in str(found.reason)


def test_a_fill_that_asks_for_more_than_the_drive_is_one_of_all_of_it(
    table: Path, tmp_path: Path
) -> None:
    frame = pl.read_csv(table)
    more = frame.filter(pl.col("phase") < 2).with_columns(
        pl.col("phase") + 4, pl.col("span_gib") * 1.2
    )
    path = tmp_path / "more.csv"
    pl.concat([frame, more]).write_csv(path)
    (found,) = read_drives(path)
    assert {phase.name: phase.span_bytes for phase in found.phases[4:]} == {
        "run1:4": found.phases[0].span_bytes,
        "run1:5": found.phases[0].span_bytes,
    }
    assert "read as a fill of all of it" in found.notes[0]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("learnt_from", 3, "learnt_from is 3; it must be a list of phases"),
        ("learnt_from", [3], "learnt_from is 3; it must be text"),
        ("drive", 3, "drive is 3; it must be text"),
        ("erase_unit_pages", "many", "erase_unit_pages is 'many'"),
        ("drive", None, "was not learnt from phases"),
    ],
)
def test_a_damaged_twin_is_refused(learnt: Fit, name: str, value: object, sentence: str) -> None:
    tables = learnt.profile()
    tables["twin"] = {**tables["twin"], name: value}
    if value is None:
        del tables["twin"][name]
    with pytest.raises(wa.WriteampError, match=sentence):
        PhaseTwin.of("mine.toml", tables, "mine.toml")


def test_zones_tell_victims_by_age_from_greedy_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "zones.csv"
    pl.DataFrame(
        [
            *rows_of("sequential", 0, 1.0, filled=False),
            *rows_of("uniform", 1, 1.0, filled=True),
            *rows_of(ZONES, 2, 1.0, filled=True, unit=256),
        ]
    ).write_csv(path)
    zoned = read_drives(path)[0]
    windows = PhaseWindows(zoned, zoned.phases, SMALL)
    both = ((Variant("single", "greedy"),), (Variant("single", "fifo"),))
    fitted = fit(windows, table=table_of(windows.served, families=both))
    fitted.__dict__["erase_unit_pages"] = (256.0, 200.0, 300.0)
    before, after = (
        {family["victims"]: family["weight"] for family in one.families}
        for one in (fitted, weighed_by_zones(fitted, windows))
    )
    assert before["fifo"] > 0.1
    assert after["greedy"] > 0.95


def test_steady_wa_begins_at_a_row_and_needs_five_rows(drive: CountedDrive) -> None:
    phase = drive.phases[1]
    steady = phase.steady
    assert steady is not None
    first = int(np.flatnonzero(phase.host_bytes >= 0.6 * phase.host_bytes[-1])[0])
    assert steady.begin_bytes == phase.host_bytes[first]
    media = phase.media_bytes[-1] - phase.media_bytes[first]
    assert steady.wa == media / (phase.host_bytes[-1] - phase.host_bytes[first])
    few = replace(phase, host_bytes=phase.host_bytes[::3], media_bytes=phase.media_bytes[::3])
    assert few.steady is None


def test_steps_of_a_counter_widen_the_bounds(drive: CountedDrive) -> None:
    phase = drive.phases[1]
    steps = replace(phase, media_bytes=np.round(phase.media_bytes / 3e6) * 3e6)
    assert phase.steady is not None
    assert steps.steady is not None
    assert steps.steady.error > 3 * phase.steady.error
    low, high = steps.steady.bounds
    assert low < phase.steady.wa < high


def test_own_runs_in_toml_and_csv_are_the_same_phases(table: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(table)
    own = tmp_path / "own.toml"
    spans = {(row["phase"]): row for row in frame.iter_rows(named=True)}
    own.write_text(
        'drive = "synthetic"\n'
        + "".join(
            f'[[phases]]\nrun = "run1"\npattern = "{row["pattern"]}"\n'
            f"span_gib = {row['span_gib']}\n"
            for row in spans.values()
        )
    )
    # The drive's counters go on from phase to phase, and begin at any value.
    readings = []
    host, media = 10_000_000, 30_000_000
    for _, rows in frame.group_by("phase", maintain_order=True):
        pairs = [(0, 0), *rows.select("host_bytes", "media_bytes").rows()]
        readings += [("run1", rows["phase"][0], host + a, media + b) for a, b in pairs]
        host, media = host + pairs[-1][0], media + pairs[-1][1]
    csv = tmp_path / "readings.csv"
    pl.DataFrame(
        readings, schema=["run", "phase", "host_bytes", "media_bytes"], orient="row"
    ).write_csv(csv)
    (found,) = read_drives(own, csv)
    for phase, same in zip(found.phases, read_drives(table)[0].phases, strict=True):
        assert phase.name == same.name
        assert np.array_equal(phase.host_bytes[1:], same.host_bytes)
        assert np.array_equal(phase.media_bytes[1:], same.media_bytes)


def altered(table: Path, tmp_path: Path, **columns: pl.Expr | Sequence[str] | None) -> Path:
    frame = pl.read_csv(table)
    for name, values in columns.items():
        frame = frame.drop(name) if values is None else frame.with_columns(values.alias(name))
    path = tmp_path / "bad.csv"
    frame.write_csv(path)
    return path


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"phase": pl.col("phase") + 0.5}, "phase is '0.5' in line 2; it must be a whole number"),
        ({"host_bytes": pl.col("host_bytes") / 3}, "the fill run1:0 wrote .* each page of its sp"),
        ({"host_bytes": pl.col("host_bytes") * 2}, "the fill run1:0 wrote .* each page of its sp"),
        ({"details": pl.lit("theta=3")}, "the details are 'theta=3'; this pattern has none"),
        ({"media_bytes": None}, "lacks the column media_bytes"),
        ({"pattern": pl.lit("tpcc")}, "the pattern 'tpcc' is unknown; known are sequential"),
        ({"pattern": pl.lit("zipf-shuffle")}, "must be its exponent, above 0 and at most 10"),
        ({"media_bytes": -pl.col("media_bytes") + 10**12}, "media_bytes falls from"),
        ({"host_bytes": pl.lit(0)}, "the host wrote nothing"),
        ({"host_bytes": pl.lit("many")}, "host_bytes is 'many' in line 2"),
        ({"span_gib": pl.col("host_bytes") / 2**30}, "span_gib must be the same in all rows"),
        ({"span_gib": pl.lit(0.0)}, "span_gib is 0"),
    ],
)
def test_a_bad_table_is_refused_with_its_reason(
    table: Path, tmp_path: Path, columns: dict[str, pl.Expr | None], sentence: str
) -> None:
    with pytest.raises(wa.WriteampError, match=sentence):
        read_drives(altered(table, tmp_path, **columns))


@pytest.mark.parametrize(
    ("toml", "csv", "sentence"),
    [
        ("drive = 3\n", "phase,host_bytes,media_bytes\n0,0,0\n", "must have drive = "),
        ("[[phases]]\n", "", "must have drive = "),
        ('drive="a"\n[[phases]]\npattern="uniform"\n', "", "it must have pattern, span_gib"),
        ('drive="a"\n[[phases]]\npattern=1\nspan_gib=1\n', "", "pattern is 1; it must be a text"),
        (
            'drive="a"\n[[phases]]\npattern="uniform"\nspan_gib=1\n',
            "phase,host_bytes,media_bytes\n4,0,0\n",
            "has the phase 'run:4', which .*own.toml lacks",
        ),
        (
            'drive="a"\n[[phases]]\npattern="uniform"\nspan_gib=1\n'
            '[[phases]]\npattern="uniform"\nspan_gib=1\n',
            "phase,host_bytes,media_bytes\n0,0,0\n0,5,5\n",
            "own.toml has the phase 'run:1', which .* lacks",
        ),
        (
            'drive="a"\n[[phases]]\npattern="uniform"\nspan_gib=1\n',
            "phase,host_bytes\n4,0\n",
            "lacks the column media_bytes",
        ),
    ],
)
def test_bad_runs_are_refused_with_their_reason(
    tmp_path: Path, toml: str, csv: str, sentence: str
) -> None:
    runs, readings = tmp_path / "own.toml", tmp_path / "readings.csv"
    runs.write_text(toml)
    readings.write_text(csv or "phase,host_bytes,media_bytes\n0,0,0\n")
    with pytest.raises(wa.WriteampError, match=sentence):
        read_drives(runs, readings)


def test_the_verbs_check_a_twin_and_refuse_what_they_would_have_to_guess(
    table: Path, learnt: Fit, tmp_path: Path
) -> None:
    mine, two = tmp_path / "mine.toml", tmp_path / "two.csv"
    write_profile(mine, learnt.profile(), [])
    found = in_process.document("twin check", f"{mine} {table} --workers 1")
    assert [phase["holds"] for phase in found["phases"]] == [True, True, True, True]
    assert "predicts 1 load that it was not learnt from" in found["summary"]
    frame = pl.read_csv(table)
    pl.concat([frame, frame.with_columns(pl.lit("other").alias("drive"))]).write_csv(two)
    for arguments, sentence in (
        (f"twin fit {two} --out {tmp_path}/a.toml", "choose one with --drive: synthetic, other"),
        (f"twin fit {two} --drive x --out {tmp_path}/a.toml", "--drive is 'x'"),
        (f"twin fit {table} --phases run1:9 --out {tmp_path}/a.toml", "no phase 'run1:9'"),
        (f"twin fit {table} --phases run1:0 --out {tmp_path}/a.toml", "choose a load, too"),
        (f"twin fit --wa 3 --phases run1:0 --out {tmp_path}/a.toml", "are for a table of phases"),
        (f"twin check {mine} {mine}", "give the file of their readings"),
        (f"twin check {mine} {table} --readings {table}", "belongs to phases in a TOML file"),
    ):
        words = arguments.split()
        done = in_process.run(" ".join(words[:2]), " ".join(words[2:]))
        assert (done.status, sentence in done.err) == (2, True), done.err
