"""Verdicts of items from their numbers, and results of the command from verdicts."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stand_in_runners import Backwards
from writeamp.citations import PAPERS as CITED
from writeamp.citations import CitedPaper
from writeamp.cli import main
from writeamp.errors import WriteampError
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.runners import Here
from writeamp_papers import (
    PAPERS,
    Bench,
    Erratum,
    Findings,
    Item,
    Paper,
    Reading,
    at_most,
    by_choice,
    checked,
    compared,
    find_paper,
    fitted_to,
    known,
    ordered,
    surprises,
    typed_in,
    within,
)

Command = Callable[..., tuple[int, str, str]]

MISPRINT = Erratum(corrected=2.0, tolerance=0.01, why="a digit is missing")
BY_WINDOW = {"A": 1.2, "B": 2.0}


@pytest.mark.parametrize(
    ("published", "ours", "tolerance", "verdict"),
    [
        (2.466, 2.473, 0.0247, "match"),
        (1.24, 1.235, 0.005, "match"),  # in floating point, they differ by slightly more than 0.005
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
    assert item.full_note() == "1.2 to 1.4; and more"
    assert (item.published, item.tolerance) == (pytest.approx(1.3), pytest.approx(0.1))


@pytest.mark.parametrize(
    ("ours", "verdict"), [(1.0, "match"), (2.005, "erratum"), (2.02, "differs")]
)
def test_an_erratum_needs_our_value_to_be_the_corrected_one(ours: float, verdict: str) -> None:
    item = compared("x", 1.0, ours, 0.1, erratum=MISPRINT)
    assert item.verdict == verdict
    assert ("a digit is missing" in item.full_note()) == (verdict == "erratum")


def test_an_item_matches_under_the_default_or_else_under_a_reading_that_is_named() -> None:
    default = compared("x", 1.2, BY_WINDOW, 0.1)
    assert (default.verdict, default.reading, default.ours) == ("match", "A", 1.2)
    other = compared("x", 2.0, BY_WINDOW, 0.1, note="and more")
    assert (other.verdict, other.reading, other.ours) == ("match-if", "B", 1.2)
    assert other.full_note() == "2 under B; and more"


@pytest.mark.parametrize("factor", [2, 100])
def test_readings_that_lie_far_apart_excuse_nothing_where_none_agrees(factor: float) -> None:
    item = compared("x", 3.0, BY_WINDOW, 0.1)
    assert (item.verdict, item.reading) == ("differs", None)
    assert item.scaled(factor).verdict == "differs"
    assert compared("x", 1.2, BY_WINDOW, 0.1).scaled(factor).verdict == "differs"


def test_an_upper_bound_is_met_by_anything_below_it_and_by_its_tolerance() -> None:
    assert at_most("x", 1.2, 1.0).verdict == "match"
    assert at_most("x", 1.2, 1.25, 0.1).verdict == "match"
    assert at_most("x", 1.2, 1.3).verdict == "differs"
    assert at_most("x", 1.2, math.nan).verdict == "differs"
    assert at_most("x", 1.5, {"A": 2.0, "B": 1.0}).verdict == "match-if"
    assert at_most("x", 1.2, 1.0).bound
    assert not compared("x", 1.2, 1.0, 1).bound


def test_a_tie_is_no_ordering() -> None:
    assert ordered("x", 0.999).verdict == "match"
    assert ordered("x", 1.0).verdict == "differs"
    assert ordered("x", -0.1, below=0).verdict == "match"
    assert ordered("x", {"A": 1.0, "B": 0.9}).verdict == "match-if"


@pytest.mark.parametrize(("of", "verdict"), [(typed_in, "input"), (checked, "checked")])
def test_what_compares_no_print_with_a_computation_is_counted_apart(
    of: Callable[[Item], Item], verdict: str
) -> None:
    found = Findings([of(compared("a", 1, 1, 0)), of(compared("b", 1, {"A": 2, "B": 1}, 0))])
    assert [item.verdict for item in found.items] == [verdict, "differs"]
    assert len(found.comparable()) == 1


def test_an_item_has_a_value_for_each_joint_reading_or_is_refused() -> None:
    assert compared("x", 1.0, 3.0, 0.1).under("AB").values == {"A": 3.0, "B": 3.0}
    assert list(compared("x", 1.0, BY_WINDOW, 0.1).under("BA").values) == ["B", "A"]
    with pytest.raises(ValueError, match="'x' has values of"):
        compared("x", 1.0, BY_WINDOW, 0.1).under("ABC")


def test_a_choice_is_expanded_to_the_readings_that_make_it() -> None:
    readings = [Reading("A", {"window": "1"}), Reading("B", {"window": "64"})]
    assert by_choice(readings, "window", {"1": 2.0, "64": 1.2}) == {"A": 2.0, "B": 1.2}
    with pytest.raises(KeyError):
        by_choice(readings, "window", {"1": 2.0})


def test_a_reading_but_for_some_choices_makes_the_others_as_before_and_no_new_ones() -> None:
    ours = Reading("A", {"window": "1", "state": "aged"})
    assert ours.but("B", {"state": "fresh"}) == Reading("B", {"window": "1", "state": "fresh"})
    with pytest.raises(ValueError, match="A has no choice for wndow"):
        ours.but("C", {"wndow": "64"})


def test_matches_are_counted_under_each_joint_reading() -> None:
    items = [
        compared("a", 1.2, BY_WINDOW, 0),
        compared("b", 2.0, BY_WINDOW, 0),
        compared("c", 2.0, {"A": 9.0, "B": 2.0}, 0),
        compared("d", 2.0, {"A": 9.0, "B": 9.0}, 0),
        typed_in(compared("e", 2.0, 2.0, 0)),
        fitted_to(compared("f", 2.0, 2.0, 0)),
    ]
    found = Findings([item.under("AB") for item in items])
    assert (found.matches("A"), found.matches("B"), len(found.comparable())) == (1, 2, 4)
    assert found.count() == {
        "match": 1,
        "match-if": 2,
        "erratum": 0,
        "differs": 1,
        "not-comparable": 0,
        "fitted": 1,
        "input": 1,
        "checked": 0,
    }


@pytest.fixture
def pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Store a known difference "known" (3 ± 0.5) and an incomparable "clock" for paper "toy"."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/known.toml").write_text(
        '[[difference]]\nreason = "the paper has another drive"\npins.known = [3, 0.5]\n'
        '[[not_comparable]]\nreason = "an old desktop"\nitems = ["clock"]\n'
    )
    monkeypatch.setattr(known, "_FOLDER", tmp_path)
    known.known_differences.cache_clear()
    known.not_comparable.cache_clear()
    yield tmp_path / "toy/known.toml"
    known.known_differences.cache_clear()
    known.not_comparable.cache_clear()


@pytest.mark.usefixtures("pinned")
@pytest.mark.parametrize(
    ("ours", "surprise"),
    [(3.4, ""), (3.6, "is now 3.6 (differs)"), (6.0, "is now 6 (differs)"), (1.0, "(match)")],
)
def test_a_pinned_difference_is_a_surprise_as_soon_as_it_moves(ours: float, surprise: str) -> None:
    found = surprises("toy", [compared("known", 1.0, ours, 0.1)])
    assert len(found) == bool(surprise)
    assert surprise in "".join(found)


def test_a_difference_that_is_not_pinned_is_a_surprise_and_so_is_a_pin_without_an_item(
    pinned: Path,
) -> None:
    agreeing, differing = compared("a", 1, 1, 0), compared("b", 1, 2, 0)
    at_pin = compared("known", 1.0, 3.0, 0.1)
    assert surprises("toy", [agreeing, differing, at_pin]) == [
        "b: the computed 2 differs from the published 1"
    ]
    assert surprises("toy", [agreeing]) == [
        "known: in known.toml, but the paper has no item of this name"
    ]
    assert surprises("toy", [agreeing], whole=False) == []
    # A known difference applies to short or to full reproductions, unless its form is "every".
    assert surprises("toy", [at_pin], "full") == [
        "known: the computed 3 differs from the published 1"
    ]
    pinned.write_text('[[difference]]\nform = "every"\nreason = "a"\npins.known = [3, 0.5]\n')
    known.known_differences.cache_clear()
    assert [surprises("toy", [at_pin], form) for form in ("short", "full")] == [[], []]


@pytest.mark.usefixtures("pinned")
def test_only_what_is_on_the_list_is_not_comparable(command: Command) -> None:
    items = [compared("clock", 60, 0.1, 1), compared("wall", 1, 1, 0)]
    status, out, _ = command([*items, compared("known", 1.0, 3.0, 0.1)], "--json")
    found = {item["item"]: item["verdict"] for item in json.loads(out)["items"]}
    assert found == {"clock": "not-comparable", "wall": "match", "known": "differs"}
    assert status == 0


@pytest.mark.parametrize("paper", PAPERS)
def test_every_pin_and_every_left_out_number_has_a_reason(paper: str) -> None:
    for form in ("part", "short", "full"):
        assert all(one.reason for one in known.known_differences(paper, form).values())
    assert all(known.not_comparable(paper).values())


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


@pytest.mark.parametrize("cited", CITED, ids=lambda cited: cited.name)
def test_a_paper_that_writeamp_cites_is_the_one_that_is_reproduced(cited: CitedPaper) -> None:
    citation = PAPERS[cited.name].citation
    assert cited.title.lower() in citation.lower()
    assert all(family in citation for _, family in cited.authors)


LINE = Line([1.0, 2.0], [1.0, 2.0], "#000000", label="wa")
FIGURE = PanelChart("t", "s", "x", "y", (Panel("p", (LINE,)),), 1)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command line on a paper "toy" with the given items; return status and output."""

    def run(
        items: list[Item], *arguments: str, skipped: tuple[str, ...] = ()
    ) -> tuple[int, str, str]:
        def reproduce(bench: Bench) -> Findings:
            return Findings(items, {"figure": FIGURE} if bench.figures else {}, list(skipped))

        toy = Paper("toy", "Toy et al. 2026", "a toy", (reproduce,))
        monkeypatch.setitem(PAPERS, "toy", toy)
        monkeypatch.setattr(sys, "argv", ["writeamp", "reproduce", "toy", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return run


MATCHING = compared("Table 1: WA [of it]", 2.0, 2.001, 0.01).under(["as printed"])
DIFFERING = compared("Table 2: WA", 2.0, 3.0, 0.01).under(["as printed"])


def test_a_differing_item_makes_the_status_1_and_is_shown(command: Command) -> None:
    assert command([MATCHING])[0] == 0
    status, out, err = command([MATCHING, DIFFERING])
    assert status == 1
    assert "unexpected: Table 2: WA: the computed 3 differs from the published 2" in err
    assert '1 of 2 comparable values match under the default reading "as printed"' in out
    assert "no explanation is known" in out
    assert "Table 1: WA [of it]" in out
    assert "Toy et al. 2026" in out


def test_json_has_the_paper_and_every_item_with_every_key(command: Command) -> None:
    unknown = compared("x", 1.0, math.nan, 0.1)
    status, out, err = command([MATCHING, unknown], "--json")
    document = json.loads(out)
    assert status == 1
    assert err == ""
    assert set(document) == {"paper", "readings", "items", "unexpected", "skipped"}
    assert document["paper"] == "toy"
    assert document["readings"] == [
        {"name": "as printed", "choices": {}, "default": True, "matches": 1, "comparable": 2}
    ]
    keys = {"item", "published", "ours", "tolerance", "verdict", "reading", "values", "bound"}
    keys |= {"kind", "statement", "note"}
    assert [set(item) for item in document["items"]] == [keys, keys]
    assert document["items"][1]["ours"] is None


@pytest.mark.usefixtures("pinned")
def test_what_the_machine_cannot_run_is_told_and_its_pins_are_not_missed(command: Command) -> None:
    lacking = "Fig. 9: sysbench not installed"
    status, _, err = command([MATCHING], skipped=(lacking,))
    assert (status, err) == (0, f"skipped: {lacking}\n")
    status, out, err = command([MATCHING], "--json", skipped=(lacking,))
    assert (status, err) == (0, "")
    assert json.loads(out)["skipped"] == [lacking]


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
