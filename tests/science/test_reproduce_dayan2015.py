"""Paper 3's simulated values, computed anew in short; its analytic part has tests of its own."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from elsewhere import AsElsewhere
from writeamp.plots import save
from writeamp.reproduce import PAPERS, Bench, Findings, Item
from writeamp.reproduce.dayan2015 import allocation
from writeamp.reproduce.dayan2015.drives import SHORT, run
from writeamp.reproduce.dayan2015.paper import PARTS

# What the text leaves open decides these, and nothing else.
UNDERDETERMINED = {
    "Fig. 2: migrations of LRU beyond greedy, 1 M writes after a double swap (%)",
    "Fig. 6: extra migrations if 10% and 90% swap (% of PBA), FDP",
    "Fig. 7: extra migrations if 10% and 90% swap (% of PBA), Wolf",
    'Fig. 8: largest difference of FDP and Wolf in PBA ("up to 2.2x")',
    "Fig. 8: mean difference of FDP and Wolf over that of groups one place further apart, largest",
    "Fig. 10: migrations that the optimum saves over the closed form (%)",
    "Fig. 10, in theory: WA of the closed form over the optimum, groups known (%)",
    "Fig. 10: Wolf is consistently better, its WA less that of FDP's groups (%)",
    "Fig. 10: WA of FDP's groups over Wolf's (\"approximately 22%\", %)",
}
PRINTED = {
    "Fig. 2": 15,
    "Fig. 6": 152.1,
    "Fig. 7": 0.7,
    "Fig. 8: largest": 2.2,
    "Fig. 10: migrations": 0.2,
    "Fig. 10: WA of FDP": 22,
}


@pytest.fixture(scope="module")
def found() -> Findings:
    bench = Bench(figures=True, runner=AsElsewhere())
    return sum((part(bench) for part in PARTS if part is not allocation.run), Findings())


def items(found: Findings, start: str) -> list[Item]:
    return [item for item in found.items if item.item.startswith(start)]


def test_the_paper_is_registered_with_its_analytic_part() -> None:
    assert allocation.run in PARTS
    assert PAPERS["dayan2015"].parts == PARTS


def test_nothing_differs_and_only_what_the_text_leaves_open_is_underdetermined(
    found: Findings,
) -> None:
    verdicts = {item.item: item.verdict for item in found.items}
    assert len(verdicts) == len(found.items)
    assert all(math.isfinite(item.ours) for item in found.items)
    assert {name for name, verdict in verdicts.items() if verdict == "underdetermined"} == (
        UNDERDETERMINED
    )
    assert set(verdicts.values()) == {"match", "underdetermined"}


def test_the_printed_values_stand_beside_ours(found: Findings) -> None:
    for start, published in PRINTED.items():
        assert any(item.published == published for item in items(found, start)), start


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
    wins = items(found, "Fig. 8: Wolf's extra migrations less FDP's")
    assert len(wins) == 10
    assert all(item.verdict == "match" and item.ours < -1 for item in wins)


def test_a_short_memory_is_what_makes_wolf_cheap_and_an_old_class_what_makes_fdp_dear(
    found: Findings,
) -> None:
    costs = {
        item.item.rsplit(", ", 1)[1]: item.ours
        for item in items(found, "extra migrations if 10% and 90% swap")
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
    # The free blocks of a new drive take the first writes.
    assert found.migrated(0, round(0.2 * writes)) == 0 < found.migrated(writes // 2, writes)
    assert np.all(found.groups == 1)
    assert not len(found.created)


def test_the_figures_of_the_simulated_part_can_be_drawn(found: Findings, tmp_path: Path) -> None:
    assert set(found.figures) == {
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
