"""Recomputed values of the analytic part of paper 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from writeamp.plots import save
from writeamp_papers import Bench, Findings
from writeamp_papers.dayan2015.allocation import run

PUBLISHED = [
    ("valid share δ at LBA/PBA 0.7", 0.466996422),
    ("WA = 1/(1-δ) at LBA/PBA 0.7", 1.876160014),
    ("workloads, Q = 10", 1023),
    ("workloads, Q = 20", 1_042_014),
    ("WA (%), Q = 10, LBA/PBA 0.7", 2.01),
    ("WA (%), Q = 20, LBA/PBA 0.7", 5.84),
    ("WA (%), Q = 10, LBA/PBA 0.9", 2.73),
    ("WA (%), Q = 20, LBA/PBA 0.9", 8.90),
    *((f"Q = 10, {n} groups", mean) for n, mean in enumerate((0.236, 0.396, 0.384, 0.315), 2)),
    *((f"Q = 20, {n} groups", mean) for n, mean in enumerate((0.484, 0.857, 0.964, 0.948), 2)),
]
ERRATA = {
    "eq. 4: (δ-1)/ln δ of a group with s = 0.7, OP = 0.3",
    "eq. 7, second line: space of all groups / LBA at LBA/PBA 0.7",
    "eq. 8: space of all groups / LBA at LBA/PBA 0.7",
    'section 5.5.3: largest mean excess of closed-form WA (%), any LBA/PBA ("below 1%")',
    "Fig. 4: mean excess of closed-form WA (%), Q = 10, 5 groups",
}


@pytest.fixture(scope="module")
def found() -> Findings:
    return run(Bench(figures=True))


def test_nothing_differs_and_exactly_the_known_misprints_are_errata(found: Findings) -> None:
    verdicts = {item.item: item.verdict for item in found.items}
    assert len(verdicts) == len(found.items)
    assert {name for name, verdict in verdicts.items() if verdict == "erratum"} == ERRATA
    assert set(verdicts.values()) == {"match", "erratum", "checked"}


def test_every_published_value_is_an_item(found: Findings) -> None:
    for name, published in PUBLISHED:
        assert [i for i in found.items if name in i.item and i.published == published], name


def test_the_figures_that_need_no_simulation_can_be_drawn(found: Findings, tmp_path: Path) -> None:
    assert [name.split("-")[0] for name in found.figures] == ["fig1", "fig3", "fig4", "fig5"]
    for name, spec in found.figures.items():
        save(spec, tmp_path / f"{name}.svg")
        assert "paper 3" in (tmp_path / f"{name}.svg").read_text("utf-8")
