"""Values of paper 4, recomputed with scaled-down drives and short runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from replayed import Replay, assert_matches_are_computed
from reproduced import assert_reproduced
from writeamp import meanfield
from writeamp_papers import PAPERS, Bench, Findings
from writeamp_papers.verschoren2019 import levelers, wear

# Every value of the tables: the items' names are tested by their number.
TABLE_1, TABLE_2 = 12, 32
ROW_1_AS_PRINTED = "Table 1, ODE: b=64, S_f=0.15, d/d*=4/1, r/f=0.96/0.24"


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay()


@pytest.fixture(scope="module")
def found(replay: Replay) -> Findings:
    return PAPERS["verschoren2019"].run(Bench(figures=True, runner=replay))


def test_the_tables_agree_with_print_to_the_printed_digits(found: Findings) -> None:
    of_table = {
        name: [i for i in found.items if i.item.startswith(name)]
        for name in ("Table 1, ODE", "Table 1, simulation", "Table 2")
    }
    assert [len(items) for items in of_table.values()] == [TABLE_1 + 1, TABLE_1, TABLE_2]
    for name in ("Table 1, ODE", "Table 2"):
        for item in of_table[name]:
            assert item.verdict == "erratum" or abs(item.ours - item.published) <= 0.5001e-4
    for item in of_table["Table 1, simulation"]:
        assert abs(item.ours / item.published - 1) <= 0.0015


def test_the_errata_are_the_known_ones(found: Findings) -> None:
    errata = {i.item: i.ours for i in found.items if i.verdict == "erratum"}
    assert set(errata) == {
        ROW_1_AS_PRINTED,
        "Table 2: case 3, d*=4",
        "Table 2: case 2, d*=128",
    }
    assert errata[ROW_1_AS_PRINTED] == pytest.approx(2.641733, abs=5e-7)
    assert errata["Table 2: case 3, d*=4"] == pytest.approx(2.963749, abs=5e-7)
    assert errata["Table 2: case 2, d*=128"] == pytest.approx(3.431954, abs=5e-7)


def test_all_is_found_again(found: Findings) -> None:
    assert_reproduced("verschoren2019", found)


def test_every_match_is_computed(found: Findings, replay: Replay) -> None:
    roots = [(meanfield, name) for name in ("hot_cold", "hot_cold_swap")]
    assert_matches_are_computed(
        found,
        lambda: PAPERS["verschoren2019"].run(Bench(runner=replay.changed())),
        *roots,
        counted={"section 6: best d at r=0.9 ÷ best d at r=0.99 (it grows with hotness)"},
    )


def test_the_figures_are_drawn_from_what_was_computed(found: Findings) -> None:
    assert set(found.figures) == {"fig1-hcwf-over-d", "fig2-3-life-r90", "fig2-3-life-r99"}


def test_equal_lives_fail_every_order_of_d_and_of_swaps() -> None:
    alike = SimpleNamespace(pe_fairness=0.5)
    lives = {(mode, d, r): alike for mode in wear._MODES for d in wear._D for r in (0.9, 0.99)}
    items = [*wear._fairness_over_d(lives, 0.9), *wear._best_parameters(lambda *_: 100.0)]
    assert len(items) == 6
    assert {item.verdict for item in items} == {"differs"}


def test_every_scheme_of_the_comparison_with_levelers_lives_and_levels() -> None:
    outcomes = levelers.outcomes(Bench(), levelers.synthetic_loads(200)[:1], w_max=300, replicas=2)
    by_scheme = {one.scheme: one for one in outcomes}
    assert len(by_scheme) == len(levelers.SCHEMES)
    plain, swap = by_scheme["hcwf"], by_scheme["hcwf-swap"]
    assert swap.wa < plain.wa
    for scheme, one in by_scheme.items():
        assert one.pe_fairness > plain.pe_fairness or scheme == "hcwf"
    figure = levelers.figure(outcomes, subtitle="")
    assert [len(panel.lines) for panel in figure.panels] == [len(outcomes)]


@pytest.mark.parametrize(("r", "workload"), [(0.9, "f=0.1,r=0.9"), (0.99, "f=0.01,r=0.99")])
def test_the_drives_of_figures_2_and_3_are_those_of_their_captions(
    monkeypatch: pytest.MonkeyPatch, r: float, workload: str
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(wear, "endurance", lambda **settings: asked.update(settings))
    wear.SHORT.life("hcwf:d=5", r)
    assert asked["workload"] == f"hot-cold:{workload}"
    assert (asked["pages_per_block"], asked["spare_factor"]) == (32, 0.1)
