"""Finished parts of reproductions, and the reproduction of all papers (`make reproduce`)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from writeamp.errors import Interrupted
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp_papers import (
    PAPERS,
    Bench,
    Erratum,
    Findings,
    Item,
    Paper,
    compared,
    every_paper,
    finished,
    gallery,
    reproduction,
)

LINE = Line([1.0, 2.0], [1.0, 2.0], "#000000", label="wa")
FIGURE = PanelChart("t", "s", "x", "y", (Panel("p", (LINE,)),), 1)
MATCHING = compared("Table 1: WA", 2.0, 2.001, 0.01).under(["as printed"])
DIFFERING = compared("Table 2: WA", 2.0, 3.0, 0.01).under(["as printed"])
MISPRINTED = compared("a", 1.0, 2.0, 0.1, erratum=Erratum(2.0, 0.1, "why")).under(["as printed"])


def test_a_reproduction_continues_after_the_parts_that_an_interrupted_one_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "save", lambda _, path: path.touch())
    items = [MATCHING, replace(DIFFERING, values={"as printed": math.inf}), MISPRINTED]
    begun: list[str] = []

    def first(_: Bench) -> Findings:
        begun.append("first")
        return Findings(items, {"figure": FIGURE})

    def second(_: Bench) -> Findings:
        begun.append("second")
        if len(begun) == 2:
            raise KeyboardInterrupt
        return Findings([DIFFERING], skipped=["Fig. 9: sysbench not installed"])

    paper = Paper("toy", "Toy et al. 2026", "a toy", (first, second, lambda _: Findings()))
    kept, plots = tmp_path / "kept", tmp_path / "plots"
    for folder in (kept, plots):
        folder.mkdir()
    bench = Bench(resume=kept, plots=plots)
    with pytest.raises(Interrupted) as stopped:
        paper.run(bench)
    assert stopped.value.finished.unfinished == (2, 3)
    assert stopped.value.finished.items == items
    assert paper.run(bench).items == [*items, DIFFERING]
    assert begun == ["first", "second", "second"]
    # Again: a part that was not complete, one with a missing figure, another form.
    paper.run(bench)
    assert begun[3:] == ["second"]
    (plots / "figure.png").unlink()
    paper.run(bench)
    paper.run(replace(bench, full=True))
    assert begun[4:] == ["first", "second"] * 2


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Bench], bool]:
    """Run a paper of one part with finished parts; return whether the part was computed."""
    monkeypatch.setattr(finished, "save", lambda _, path: path.touch())
    begun: list[Bench] = []

    def compute(bench: Bench) -> Findings:
        begun.append(bench)
        return Findings([MATCHING, MISPRINTED], {"figure": FIGURE} if bench.figures else {})

    def run(bench: Bench) -> bool:
        before = len(begun)
        paper = Paper("toy", "Toy et al. 2026", "a toy", (compute,))
        assert paper.run(replace(bench, resume=tmp_path)).items == [MATCHING, MISPRINTED]
        return len(begun) > before

    return run


def test_a_part_is_computed_again_if_its_figures_were_not(
    runs: Callable[[Bench], bool], tmp_path: Path
) -> None:
    (tmp_path / "plots").mkdir()
    with_figures = Bench(figures=True, plots=tmp_path / "plots")
    assert [runs(bench) for bench in (Bench(), Bench(), with_figures, with_figures, Bench())] == [
        *(True, False, True, False, False)
    ]
    assert (tmp_path / "plots" / "figure.png").is_file()


def test_a_part_is_computed_again_with_other_traces(
    runs: Callable[[Bench], bool], tmp_path: Path
) -> None:
    (tmp_path / "traces").mkdir()
    trace = tmp_path / "traces" / "financial1.spc"
    trace.write_text("0,1,2,r,0.1")
    with_traces = Bench(traces=trace.parent)
    assert [runs(bench) for bench in (Bench(), with_traces, with_traces)] == [True, True, False]
    trace.write_text("0,1,2,w,0.1\n")
    assert runs(with_traces)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: "[" * 100_000,
        lambda _: "[]",
        lambda text: text[:-1],
        lambda text: text.replace('"items": [', '"items": [[], '),
        lambda text: text.replace('{"as printed": 2.001}', "[2.001]"),
        lambda text: text.replace('{"as printed": 2.001}', "{}"),
        lambda text: text.replace('"published": 2.0', '"published": "2"'),
        lambda text: text.replace('"corrected": 2.0', '"right": 2.0'),
    ],
)
def test_a_damaged_part_is_computed_again(
    change: Callable[[str], str], runs: Callable[[Bench], bool], tmp_path: Path
) -> None:
    assert runs(Bench())
    (path,) = tmp_path.glob("*.json")
    text = path.read_text()
    path.write_text(change(text))
    assert path.read_text() != text
    assert runs(Bench())
    assert not runs(Bench())


def test_a_new_reason_why_a_number_is_not_comparable_is_that_of_parts_already_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Paper("toy", "Toy et al. 2026", "a toy", (lambda _: Findings([MATCHING]),))
    for reason in ("an old desktop", "a clock"):

        def with_reason(_: str, items: list[Item], reason: str = reason) -> list[Item]:
            return [replace(item, not_comparable=reason) for item in items]

        monkeypatch.setattr("writeamp_papers.paper.without_comparison", with_reason)
        (item,) = toy.run(Bench(resume=tmp_path)).items
        assert item.not_comparable == reason
    assert len(list(tmp_path.iterdir())) == 1


def test_a_part_depends_on_the_files_of_its_paper_and_not_on_known_differences() -> None:
    def names(paper: str) -> set[str]:
        return {path.name for path in finished._own(paper)}

    of_huang = names("huang2011")
    assert {"items.py", "tables.py", "tree_choice.toml", "workload_classes.py"} <= of_huang
    assert not {"known.toml", "tpcc.py"} & of_huang
    assert {"cassandra.fio", "drive.py"} <= names("park2017")


def test_all_papers_are_reproduced_although_one_differs_and_another_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    items, forms = {"toy": [DIFFERING], "toy 2": [MATCHING]}, []

    def paper(name: str) -> Paper:
        def run(bench: Bench) -> Findings:
            forms.append(bench.full)
            if name == "toy 2" and len(forms) == 2:
                raise KeyboardInterrupt
            return Findings(items[name], {"figure": FIGURE})

        return Paper(name, "Toy et al. 2026", "a toy", (run,))

    for module in (every_paper, gallery):
        monkeypatch.setattr(module, "PAPERS", papers := {name: paper(name) for name in items})
    monkeypatch.setattr(reproduction, "PAPERS", papers)
    monkeypatch.setattr(reproduction, "find_paper", papers.__getitem__)
    monkeypatch.setattr(every_paper, "MINUTES", {"toy": 90.0, "toy 2": 30.0})
    assert every_paper.reproduce_all(tmp_path) == 130
    assert not (tmp_path / "index.html").exists()
    out, err = capsys.readouterr()
    assert out.startswith("all papers take about 2.0 hours on two quiet cores")
    assert "toy: 1 differs" in out
    assert "toy: unexpected: Table 2: WA" in err
    assert "interrupted in toy 2; the same command continues" in err
    assert every_paper.reproduce_all(tmp_path) == 1
    assert forms == [True] * 3
    assert (tmp_path / "toy 2" / "figure.png").is_file()
    assert json.loads((tmp_path / "toy.json").read_text())["items"][0]["verdict"] == "differs"
    assert "toy 2" in (tmp_path / "index.html").read_text()


def test_the_time_of_every_paper_is_known() -> None:
    assert set(every_paper.MINUTES) == set(PAPERS)
