"""Tables on narrow terminals: names are folded and never cut, numbers stay whole."""

from __future__ import annotations

import io
import re
import threading
from importlib import import_module
from itertools import zip_longest

import pytest
from rich.cells import cell_len
from rich.table import Table

from writeamp import runners
from writeamp.cli import boundary, options, progress_bar
from writeamp.cli.terminal import Terminal

LONG = "nvme-fdp:handles=2,isolation=persistent"
HEADINGS = ["manager", "victims", ">WA", ">gc/host", ">fairness", ">B/page", ">M pages/s"]
ROWS = [
    ["wolf-interval", "greedy", "2.2390 ± 0.0020", "1.239", "0.190", "6.15", "1.2"],
    [LONG, "cost-benefit", "2.66 ± 0.35", "1.658", "0.132", "0.60", "27.1"],
]
FACTS = [("workload", LONG), ("programmed: wear leveling", "10,000 pages"), ("run", "a b " * 40)]


def shown(table: Table, columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal, terminal_file = Terminal(), io.StringIO()
    terminal.file = terminal_file
    terminal.print(table)
    return terminal_file.getvalue()


def letters(text: str) -> str:
    """Return a text without the lines, the spaces and the breaks of tables."""
    return re.sub(r"[\s│┃]", "", text)


@pytest.mark.parametrize("columns", [200, 100, 80, 60, 40])
@pytest.mark.parametrize(
    "table",
    [
        options.table("a title", HEADINGS, ROWS),
        options.table("a title", HEADINGS[:1] + HEADINGS[2:], [row[:1] + row[2:] for row in ROWS]),
        options.table("a title", ["model", ">WA", "assumes"],
                      [["uniform-distribution", "5.5000", "uniform random writes, " * 8]]),
        options.facts(FACTS),
    ],
    ids=["of two names", "of one name", "of words", "of facts"],
)  # fmt: skip
def test_a_table_fits_the_terminal_and_loses_nothing(
    table: Table, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shown(table, columns, monkeypatch)
    assert max(map(cell_len, out.splitlines())) <= columns
    assert "…" not in out
    lines = [re.split("[│┃]", line)[1:-1] for line in out.splitlines()]
    read = [letters("".join(cells)) for cells in zip_longest(*filter(None, lines), fillvalue="")]
    for column in table.columns:
        for cell in column.cells:
            if column.no_wrap:
                assert str(cell) in out
            # Below its heading, or in a list beside it.
            assert any(letters(str(cell)) in one for one in read)


def test_columns_come_closer_before_rows_become_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    table = options.table("", HEADINGS[:1] + HEADINGS[2:], [row[:1] + row[2:] for row in ROWS])
    wide, closer, stacked = (shown(table, columns, monkeypatch) for columns in (100, 66, 40))
    assert "│ wolf-interval " in wide
    assert "│wolf-interval " in closer
    assert re.search(r"│ manager +│ wolf-interval +│", stacked)
    assert re.search(r"│ M pages/s +│ 27\.1 +│", stacked)
    assert letters(LONG) in letters(stacked)


def test_a_table_has_room_as_long_as_it_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = options.table("", HEADINGS, ROWS)
    for columns in (200, 100, 80, 60, 40):
        monkeypatch.setenv("COLUMNS", str(columns))
        is_list = "│ M pages/s" in shown(table, columns, monkeypatch)
        assert Terminal().has_room_for(table) is not is_list


def test_short_names_stay_whole_where_prose_has_lines_to_spare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = options.table("", ["model", "assumes"], [["uniform-distribution", "words " * 40]])
    assert "uniform-distribution" in shown(table, 60, monkeypatch)


def test_a_unit_in_a_heading_is_broken_only_where_closer_columns_are_not_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = options.table("", HEADINGS[:1] + HEADINGS[2:], [row[:1] + row[2:] for row in ROWS])
    units = ("gc/host", "B/page", "M pages/s")
    for columns in (100, 80, 76):
        out = shown(table, columns, monkeypatch)
        assert all(unit in out for unit in units)
    assert "M pages/s" not in shown(table, 66, monkeypatch)


def test_a_heading_of_words_is_folded_before_columns_come_closer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = options.table("", ["manager", ">gc per host page"], [["single", "1.239"]])
    assert "gc per host page" in shown(table, 40, monkeypatch)
    table = options.table("", ["manager", *[">gc per host page"] * 2], [["single", "1", "2"]])
    folded = shown(table, 40, monkeypatch)
    assert "┃    gc per ┃" in folded
    assert "┃ host page ┃" in folded


class FakeClock(progress_bar.Clock):
    """Clock whose time passes only in `wait`, which ends the thread after some lines."""

    def __init__(self, lines: int) -> None:
        self.time_s, self.waits, self.lines = 0.0, 0, lines
        self.begins, self.is_over = threading.Event(), threading.Event()

    def now_s(self) -> float:
        return self.time_s

    def wait(self, end: threading.Event, seconds: float) -> bool:
        self.begins.wait(60)
        if self.waits == self.lines:
            self.is_over.set()
            return True
        self.waits += 1
        self.time_s += seconds
        return False


def test_progress_in_a_pipe_is_a_line_after_20_s_and_then_every_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, lines = FakeClock(3), list[str]()
    bar = progress_bar.Bar("reading", lambda done, whole: f"{done} of {whole}", clock=clock)

    def say(line: str) -> None:
        lines.append(line)
        if len(lines) == 2:
            bar.update(6, 9)

    monkeypatch.setattr(boundary, "say", say)
    bar.update(3, 9)
    with bar:
        runners.report_wa(2.5, 0.015)
        clock.begins.set()
        assert clock.is_over.wait(60)
    words = "progress: reading {} of 9, WA 2.500 ±0.6%, {} so far, about {} left"
    times = (3, "20 s", "40 s"), (3, "1 min", "3 min"), (6, "2 min", "1 min")
    assert lines == [words.format(*each) for each in times]


def test_a_step_of_a_reproduction_begins_a_new_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, lines = FakeClock(1), list[str]()
    monkeypatch.setattr(boundary, "say", lines.append)
    bar = progress_bar.Bar("reproducing", lambda done, whole: f"{done} of {whole}", clock=clock)
    bar.update(9, 9)
    bar.describe("Fig. 2")
    clock.begins.set()
    with bar:
        assert clock.is_over.wait(60)
    assert lines == ["progress: Fig. 2, 20 s so far"]


# Verbs that may be silent for seconds: each shows what it does.
@pytest.mark.parametrize(
    "module",
    [
        "writeamp.cli.allocate", "writeamp.cli.diff", "writeamp.cli.explore",
        "writeamp.cli.meanfield", "writeamp.cli.predict", "writeamp.cli.report",
        "writeamp.cli.sweep_show", "writeamp.cli.trace", "writeamp.cli.volumes",
        "writeamp.drives.cli.doctor", "writeamp.drives.cli.lifetime",
        "writeamp.drives.cli.measure_counters", "writeamp.drives.cli.measure_fleet",
        "writeamp.drives.cli.measure_history", "writeamp.learn.cli.blackbox_explain",
        "writeamp.learn.cli.blackbox_predict",
        "writeamp_papers.cli",
    ],
)  # fmt: skip
def test_a_verb_that_takes_long_shows_progress(module: str) -> None:
    assert import_module(module).Bar is progress_bar.Bar


def test_of_a_sentence_that_is_longer_than_any_path_both_ends_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    boundary.say(f"begin {'a' * 200_000} end")
    said = capsys.readouterr().err
    assert said.startswith("writeamp: begin aaa")
    assert said.endswith("aaa end\n")
    assert len(said) < 1100
