"""The machinery of reproduction: verdicts follow from numbers, and the command from verdicts."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sweeping import Backwards
from writeamp.cli import main
from writeamp.errors import WriteampError
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.reproduce import (
    PAPERS,
    Bench,
    Erratum,
    Findings,
    Item,
    OpenDetail,
    Paper,
    at_most,
    compared,
    find_paper,
    within,
)
from writeamp.reproduce.items import NONE_AGREES
from writeamp.runners import Here

MISPRINT = Erratum(corrected=2.0, tolerance=0.01, why="a digit is missing")
WINDOW = OpenDetail("the window", "64", {"with 1": 2.0, "with 64": 1.2})


@pytest.mark.parametrize(
    ("published", "ours", "tolerance", "verdict"),
    [
        (2.466, 2.473, 0.0247, "match"),
        (1.24, 1.235, 0.005, "match"),  # binary floats put them a hair more than 0.005 apart
        (1.24, 1.2349, 0.005, "differs"),
        (-0.6, 0.6, 0.05, "differs"),
        (1.0, math.nan, 10.0, "differs"),
        (1.0, math.inf, 10.0, "differs"),
    ],
)
def test_a_verdict_follows_from_the_distance(
    published: float, ours: float, tolerance: float, verdict: str
) -> None:
    assert compared("x", published, ours, tolerance).verdict == verdict


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(1.2, "match"), (1.4, "match"), (1.401, "differs"), (1.199, "differs"), (math.nan, "differs")],
)
def test_a_range_is_met_from_end_to_end_and_told(ours: float, verdict: str) -> None:
    item = within("x", 1.2, 1.4, ours, note="and more")
    assert item.verdict == verdict
    assert item.note == "1.2 to 1.4; and more"
    assert (item.published, item.tolerance) == (pytest.approx(1.3), pytest.approx(0.1))


@pytest.mark.parametrize(
    ("ours", "verdict"), [(1.0, "match"), (2.005, "erratum"), (2.02, "differs")]
)
def test_an_erratum_needs_our_value_to_be_the_corrected_one(ours: float, verdict: str) -> None:
    item = compared("x", 1.0, ours, 0.1, erratum=MISPRINT)
    assert item.verdict == verdict
    assert ("a digit is missing" in item.note) == (verdict == "erratum")


def test_an_open_detail_explains_a_value_if_a_choice_agrees_or_moves_it_beyond_the_tolerance() -> (
    None
):
    item = compared("x", 3.0, 1.2, 0.1, open_detail=WINDOW, note="and more")
    assert item.verdict == "underdetermined"
    for said in ("the window", "64", "2 with 1", "1.2 with 64", "and more"):
        assert said in item.note
    powerless = OpenDetail("the colour", "red", {"red": 1.2, "blue": 1.21})
    assert compared("x", 3.0, 1.2, 0.1, open_detail=powerless).verdict == "differs"
    # Where one choice agrees, it decides however near the others are.
    assert compared("x", 1.3, 1.2, 0.095, open_detail=powerless).verdict == "underdetermined"
    assert compared("x", 3.0, math.nan, 0.1, open_detail=WINDOW).verdict == "differs"


def test_a_note_says_if_no_choice_agrees() -> None:
    assert NONE_AGREES in compared("x", 3.0, 1.2, 0.1, open_detail=WINDOW).note
    assert NONE_AGREES in at_most("x", 1.0, 1.2, open_detail=WINDOW).note
    for published in (1.2, 2.0):
        item = compared("x", published, 1.2, 0.1, open_detail=WINDOW)
        assert item.verdict == "underdetermined"
        assert NONE_AGREES not in item.note
    # A bound is kept by whatever is below it, near or not.
    assert NONE_AGREES not in at_most("x", 1.5, 2.0, open_detail=WINDOW).note


def test_a_bound_has_a_tolerance_whatever_the_choice() -> None:
    close = OpenDetail("the colour", "red", {"red": 1.25, "blue": 0.2})
    assert at_most("x", 1.2, 1.25, 0.1, open_detail=close).verdict == "match"


def test_a_choice_that_happens_to_agree_is_no_match_while_another_does_not() -> None:
    assert compared("x", 1.2, 1.2, 0.1, open_detail=WINDOW).verdict == "underdetermined"
    assert compared("x", 1.2, 1.2, 0.9, open_detail=WINDOW).verdict == "match"


def test_an_upper_bound_is_met_by_anything_below_it() -> None:
    assert at_most("x", 1.2, 1.0).verdict == "match"
    assert at_most("x", 1.2, 1.3).verdict == "differs"
    assert at_most("x", 1.2, math.nan).verdict == "differs"
    assert at_most("x", 1.2, 1.3, open_detail=WINDOW).verdict == "underdetermined"
    assert at_most("x", 1.5, 1.2, open_detail=WINDOW).verdict == "underdetermined"
    assert at_most("x", 2.5, 1.2, open_detail=WINDOW).verdict == "match"


def test_one_differing_item_is_enough_not_to_be_reproduced() -> None:
    good, bad = compared("a", 1, 1, 0), compared("b", 1, 2, 0)
    assert Findings([good]).reproduced
    both = Findings([good]) + Findings([bad])
    assert not both.reproduced
    assert both.count() == {"match": 1, "erratum": 0, "underdetermined": 0, "differs": 1}


def test_work_is_done_in_order_and_an_error_comes_through() -> None:
    differences = [(5, 1), (4, 2), (3, 3)]
    for runner in (None, Here(), Backwards()):
        assert Bench(runner=runner).map(lambda a, b: a - b, differences) == [4, 2, 0]
    with pytest.raises(ZeroDivisionError):
        Bench().map(lambda a: 1 // a, [(1,), (0,)])


def test_an_unknown_paper_lists_the_known_ones() -> None:
    with pytest.raises(WriteampError, match=r"unknown paper 'park2018' .*did you mean 'park2017'"):
        find_paper("park2018")


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS.keys())
def test_every_paper_is_registered_under_its_name_and_says_what_it_is(paper: Paper) -> None:
    assert PAPERS[paper.name] is paper
    assert paper.citation
    assert "\n" not in paper.summary


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command line on a paper "toy" with the given items; return status and output."""

    def run(items: list[Item], *arguments: str) -> tuple[int, str, str]:
        def reproduce(bench: Bench) -> Findings:
            line = Line([1.0, 2.0], [1.0, 2.0], "#000000", label="wa")
            figure = PanelChart("t", "s", "x", "y", (Panel("p", (line,)),), 1)
            return Findings(items, {"figure": figure} if bench.figures else {})

        toy = Paper("toy", "Toy et al. 2026", "a toy", (reproduce,))
        monkeypatch.setitem(PAPERS, "toy", toy)
        monkeypatch.setattr(sys, "argv", ["writeamp", "reproduce", "toy", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return run


MATCHING = compared("Table 1: WA [of it]", 2.0, 2.001, 0.01)
DIFFERING = compared("Table 2: WA", 2.0, 3.0, 0.01)


def test_a_differing_item_makes_the_status_1_and_is_shown(command: Command) -> None:
    assert command([MATCHING])[0] == 0
    status, out, _ = command([MATCHING, DIFFERING])
    assert status == 1
    assert "differs" in out
    assert "no explanation is known" in out
    assert "Table 1: WA [of it]" in out
    assert "Toy et al. 2026" in out


def test_json_has_the_paper_and_every_item_with_every_key(command: Command) -> None:
    unknown = compared("x", 1.0, math.nan, 0.1)
    status, out, err = command([MATCHING, unknown], "--json")
    document = json.loads(out)
    assert status == 1
    assert err == ""
    assert set(document) == {"paper", "items"}
    assert document["paper"] == "toy"
    keys = {"item", "published", "ours", "tolerance", "verdict", "note"}
    assert [set(item) for item in document["items"]] == [keys, keys]
    assert document["items"][1]["ours"] is None


def test_plots_go_to_a_folder_that_is_made_for_them(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "plots"
    assert command([MATCHING], "--plots", str(folder))[0] == 0
    assert [path.name for path in folder.iterdir()] == ["figure.png"]


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    status, out, err = command([DIFFERING], "--plots", str(tmp_path / "file" / "plots"))
    assert status == 2
    assert out == ""
    assert err.startswith("writeamp: cannot make folder")
