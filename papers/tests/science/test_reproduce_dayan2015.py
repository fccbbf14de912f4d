"""Values of paper 3, by its model and in short simulations of scaled-down drives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from replayed import Replay, assert_matches_are_computed
from reproduced import assert_reproduced
from writeamp.plots import save
from writeamp_papers import PAPERS, Bench, Findings, Item
from writeamp_papers.dayan2015 import allocation
from writeamp_papers.dayan2015.blocks import divided_space
from writeamp_papers.dayan2015.drives import SHORT, run

ERRATA = {
    "eq. 4: (δ-1)/ln δ of a group with s = 0.7, OP = 0.3",
    "eq. 7, second line: space of all groups / LBA at LBA/PBA 0.7",
    "eq. 8: space of all groups / LBA at LBA/PBA 0.7",
    'section 5.5.3: largest mean excess of closed-form WA (%), any LBA/PBA ("below 1%")',
    "Fig. 4: mean excess of closed-form WA (%), Q = 10, 5 groups",
}


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay()


@pytest.fixture(scope="module")
def found(replay: Replay) -> Findings:
    return PAPERS["dayan2015"].run(Bench(figures=True, runner=replay))


def items(found: Findings, start: str) -> list[Item]:
    return [item for item in found.items if item.item.startswith(start)]


def test_all_is_found_again_but_for_what_is_known_to_differ(found: Findings) -> None:
    assert_reproduced("dayan2015", found)
    assert {item.item for item in found.items if item.verdict == "erratum"} == ERRATA


def test_every_match_is_computed(
    found: Findings, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Workloads of fewer chunks are other workloads, and take no time.
    for name in ("explore", "configurations"):
        fewer = partial(_with_fewer_chunks, getattr(wa.allocation, name))
        monkeypatch.setattr(wa.allocation, name, fewer)
    names = ("explore", "optimal", "closed_form")
    roots = [(wa.allocation, name) for name in names]
    assert_matches_are_computed(
        found,
        lambda: PAPERS["dayan2015"].run(Bench(runner=replay.changed())),
        (allocation, "expected_value"),
        *roots,
    )


def _with_fewer_chunks(call: Callable[..., Any], chunks: int, *rest: Any, **settings: Any) -> Any:
    return call(chunks // 2 + 4, *rest, **settings)


def test_the_printed_weight_is_the_default_and_gives_more_than_the_print(found: Findings) -> None:
    (wolf,) = items(found, "Fig. 7")
    assert (wolf.verdict, wolf.reading) == ("match-if", "3-B short memory")
    assert 5 < wolf.ours < 12


def test_movement_operations_are_needed_once_a_group_is_not_written(found: Findings) -> None:
    (swap, stop) = items(found, "section 5.3: migrations with unlimited movement operations")
    assert (swap.verdict, stop.verdict) == ("match", "match")
    assert stop.ours < 0.2
    assert swap.ours > 0.9


def test_eight_groups_of_fdp_contradict_the_print(found: Findings) -> None:
    (better,) = items(found, "Fig. 10: Wolf is consistently better")
    assert better.verdict == "differs"


def test_only_greedy_collection_across_the_groups_divides_space_by_size() -> None:
    shares, spare = divided_space(SHORT, "wolf:allocation=closed-form", (50, 50), (10, 90))
    assert shares[1] < 0.7 * shares[0]
    assert spare[1] > 2 * spare[0]


def test_drives_in_equilibrium_agree_with_eq_3_and_with_lru_best(found: Findings) -> None:
    of_greedy, of_lru = (
        items(found, f"eq. 3, simulated: uniform writes, {victims}")
        for victims in ("greedy", "LRU")
    )
    assert len(of_greedy) == len(of_lru) == 2
    for greedy, lru in zip(of_greedy, of_lru, strict=True):
        assert 1.845 <= greedy.ours <= 1.885
        assert abs(lru.ours - 1.876) < 0.01
        assert greedy.ours < lru.ours


def test_wolf_wins_all_ten_swaps_of_five_groups(found: Findings) -> None:
    wins = items(found, "Fig. 8: Wolf's extra migrations minus FDP's")
    assert len(wins) == 10
    assert all(item.verdict == "match" and item.ours < -1 for item in wins)


def test_a_short_memory_is_what_makes_wolf_cheap_and_an_old_class_what_makes_fdp_dear(
    found: Findings,
) -> None:
    costs = {
        item.item.rsplit(", ", 1)[1]: item.ours
        for item in items(found, "extra migrations if groups with 10% and 90% of the writes swap")
    }
    assert costs["Wolf with weight 0.015"] < 3
    assert 5 < costs["Wolf with weight 0.003"] < 12
    assert 120 < costs["FDP with the last class"] < 190
    assert 15 < costs["FDP with the current class"] < 40


def test_a_run_counts_from_the_end_of_the_fill() -> None:
    drive = SHORT.device()
    writes = drive.physical_pages
    found = run("single", None, "uniform", drive, writes)
    assert (found.host_pages[0], found.migrations[0]) == (0, 0)
    assert found.host_pages[-1] <= writes < found.host_pages[-1] + found.host_pages[1]
    # The free blocks of a new drive take the first writes, so nothing is migrated at first.
    assert found.migrated(0, round(0.2 * writes)) == 0 < found.migrated(writes // 2, writes)
    assert np.all(found.groups == 1)
    assert not len(found.created)


def test_the_figures_can_be_drawn(found: Findings, tmp_path: Path) -> None:
    assert set(found.figures) == {
        "fig1-equilibrium",
        "fig3-two-groups",
        "fig4-closed-form",
        "fig5-closed-form",
        "fig2-double-swap",
        "fig6-7-swap",
        "fig6-7-extra-migrations",
        "fig6-7-milder-swaps",
        "fig8-five-groups",
        "fig9-updates",
        "fig10-tpcc",
        "fig10-groups",
    }
    for name, spec in found.figures.items():
        save(spec, tmp_path / f"{name}.svg")
        assert "paper 3" in (tmp_path / f"{name}.svg").read_text("utf-8")
    assert "contradicts the print" in (tmp_path / "fig10-tpcc.svg").read_text("utf-8")
