"""Twins: hidden drives are found by their windows, and predict with intervals."""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import in_process
import writeamp as wa
from twins import CHAIN, GRID, PAGES, SOME, fitted, table, windows
from writeamp._engine import candidates
from writeamp.devices.policy import Policy
from writeamp.learn.twin.chain import Chain, Phase, chain_of
from writeamp.learn.twin.families import FAMILIES, Variant
from writeamp.learn.twin.fitting import Fit, fit
from writeamp.learn.twin.likelihood import weigh
from writeamp.learn.twin.measuring import measure
from writeamp.learn.twin.plan import fio_jobs
from writeamp.learn.twin.serving import Grid
from writeamp.learn.twin.table import (
    CandidateTable,
    _simulated,
    _trace_of,
    table_error,
    table_of,
)
from writeamp.learn.twin.windows import (
    Windows,
    windows_of,
)
from writeamp.runners import Here, Progress


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


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


def test_candidates_are_declared_once_and_build_on_a_small_drive() -> None:
    variants = [variant for family in FAMILIES for variant in family]
    assert len(set(variants)) == len(variants)
    assert [variant for variant in variants if not _trace_of(variant)] == []
    for managers, victims, are_usual in candidates():
        assert {Variant(*pair).is_usual for pair in product(managers, victims)} == {are_usual}


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
    assert any("host hints" in one for one in Fit(windows(), found, alike[::-1]).notes)
    assert not any("host hints" in one for one in fitted().notes)


def test_a_load_with_several_parameters_is_served_and_one_that_none_can_serve_is_said() -> None:
    of_user = Chain((Phase("hot-cold:f=0.1,r=0.9", (0.5,)),), PAGES * 4096)
    assert wa.workload(of_user.spec(PAGES)) == wa.workload(
        f"phases(writes={PAGES // 2},of=hot-cold(f=0.1,r=0.9),turns=1)"
    )
    nobody = replace(table(), log_op=np.full_like(table().log_op, np.nan))
    with pytest.raises(wa.WriteampError, match="too few spare blocks"):
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
    at = content.index(b"wa.npy") + 60  # within the compressed bytes
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda _: b"damaged",
    "empty": lambda _: b"",
    "cut": lambda content: content[: len(content) // 2],
    "one byte": flipped,
    "other archive": lambda _: npz(log_op=np.zeros(3)),
    "other shape": lambda _: npz(log_op=np.zeros((3, 1)), wa=np.ones((3, 1, 1))),
    "no WA": lambda _: npz(log_op=np.zeros((3, 2)), wa=np.full((3, 2, 1), np.nan)),
    "one array": lambda _: npy(np.zeros(3)),
}


TINY = Chain((Phase("uniform", (0.5,)),), PAGES * 4096)
TINY_GRID = replace(GRID, op=(0.2, 0.3))


def tiny_table(families: int, progress: Progress) -> CandidateTable:
    """Return a table of some of `SOME`, whose jobs are three for each family."""
    return table_of(
        TINY,
        grid=TINY_GRID,
        families=SOME[:families],
        runner=Here(),
        progress=progress,
    )


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_table_is_simulated_once_unless_its_file_is_damaged(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    calls: list[int] = []

    def made() -> CandidateTable:
        return tiny_table(1, lambda done, whole: calls.append(done))

    first = made()
    assert calls == [0, 1, 2, 3]
    again = made()
    assert calls == [0, 1, 2, 3]
    assert np.array_equal(again.wa, first.wa)
    [file] = (tmp_path / "cache" / "writeamp" / "twin").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert np.array_equal(made().wa, first.wa)
    assert calls == [0, 1, 2, 3] * 2


def test_a_table_that_was_interrupted_continues(tmp_path: Path) -> None:
    calls: list[int] = []

    def interrupt(done: int, whole: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="1 of 2 pairs of policies are simulated"):
        tiny_table(2, interrupt)
    continued = tiny_table(2, lambda done, whole: calls.append(whole))
    assert calls == [3, 3, 3, 3]
    log_op, of_windows = _simulated(TINY.usual, TINY_GRID, (SOME[1][0], 8))
    assert np.array_equal(continued.log_op[1, 0], log_op)
    assert continued.wa[1, 0] == pytest.approx(of_windows, rel=1.3e-4)


def test_a_table_may_be_simulated_twice_at_once_and_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Barrier(2)

    def wait_at_first(done: int, whole: int) -> None:
        if done == 1:
            both.wait()

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(tiny_table, (2, 2), (wait_at_first, wait_at_first))
    assert np.array_equal(one.wa, other.wa)
    cached = tmp_path / "cache" / "writeamp" / "twin"
    assert len(list(cached.iterdir())) == 2
    no_folder = next(cached.iterdir())
    monkeypatch.setenv("XDG_CACHE_HOME", str(no_folder))
    assert np.array_equal(tiny_table(2, lambda done, whole: None).wa, one.wa)


@pytest.mark.parametrize(
    ("factor", "wa_of_window", "sentence"),
    [(1.6, 2.0, "emptying an SLC cache"), (1.0, 0.5, "less than the host")],
)
def test_drives_that_no_candidate_can_be_are_refused(
    factor: float, wa_of_window: float, sentence: str
) -> None:
    rows = [(0, -1, 100.0, 100 * factor), *((0, at, 10.0, 10 * wa_of_window) for at in range(6))]
    with pytest.raises(wa.WriteampError, match=sentence):
        fit(windows_of(CHAIN, rows), table=table())


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
    assert "is uncertain" in found.notes[0]


def windows_of_wa(wa_there: np.ndarray) -> Windows:
    """Return windows of a drive, without its fill."""
    numbers = np.arange(wa_there.size)
    return Windows(CHAIN, np.zeros_like(numbers), numbers, np.ones(wa_there.size), wa_there)


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
    assert "fio cannot write" not in fio_jobs(chain_of(6, chunks=True, capacity_bytes=10**9))
    path.write_text("[chain]\ncapacity_bytes = 5\npage_bytes = 4096\nphases = []\n")
    with pytest.raises(wa.WriteampError, match="has no phase"):
        Chain.read(path)


@pytest.mark.parametrize(
    ("capacity_bytes", "pages"),
    [(2**20, 2**12), (2**27, 2**15), (130 * 10**6, 2**15), (2**29, 2**17), (10**12, 2**17)],
)
def test_a_small_drive_has_candidates_as_small(capacity_bytes: int, pages: int) -> None:
    found = chain_of(4, chunks=False, capacity_bytes=capacity_bytes).grid
    assert found.logical_pages == pages
    assert (found == Grid()) is (pages == Grid().logical_pages)


def test_the_verbs_work_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small: dict[str, Any] = {"grid": replace(GRID, op=GRID.op[::4]), "families": SOME[2:]}
    monkeypatch.setattr(
        "writeamp.learn.twin.fitting.table_of",
        lambda served, **given: table_of(served, **given | small),
    )
    measured, mine = tmp_path / "t.parquet", tmp_path / "mine.toml"
    document = in_process.document(
        "twin measure",
        f"--target generic --size 4MiB --pages-per-block 16 --op 0.2 --out {measured}",
    )
    assert len(document["windows"]) == 8
    document = in_process.document("twin fit", f"{measured} --out {mine} --workers 1")
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


def test_refinement_reports_its_progress() -> None:
    calls: list[tuple[int, int]] = []
    fit(windows(), table=table(), progress=lambda done, total: calls.append((done, total)))
    done, totals = zip(*calls, strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {done[-1]}
