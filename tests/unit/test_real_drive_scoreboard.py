"""The scoreboard of real drives agrees with its counters, with itself and with README."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from places import ROOT
from writeamp.learn.twin.phases.counted import CountedPhase
from writeamp.learn.twin.phases.table import read_drives

PAGE = (ROOT / "docs/real-drive-scoreboard.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
COUNTERS = ROOT / "tests/data/real-drives/ssdiq_counters.csv"
NOTE = "`make scoreboard` writes the page"


def rows_of(page: str) -> Iterator[dict[str, str]]:
    """Return the rows of all tables, with the names of their columns."""
    names: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells:
            names = []
        elif not names:
            names = cells
        elif set("".join(cells)) != {"-"}:
            yield dict(zip(names, cells, strict=True))


def phases() -> dict[tuple[str, str], CountedPhase]:
    return {
        (drive.name, f"`{phase.name}`"): phase
        for drive in read_drives(COUNTERS)
        for phase in drive.phases
    }


def differences(page: str) -> list[str]:
    """Return the phases whose measured WA on the page is not that of the counters."""
    measured = {
        (row["drive"], row["phase"]): row["measured"]
        for row in rows_of(page)
        if row.get("phase", "").startswith("`")
    }
    counted = {
        key: "" if phase.steady is None else f"{phase.steady.wa:.4f}"
        for key, phase in phases().items()
    }
    keys = sorted({*measured, *counted})
    return [f"{key}" for key in keys if measured.get(key) != counted.get(key)]


def predictions(page: str) -> list[dict[str, str]]:
    return [row for row in rows_of(page) if "fifths inside" in row and "phase" in row]


def percent(text: str) -> float:
    return float(text.rstrip("%")) / 100


def faults(page: str) -> list[str]:
    """Return the predictions on a page whose error or verdict does not follow from their WA."""
    names = {
        (row["drive"], row["name above"]): row["measured"]
        for row in rows_of(page)
        if "name above" in row
    }
    wrong = []
    for row in predictions(page):
        measured, predicted = float(row["measured"]), float(row["predicted"])
        low, high = map(float, row["90% interval"].split(" to "))
        # Errors were computed before WA was rounded.
        is_error = abs(predicted / measured - 1 - percent(row["error"])) < 6e-4
        is_verdict = (low <= measured <= high) is (row["inside"] == "yes")
        if not (is_error and is_verdict and names[row["drive"], row["phase"]] == row["measured"]):
            wrong.append(f"{row['drive']}, {row['phase']}, learnt from {row['learnt from']}")
    return wrong


def test_the_page_has_each_phase_of_the_counters_with_its_measured_wa() -> None:
    assert differences(PAGE) == [], NOTE
    (first, *_) = (phase.steady for phase in phases().values() if phase.steady)
    assert len(differences(PAGE.replace(f"| {first.wa:.4f} ", "| 1.2345 "))) >= 1


def test_the_errors_of_the_page_follow_from_its_wa() -> None:
    assert len(predictions(PAGE)) > 50
    assert faults(PAGE) == [], NOTE
    assert faults(PAGE.replace("| yes |", "| **no** |")) != []


def test_the_page_begins_with_the_errors_of_its_predictions() -> None:
    tests = predictions(PAGE)
    errors = [abs(float(row["predicted"]) / float(row["measured"]) - 1) for row in tests]
    inside = sum(row["inside"] == "yes" for row in tests) / len(tests)
    (total,) = (row for row in rows_of(PAGE) if row.get("twin learnt from") == "**all**")
    assert int(total["predictions"]) == len(tests)
    assert percent(total["median error"]) == pytest.approx(np.median(errors), abs=6e-4)
    assert percent(total["90th percentile"]) == pytest.approx(np.quantile(errors, 0.9), abs=6e-4)
    assert percent(total["measured WA inside the 90% interval"]) == pytest.approx(inside, abs=6e-3)
    answer = PAGE.split("\n\n")[0]
    assert all(total[name] in answer for name in ("median error", "90th percentile"))


def test_the_page_has_the_order_of_active_zones() -> None:
    of_8_gib = {
        row["phase"].split(", ")[1]: (float(row["measured"]), float(row["predicted"]))
        for row in predictions(PAGE)
        if row["phase"].startswith("zones of 8 GiB, ")
    }
    few, two, eight, many = (of_8_gib[f"{number} active"] for number in (1, 2, 8, 32))
    for at in range(2):
        assert few[at] < two[at] < many[at] < eight[at]


def test_the_readme_has_the_errors_of_the_page() -> None:
    answer = re.search(r"median error is (\S+), the 90th percentile (\S+), and (\S+) of", PAGE)
    item = re.search(
        r"\*\*Real drives\*\*: .* median error of (\S+) \(90th percentile (\S+)\), and (\S+) of",
        README,
    )
    assert answer
    assert item
    assert item.groups() == answer.groups()
