"""Twins: hidden drives are found by their windows, and predict with intervals."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import in_process
import writeamp as wa
from recordings import POLICY, recorded, requests
from writeamp.devices.candidates import Candidate, Candidates
from writeamp.devices.policy import Policy
from writeamp.learn.twin.chain import Chain, Phase, chain_of
from writeamp.learn.twin.driving import RangesHost, drive_chain
from writeamp.learn.twin.families import FAMILIES, Variant
from writeamp.learn.twin.fitting import Fit, fit
from writeamp.learn.twin.likelihood import weigh
from writeamp.learn.twin.measuring import measure
from writeamp.learn.twin.plan import fio_jobs
from writeamp.learn.twin.profile import write_profile
from writeamp.learn.twin.table import (
    CandidateTable,
    Grid,
    _simulated,
    grid_of,
    table_error,
    table_of,
)
from writeamp.learn.twin.windows import (
    SavedWindows,
    Windows,
    read_windows,
    windows_of,
    windows_of_csv,
)
from writeamp.registry import engine_entries
from writeamp.runners import Here
from writeamp.studies.mixture import CandidateRun, Mixture

PAGES = 2**12
CHAIN = Chain(chain_of(3, chunks=False, capacity_bytes=PAGES * 4096).phases, PAGES * 4096)
GRID = Grid(
    unit_pages=(8, 16, 32), op=tuple(0.08 * 1.2**at for at in range(9)), logical_pages=PAGES
)
SOME = (
    (Variant("single", "greedy"),),
    (Variant("single", "d-choices:d=2"),),
    (Variant("sepgc", "greedy"),),
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@cache
def table() -> CandidateTable:
    rows = [
        _simulated(CHAIN, GRID, (variant, unit))
        for family in SOME
        for variant in family
        for unit in GRID.unit_pages
    ]
    shape = (len(SOME), len(GRID.unit_pages), len(GRID.op))
    return CandidateTable(
        tuple(family[0] for family in SOME),
        tuple(range(len(SOME))),
        np.array(GRID.unit_pages, float),
        np.array([row[0] for row in rows]).reshape(shape),
        np.array([row[1] for row in rows]).reshape(*shape, CHAIN.windows),
    )


@cache
def windows(manager: str = "sepgc", victims: str = "greedy", op: float = 0.2) -> Windows:
    drive = wa.device(logical_pages=PAGES, pages_per_block=16, op=op)
    return measure(drive, Policy.of(manager, victims, None), CHAIN, seed=5)


@cache
def fitted(manager: str = "sepgc", victims: str = "greedy", op: float = 0.2) -> Fit:
    return fit(windows(manager, victims, op), table=table())


@pytest.mark.parametrize(
    ("manager", "victims", "op"),
    [("sepgc", "greedy", 0.2), ("single", "d-choices:d=2", 0.15), ("single", "greedy", 0.28)],
)
def test_a_hidden_drive_is_found(manager: str, victims: str, op: float) -> None:
    found = fitted(manager, victims, op)
    assert found.op[0] == pytest.approx(op, rel=0.08)
    assert found.families[0]["manager"] == manager
    assert found.families[0]["victims"] == victims.partition(":")[0]
    assert found.to_dict()["separation"] is (manager == "sepgc")
    assert sum(one.weight for one in found.candidates) == pytest.approx(1)
    assert found.misfit < 2.5


def test_a_drive_that_is_none_of_the_candidates_is_told_by_its_misfit() -> None:
    strange = windows_of(
        CHAIN, [(0, -1, 100.0, 100.0), *((0, at, 100.0, 100.0 * 2 ** (at % 3)) for at in range(6))]
    )
    found = fit(strange, table=table())
    assert found.misfit > 3
    assert found.error > 5 * fitted().error
    assert any("no candidate explains" in one for one in found.warnings)


def test_noise_is_estimated_and_widens_what_is_known() -> None:
    clean = windows()
    random = np.random.default_rng(3)
    noisy = replace(clean, flash_bytes=clean.flash_bytes * np.exp(random.normal(0, 0.05, 16)))
    assert noisy.noise is not None
    assert clean.noise is not None
    assert noisy.noise > 1.5 * clean.noise
    low, high = fit(noisy, table=table()).op[1:]
    assert high / low > fitted().op[2] / fitted().op[1]


def test_repeats_tell_noise() -> None:
    drive = wa.device(logical_pages=PAGES, pages_per_block=16, op=0.2)
    found = measure(drive, Policy.of("single", "greedy", None), CHAIN, seed=1, repeats=2)
    assert set(found.repeat) == {0, 1}
    assert found.noise is not None
    assert 0 < found.noise < 0.1


def test_noise_that_repeats_tell_is_no_other_family() -> None:
    clean, random = windows(), np.random.default_rng(3)
    rows = clean.window.size
    repeated = Windows(
        CHAIN,
        np.repeat(np.arange(4), rows),
        np.tile(clean.window, 4),
        np.tile(clean.host_bytes, 4),
        np.tile(clean.flash_bytes, 4) * np.exp(random.normal(0, 0.1, 4 * rows)),
    )
    once = replace(repeated, repeat=np.zeros_like(repeated.repeat))
    assert fit(repeated, table=table()).error < 0.8 * fit(once, table=table()).error


def test_blocks_that_hold_no_data_are_no_spare_space() -> None:
    assert Variant("single", "greedy").tied_blocks == 0.5
    assert Variant("sepgc", "greedy").tied_blocks == 1
    assert Variant("dac:regions=6", "greedy").tied_blocks == 8


def test_the_shipped_table_is_what_the_engine_comes_to(tmp_path: Path) -> None:
    chain = chain_of(4, chunks=False, capacity_bytes=2**29)

    def simulates_nothing(done: int, whole: int) -> None:
        raise AssertionError("the package has this table")

    chunks = chain_of(4, chunks=True, capacity_bytes=2**29)
    assert table_of(chunks, runner=Here(), progress=simulates_nothing).wa.shape[-1] == 14
    shipped = table_of(chain, runner=Here(), progress=simulates_nothing)
    assert len(shipped.variants) == sum(map(len, FAMILIES))
    grid = Grid()
    wolf = shipped.variants.index(Variant("wolf", "greedy"))
    for variant, unit, op in ((0, 2, 3), (12, 4, 6), (wolf, 5, 7)):
        one = Grid(op=(grid.op[op],))
        job = (shipped.variants[variant], grid.unit_pages[unit])
        log_op, found = _simulated(chain, one, job)
        assert log_op[0] == shipped.log_op[variant, unit, op]
        assert found[0] == pytest.approx(shipped.wa[variant, unit, op], rel=1.3e-4)


def test_every_manager_and_victim_policy_is_a_candidate() -> None:
    families = {variant.family for family in FAMILIES for variant in family}
    for kind, names in zip(("managers", "victims"), zip(*families, strict=True), strict=True):
        assert set(names) == {entry.name for entry in engine_entries(kind)}


def test_an_unusual_drive_that_hears_hints_is_found_only_if_windows_say_so() -> None:
    alike = (Variant("sepgc", "greedy"), Variant("nvme-fdp", "greedy"))
    rows = [_simulated(CHAIN, GRID, (alike[0], unit)) for unit in GRID.unit_pages]
    shape = (1, len(GRID.unit_pages), len(GRID.op))
    log_op = np.array([row[0] for row in rows]).reshape(shape)
    of_windows = np.array([row[1] for row in rows]).reshape(*shape, CHAIN.windows)
    same = CandidateTable(
        alike,
        (0, 1),
        np.array(GRID.unit_pages, float),
        np.concatenate([log_op, log_op]),
        np.concatenate([of_windows, of_windows]),
    )
    found = weigh(same, windows().wa, windows().noise)
    of_variant = np.bincount(found.variant, found.weight)
    assert of_variant[0] / of_variant[1] == pytest.approx(40)
    assert any("its host tells" in one for one in Fit(windows(), found, alike[::-1]).notes)
    assert not any("its host tells" in one for one in fitted().notes)


def test_a_load_with_several_parameters_is_served_and_one_that_none_can_serve_is_said() -> None:
    of_user = Chain((Phase("hot-cold:f=0.1,r=0.9", (0.5,)),), PAGES * 4096)
    assert wa.workload(of_user.spec(PAGES)) == wa.workload(
        f"phases(writes={PAGES // 2},of=hot-cold(f=0.1,r=0.9),turns=1)"
    )
    nobody = replace(table(), log_op=np.full_like(table().log_op, np.nan))
    with pytest.raises(wa.WriteampError, match="no simulated drive"):
        weigh(nobody, windows().wa, None)


def npz(**arrays: Any) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def npy(array: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def flipped(content: bytes) -> bytes:
    at = content.index(b"wa.npy") + 200  # within the compressed bytes
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda _: b"damaged",
    "empty": lambda _: b"",
    "cut": lambda content: content[: len(content) // 2],
    "one byte": flipped,
    "other archive": lambda _: npz(log_op=np.zeros(3)),
    "other shape": lambda _: npz(log_op=np.zeros((1, 3, 1)), wa=np.ones((1, 3, 1, 1))),
    "no drives": lambda _: npz(log_op=np.full((1, 3, 2), np.nan), wa=np.full((1, 3, 2, 1), np.nan)),
    "no WA": lambda _: npz(log_op=np.zeros((1, 3, 2)), wa=np.full((1, 3, 2, 1), np.nan)),
    "one array": lambda _: npy(np.zeros(3)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_table_is_simulated_once_unless_its_file_is_damaged(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    chain = Chain((Phase("uniform", (0.5,)),), PAGES * 4096)
    calls: list[int] = []

    def made() -> CandidateTable:
        return table_of(
            chain,
            grid=replace(GRID, op=(0.2, 0.3)),
            families=SOME[:1],
            runner=Here(),
            progress=lambda done, whole: calls.append(done),
        )

    first = made()
    assert calls == [1, 2, 3]
    again = made()
    assert calls == [1, 2, 3]
    assert again.wa == pytest.approx(first.wa, rel=1e-6)
    [file] = (tmp_path / "cache" / "writeamp").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert made().wa == pytest.approx(first.wa)
    assert calls == [1, 2, 3] * 2


def test_the_file_of_windows_tells_nothing_but_what_counters_say(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    windows().write(path)
    found = read_windows(path)
    assert found.wa == pytest.approx(windows().wa)
    assert b"sepgc" not in path.read_bytes()
    assert b"greedy" not in path.read_bytes()
    assert set(found.frame().columns) == {"repeat", "window", "host_bytes", "flash_bytes", "chain"}
    cut = replace(
        found,
        **{
            name: getattr(found, name)[:-4]
            for name in ("repeat", "window", "host_bytes", "flash_bytes")
        },
    )
    cut.write(path)
    with pytest.raises(wa.WriteampError, match=r"lacks windows \[6\] of 6"):
        read_windows(path)
    path.write_bytes(b"no parquet")
    with pytest.raises(wa.WriteampError, match="is no file of windows"):
        read_windows(path)


class ToldHost(RangesHost):
    """A host whose drive writes twice what it is asked, and which may be interrupted."""

    def __init__(self, ends_after: int = 1000) -> None:
        self.ends_after = ends_after
        self.discarded = 0
        self.written = 0.0
        self.offsets: list[np.ndarray] = []

    def discard(self) -> None:
        self.discarded += 1

    def write(self, offsets: np.ndarray, lengths: np.ndarray, done: Callable[[int], None]) -> None:
        if len(self.offsets) == self.ends_after:
            raise KeyboardInterrupt
        self.offsets.append(offsets)
        self.written += float(lengths.sum())
        done(int(lengths.sum()))

    def read_counters(self) -> tuple[float, float]:
        return self.written, 2 * self.written


def test_a_driven_chain_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    chain = replace(
        CHAIN, phases=(*CHAIN.phases, *chain_of(1, chunks=True, capacity_bytes=1).phases[1:])
    )
    path = tmp_path / "t.parquet"
    whole, first, second = ToldHost(), ToldHost(5), ToldHost()
    drive_chain(whole, SavedWindows.at(tmp_path / "whole.parquet", chain, ["x"]), seed=3)
    with pytest.raises(KeyboardInterrupt):
        drive_chain(first, SavedWindows.at(path, chain, ["x"]), seed=3)
    with pytest.raises(wa.WriteampError, match=r"lacks windows \[3, .*goes on"):
        read_windows(path)
    with pytest.raises(wa.WriteampError, match="a part of another measurement"):
        SavedWindows.at(path, chain, ["y"])
    drive_chain(second, SavedWindows.at(path, chain, ["x"]), seed=3)
    assert (first.discarded, second.discarded) == (1, 0)
    found, expected = [*first.offsets, *second.offsets], whole.offsets
    assert all(np.array_equal(a, b) for a, b in zip(found[:5], expected[:5], strict=True))
    # What was cut off is drawn anew: to write the same once more would be a loop.
    assert [one.size for one in found] == pytest.approx([one.size for one in expected], rel=0.01)
    assert not np.array_equal(found[5], expected[5])
    told = read_windows(path)
    assert told.wa == pytest.approx([1] * chain.windows)
    assert told.host_bytes == pytest.approx(read_windows(tmp_path / "whole.parquet").host_bytes)
    spans = np.diff([0, *(part.end_pages for part in chain.parts(PAGES))]) * 4096
    assert told.host_bytes[1:] == pytest.approx(spans, abs=2**20)
    assert sum(told.host_bytes) == pytest.approx(chain.written_bytes, rel=0.02)
    # One that is whole may be replaced.
    assert not SavedWindows.at(path, chain, ["y"]).rows


def test_windows_that_are_damaged_are_not_measured_anew_unasked(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    windows().write(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(wa.WriteampError, match=r"cannot be read as windows.*remove it"):
        SavedWindows.at(path, CHAIN, ["x"])
    path.write_bytes(b"something else, which --out replaces")
    assert not SavedWindows.at(path, CHAIN, ["x"]).rows


def test_repeats_that_were_measured_are_kept(tmp_path: Path) -> None:
    drive = wa.device(logical_pages=PAGES, pages_per_block=16, op=0.2)
    policy = Policy.of("single", "greedy", None)

    def measured(repeats: int, progress: Callable[[int, int], None] | None = None) -> Windows:
        kept = SavedWindows.at(tmp_path / "t.parquet", CHAIN, ["drive"])
        return measure(drive, policy, CHAIN, repeats=repeats, kept=kept, progress=progress)

    def interrupted(done: int, whole: int) -> None:
        if done > 0.6 * whole:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(2, interrupted)
    begun: list[int] = []
    found = measured(2, lambda done, whole: begun.append(done))
    assert begun[0] > found.host_bytes.sum() / 4096 / 2
    again = measure(drive, policy, CHAIN, repeats=2)
    assert np.array_equal(found.flash_bytes, again.flash_bytes)


def csv(path: Path, rows: list[tuple[float, float]]) -> Path:
    path.write_text("host_bytes,flash_bytes\n" + "".join(f"{a},{b}\n" for a, b in rows))
    return path


def test_windows_may_be_read_elsewhere(tmp_path: Path) -> None:
    size = PAGES * 4096
    usual = [(size, 1.1 * size), *((size * w, 2 * size * w) for w in (0.25, 0.5) * 3)]
    path = tmp_path / "windows.csv"
    found = windows_of_csv(csv(path, usual), CHAIN, None)
    assert found.sequential_factor == pytest.approx(1.1)
    assert found.wa == pytest.approx([2 / 1.1] * 6)
    assert found.noise is None
    assert windows_of_csv(csv(path, usual[1:]), CHAIN, None).sequential_factor == 1
    assert windows_of_csv(csv(path, usual * 2), CHAIN, None).noise is not None
    counters = np.cumsum(usual, axis=0).tolist()
    with pytest.raises(wa.WriteampError, match="in each window, not the counters"):
        windows_of_csv(csv(path, counters), CHAIN, None)
    with pytest.raises(wa.WriteampError, match="host bytes; the plan has 7"):
        windows_of_csv(csv(path, usual[:4]), CHAIN, None)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(wa.WriteampError, match="columns host_bytes and flash_bytes"):
        windows_of_csv(path, CHAIN, None)


@pytest.mark.parametrize(
    ("factor", "wa_of_window", "sentence"),
    [(1.6, 2.0, "a cache that is folded"), (1.0, 0.5, "less than its host")],
)
def test_drives_that_no_candidate_can_be_are_refused(
    factor: float, wa_of_window: float, sentence: str
) -> None:
    rows = [(0, -1, 100.0, 100 * factor), *((0, at, 10.0, 10 * wa_of_window) for at in range(6))]
    with pytest.raises(wa.WriteampError, match=sentence):
        fit(windows_of(CHAIN, rows), table=table())


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    write_profile(path, fitted().profile(), [])
    return path


def test_a_twin_predicts_what_the_drive_comes_to(profile: Path) -> None:
    load = {"workload": "hot-cold:f=0.2,r=0.8", "writes": 30_000}
    real = wa.simulate(
        logical_pages=PAGES, pages_per_block=16, op=0.2, manager="sepgc", replicas=1, **load
    )
    found = wa.simulate(profile, **load)
    assert isinstance(found, Mixture)
    low, high = found.ci90
    assert 0.97 * low <= real.wa <= 1.03 * high
    assert found.ci[0] <= low < found.wa < high <= found.ci[1]
    assert sum(one.candidate.weight for one in found.runs) > 0.9


def test_a_recording_is_served_by_every_drive_that_it_may_be(profile: Path, tmp_path: Path) -> None:
    trace = str(recorded(tmp_path, requests(20_000)))
    found = wa.simulate(profile, trace=trace)
    assert isinstance(found, Mixture)
    first = found.runs[0]
    one = first.candidate
    assert (one.manager, one.victims) != (POLICY["manager"], POLICY["victims"])
    alone = wa.simulate(
        "generic",
        trace=trace, op=one.op, pages_per_block=one.erase_unit_pages,
        manager=one.manager, victims=one.victims,
    )  # fmt: skip
    assert first.wa == alone.wa
    # What was recorded is asked about, and no WA that lasts: these few requests are not steady.
    assert not alone.steady
    assert np.isnan(alone.ci[0])
    assert alone.spread is not None
    assert first.half_width == alone.spread.wa_spread
    assert found.ci90[1] - found.ci90[0] < 0.2 * found.wa
    smaller = wa.simulate(profile, trace=trace, op=0.5)
    assert smaller.wa < found.wa
    assert wa.simulate(profile, trace=trace, size="32MiB").wa == found.wa
    with pytest.raises(wa.WriteampError, match="was recorded on a drive of 32 MiB"):
        wa.simulate(profile, trace=trace, size="64MiB")


def test_what_is_given_is_replaced_in_all_candidates(profile: Path) -> None:
    less = wa.simulate(profile, writes=2000)
    more = wa.simulate(profile, op=0.5, manager="single", writes=2000)
    assert isinstance(less, Mixture)
    assert isinstance(more, Mixture)
    assert {one.candidate.op for one in more.runs} == {0.5}
    assert {one.candidate.manager for one in more.runs} == {"single"}
    assert len({one.candidate.op for one in less.runs}) > 1
    assert more.wa < less.wa


def test_a_comparison_mixes_all_candidates_under_each_manager(profile: Path) -> None:
    found = wa.compare(profile, managers="single,sepgc,wolf", writes=3000)
    single, sepgc, wolf = found.rows
    mixed = wa.simulate(profile, manager="single", writes=3000, warmup=1500)
    assert isinstance(mixed, Mixture)
    of_rows = [row.substitutes[-1].mixture.runs for row in (single, sepgc)]  # type: ignore[attr-defined]
    assert [one.candidate for one in of_rows[0]] == [one.candidate for one in mixed.runs]
    assert single.wa == pytest.approx(mixed.wa, rel=1e-6)
    assert single.ci[0] < single.wa < single.ci[1]
    assert {one.candidate.manager for one in of_rows[1]} == {"sepgc"}
    assert {one.candidate.victims for one in of_rows[0]} == {"greedy"}
    assert wolf.wa > 1
    document = single.to_dict()
    assert len(document["candidates"]) == len(mixed.runs)
    assert document["wa_ci90"][0] >= document["wa_ci95"][0]
    assert any("most probable candidates" in one for one in found.notes)


def test_a_comparison_of_candidates_keeps_its_runs_and_its_other_rows(
    profile: Path, tmp_path: Path
) -> None:
    asked = {"managers": "single,wolf", "writes": 2000, "out": tmp_path / "study"}
    first = wa.compare(profile, workload="uniform", **asked)
    again = wa.compare(profile, workload="uniform", **asked)
    assert first.kept is not None
    assert again.kept is not None
    assert (first.kept.done, again.kept.done) == (again.kept.skipped, 0)
    assert [row.wa for row in again.rows] == [row.wa for row in first.rows]
    many = "/".join("1" * 40)
    with pytest.raises(wa.WriteampError, match="40 groups of pages") as failed:
        wa.compare(profile, workload=f"groups:sizes={many},freq={many}", **asked)
    assert [row.manager for row in failed.value.finished.rows] == ["single"]
    impossible = wa.Experiment.of("compare", device=profile, managers="dac:regions=64")
    with pytest.raises(wa.WriteampError, match="dac"):
        wa.run(impossible)


def test_an_answer_is_of_all_candidates(profile: Path) -> None:
    found = wa.answer(profile, workload="uniform", writes=6000, quick=True)
    mixed = wa.simulate(profile, workload="uniform", writes=6000)
    assert isinstance(mixed, Mixture)
    assert found.mixture is not None
    assert found.simulated is not None
    assert [one.candidate for one in found.mixture.runs] == [one.candidate for one in mixed.runs]
    assert found.simulated.wa == pytest.approx(mixed.wa, rel=0.02)
    assert found.simulated.ci[0] < found.simulated.wa < found.simulated.ci[1]
    assert len(found.to_dict()["candidates"]) == len(mixed.runs)
    more_op = next(one for one in found.advice if one.change.startswith("op "))
    assert more_op.wa < more_op.wa_now
    assert more_op.ci[1] - more_op.ci[0] > 0.01 * more_op.wa
    assert any("other ways of the first" in note for note in found.notes)


def test_a_life_is_as_wide_as_the_candidates_differ(profile: Path) -> None:
    from writeamp.drives.lifetime.under_load import factors  # noqa: PLC0415

    load = {"device": profile, "workload": "uniform"}
    found = factors(0.0, **load)
    assert found.candidates > 1
    middle, low, high = found.years
    assert low < middle < high
    # The more it writes, the sooner it is worn out; flash beside that is as good as the same.
    assert found.wa[2] * low == pytest.approx(1, rel=0.05)
    more = factors(0.3, **load)
    assert more.candidates == found.candidates
    alone = factors(0.3, device="generic", size="4MiB", workload="uniform")
    assert (alone.candidates, alone.years) == (1, (1.0, 1.0, 1.0))


def test_a_large_twin_is_simulated_as_a_capacity(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = wa.simulate(profile, writes=2000)
    monkeypatch.setattr("writeamp.studies.candidates._MOST_PAGES", PAGES - 1)
    found = wa.simulate(profile, writes=2000)
    assert isinstance(usual, Mixture)
    assert isinstance(found, Mixture)
    assert [one.candidate for one in found.runs] == [one.candidate for one in usual.runs]
    assert found.wa == pytest.approx(usual.wa, rel=0.1)


def test_a_verb_of_one_drive_takes_the_most_probable_and_says_so(profile: Path) -> None:
    found = wa.endurance(profile, w_max=5, replicas=1)
    best = fitted().candidates[0]
    assert any("this is the most probable" in one for one in found.notes)
    assert str(found.plan.policy).startswith("sepgc, greedy")
    assert found.plan.device.pages_per_block == best.erase_unit_pages
    assert wa.device(profile).op == pytest.approx(best.op, rel=0.01)


def test_a_virtual_drive_is_the_most_probable(profile: Path) -> None:
    from writeamp.settings.device import DeviceSettings  # noqa: PLC0415
    from writeamp.vssd.settings import (  # noqa: PLC0415
        BuiltInPolicySettings,
        DriveSettings,
    )
    from writeamp.vssd.specification import specify  # noqa: PLC0415

    found = specify(DeviceSettings(profile=profile), BuiltInPolicySettings(), DriveSettings())
    assert str(found.policy).startswith("sepgc, greedy")
    assert found.device.pages_per_block == fitted().candidates[0].erase_unit_pages
    assert any("most probable" in one for one in found.plan.notes)
    asked = BuiltInPolicySettings(victims="fifo")
    found = specify(DeviceSettings(profile=profile, op=0.4), asked, DriveSettings())
    assert str(found.policy).startswith("sepgc, fifo")
    assert found.device.op == pytest.approx(0.4, rel=0.01)


def test_an_experiment_on_a_twin_is_kept_in_a_file(profile: Path, tmp_path: Path) -> None:
    asked = wa.Experiment.of("simulate", device=profile, writes=3000)
    asked.to_toml(tmp_path / "experiment.toml")
    again = wa.Experiment.from_toml(tmp_path / "experiment.toml")
    assert again.candidates is not None


def test_a_damaged_posterior_is_refused(profile: Path) -> None:
    text = profile.read_text()
    for changed in (
        text.replace("logical_pages", "logical"),
        text.replace('manager = "sepgc"', "manager_ = 1"),
        text.replace("weight = 0", "weight = -0"),
    ):
        profile.write_text(changed)
        with pytest.raises(wa.WriteampError, match=r"\[twin\]"):
            wa.simulate(profile, writes=100)


def test_the_median_of_a_mixture_is_between_its_parts() -> None:
    def run(weight: float, found: float) -> CandidateRun:
        return CandidateRun(Candidate("single", "greedy", 0.2, 64, weight), found, 0.0, True)

    mixed = Mixture("mine.toml", "uniform", (run(0.5, 2.0), run(0.5, 4.0)), 0.01)
    assert 2.0 < mixed.wa < 4.0
    assert mixed.ci[0] == pytest.approx(2.0, rel=0.04)
    assert mixed.ci[1] == pytest.approx(4.0, rel=0.04)
    alone = Mixture("mine.toml", "uniform", (run(1.0, 2.0),), 0.01)
    assert alone.ci[1] == pytest.approx(2 * math.exp(0.0196), rel=1e-4)


def test_the_table_tells_its_own_error() -> None:
    errors = table_error(table())
    assert errors.shape == table().wa.shape
    assert 0.003 <= errors.min() < errors.max() < 0.3
    shaken = replace(table(), wa=table().wa.copy())
    shaken.wa[1] *= np.exp(np.random.default_rng(1).normal(0, 0.05, shaken.wa[1].shape))
    more = table_error(shaken)
    assert more[1].mean() > 1.3 * errors[1].mean()
    assert more[0] == pytest.approx(errors[0])


def test_a_rough_table_decides_less() -> None:
    rough = replace(table(), wa=table().wa.copy())
    rough.wa[:, :, 1::2] *= 1.3  # what no neighbour foretells
    at = table().wa[2, 1, 2]
    assert weigh(rough, at, 0.005).table_error > 2 * weigh(table(), at, 0.005).table_error


def test_likely_candidates_are_simulated_where_the_table_is_off() -> None:
    # What the table says of the hidden drive's variant is 10% too much.
    off = replace(table(), wa=table().wa * np.array([1, 1, 1.1])[:, None, None, None])
    at = windows()
    by_table = Fit(at, weigh(off, at.wa, 0.005), off.variants)
    found, true = fit(at, table=off), fitted()
    assert abs(found.op[0] / true.op[0] - 1) < 0.01 < abs(by_table.op[0] / true.op[0] - 1)
    assert fit(at, table=off).op == found.op


def test_streams_that_no_victim_is_chosen_by_are_a_guess() -> None:
    variants = tuple(Variant(manager, "fifo") for manager in ("single", "sepgc"))
    alike = replace(
        table(),
        variants=variants,
        family_of=(0, 1),
        log_op=table().log_op[[0, 0]],
        wa=table().wa[[0, 0]],
    )
    wa_there = alike.wa[0, 1, 4]
    weighed = weigh(alike, wa_there, 0.005)
    found = Fit(windows_of_wa(wa_there), weighed, variants)
    assert found.separation_probability == pytest.approx(0.2, abs=0.01)
    assert found.classes[0] == ["single, fifo", "sepgc, fifo"]
    assert "is a guess" in found.notes[0]


def windows_of_wa(wa_there: np.ndarray) -> Windows:
    """Return windows of a drive, without its fill."""
    numbers = np.arange(wa_there.size)
    return Windows(CHAIN, np.zeros_like(numbers), numbers, np.ones(wa_there.size), wa_there)


def test_the_fewest_candidates_carry_the_weight() -> None:
    members = tuple(
        Candidate("single", "greedy", 0.1 * at, 64, weight)
        for at, weight in enumerate((0.6, 0.3, 0.06, 0.04), 1)
    )
    found = Candidates(1000, 0.01, members)
    assert len(found.carrying) == 3
    assert [one.weight for one in found.replaced(op=0.2).members] == [pytest.approx(1.0)]


def test_weights_follow_the_windows() -> None:
    at = table().wa[2, 1, 2]
    found = weigh(table(), at, 0.005)
    assert found.weight[found.variant == 2].sum() > 0.9
    assert found.weight.sum() == pytest.approx(1)


def test_a_plan_says_what_fio_is_to_do(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    document = in_process.document("twin plan", f"--capacity 1GB --chunks --out {path}")
    assert document["cost"]["drive_writes"] == pytest.approx(6.25)
    chain = Chain.read(path)
    assert chain == chain_of(4, chunks=True, capacity_bytes=10**9)
    jobs = fio_jobs(chain)
    assert jobs.count("[window-") == chain.windows + 2  # two streams beside each other, twice
    assert "no fio job" not in fio_jobs(chain_of(6, chunks=True, capacity_bytes=10**9))
    path.write_text("[chain]\ncapacity_bytes = 5\npage_bytes = 4096\nphases = []\n")
    with pytest.raises(wa.WriteampError, match="has no phase"):
        Chain.read(path)


@pytest.mark.parametrize(
    ("capacity_bytes", "pages"),
    [(2**20, 2**12), (2**27, 2**15), (130 * 10**6, 2**15), (2**29, 2**17), (10**12, 2**17)],
)
def test_a_small_drive_has_candidates_as_small(capacity_bytes: int, pages: int) -> None:
    found = grid_of(chain_of(4, chunks=False, capacity_bytes=capacity_bytes))
    assert found.logical_pages == pages
    assert (found == Grid()) is (pages == Grid().logical_pages)


def test_the_verbs_work_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The table that the package has is enough for what is to be seen here.
    monkeypatch.setattr("writeamp.learn.twin.table.grid_of", lambda chain: Grid())
    measured, mine = tmp_path / "t.parquet", tmp_path / "mine.toml"
    document = in_process.document(
        "twin measure",
        f"--target generic --size 4MiB --pages-per-block 16 --op 0.2 --out {measured}",
    )
    assert len(document["windows"]) == 8
    document = in_process.document("twin fit", f"{measured} --out {mine}")
    assert {
        "op",
        "op_low",
        "op_high",
        "erase_unit_pages",
        "families",
        "separation",
        "misfit",
        "noise",
        "sequential_factor",
        "windows",
    } <= set(document)
    assert document["op_low"] <= document["op"] <= document["op_high"]
    document = in_process.document("simulate", f"--device {mine} --writes 5000")
    assert {"wa", "wa_ci90", "wa_ci95", "candidates"} <= set(document)
