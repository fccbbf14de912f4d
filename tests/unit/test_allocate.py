"""`writeamp allocate`: its document, its tables and its pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import in_process
from writeamp.allocation import ColdestGroup, closed_form, optimal

GROUPS = "--sizes 0.4,0.3,0.2,0.1 --frequencies 0.05,0.1,0.25,0.6"
SIZES, FREQUENCIES = [0.4, 0.3, 0.2, 0.1], [0.05, 0.1, 0.25, 0.6]


def run(arguments: str) -> in_process.Done:
    return in_process.run("allocate", arguments)


def document(arguments: str) -> dict[str, Any]:
    status, out, err = run(f"{arguments} --json")
    assert status == 0, err
    assert err == ""
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def methods(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in found["methods"]}


def test_every_method_answers_with_its_division_and_what_follows() -> None:
    found = document(f"{GROUPS} --fill 0.7")
    assert found["sizes"] == SIZES
    assert found["frequencies"] == FREQUENCIES
    assert (found["fill"], found["op"]) == pytest.approx((0.7, 3 / 7))
    rows = methods(found)
    assert list(rows) == ["size", "frequency", "closed-form", "optimal"]
    assert rows["size"]["op_shares"] == pytest.approx(SIZES)
    assert rows["size"]["wa"] == pytest.approx(1.876160014, abs=5e-10)
    assert rows["frequency"]["op_shares"] == pytest.approx(FREQUENCIES)
    assert rows["optimal"]["over_optimal_percent"] == 0
    best = optimal(SIZES, FREQUENCIES, 3 / 7)
    assert rows["optimal"]["op_shares"] == pytest.approx(best.op_shares.tolist(), rel=1e-12)
    for row in rows.values():
        assert row["wa"] == pytest.approx(
            sum(p * wa for p, wa in zip(FREQUENCIES, row["wa_of_group"], strict=True))
        )
        assert row["over_optimal_percent"] == pytest.approx(
            100 * (row["wa"] / best.wa - 1), abs=1e-9
        )


@pytest.mark.parametrize("ratio", ["--op 0.25", "--fill 0.8", "--spare-factor 0.2"])
def test_the_three_ratios_mean_the_same_drive(ratio: str) -> None:
    found = document(f"{GROUPS} {ratio}")
    assert found["op"] == pytest.approx(0.25)
    wa = float(closed_form(SIZES, FREQUENCIES, 0.25).wa)
    assert methods(found)["closed-form"]["wa"] == pytest.approx(wa)


def test_slashes_separate_as_commas_do() -> None:
    slashes = document(f"{GROUPS.replace(',', '/')} --fill 0.7")
    assert slashes == document(f"{GROUPS} --fill 0.7")


def test_the_rule_of_the_coldest_group_reaches_every_method() -> None:
    groups = "--sizes 0.5,0.3,0.2 --frequencies 0.01,0.33,0.66 --op 0.3"
    found = document(f"{groups} --coldest-op 0.05 --coldest-below 0.05")
    assert found["coldest"] == {"op": 0.05, "below": 0.05}
    for row in found["methods"]:
        assert row["op_of_group"][0] == pytest.approx(0.05)
    floor = methods(document(f"{groups} --coldest-op 0.05"))["size"]["op_of_group"]
    assert floor == pytest.approx([0.3] * 3)
    ruled = closed_form([0.5, 0.3, 0.2], [0.01, 0.33, 0.66], 0.3, ColdestGroup(0.05, 0.05))
    assert methods(found)["closed-form"]["wa"] == pytest.approx(float(ruled.wa))


def test_a_group_without_space_has_no_finite_wa() -> None:
    rows = methods(document("--sizes 0.5,0.5 --frequencies 0,1 --op 0.2"))
    assert rows["optimal"]["op_shares"] == [0, 1]
    assert rows["optimal"]["wa_of_group"][0] is None
    assert rows["optimal"]["wa"] == rows["optimal"]["wa_of_group"][1]


def test_the_tables_name_the_ratio_and_every_method() -> None:
    status, out, err = run(f"{GROUPS} --fill 0.7")
    assert (status, err) == (0, "")
    for words in ("op 0.4286 = (T-U)/U", "closed-form", "1.4929", "1.820", "optimal", "3.165"):
        assert words in out


def test_an_exploration_is_a_row_for_each_number_of_groups() -> None:
    found = document("--explore 10 --fill 0.7")
    assert found["chunks"] == 10
    assert found["configurations"] == 1023
    assert found["max_over_optimal_percent"] == pytest.approx(2.01, abs=0.005)
    rows = found["by_groups"]
    assert [row["groups"] for row in rows] == list(range(2, 10))
    assert sum(row["configurations"] for row in rows) == 1023
    mean = sum(row["configurations"] * row["mean_over_optimal_percent"] for row in rows) / 1023
    assert found["mean_over_optimal_percent"] == pytest.approx(mean)
    status, out, _ = run("--explore 10 --fill 0.7")
    assert status == 0
    assert "1,023" in out
    assert "2.013" in out


@pytest.mark.parametrize("arguments", [f"{GROUPS} --fill 0.7", "--explore 6 --fill 0.7"])
def test_a_picture_holds_the_words_of_its_table(arguments: str, tmp_path: Path) -> None:
    target = tmp_path / "division.svg"
    status, _, err = run(f"{arguments} --plot {target}")
    assert status == 0, err
    picture = target.read_text("utf-8")
    words = ("maximum", "mean", "groups") if "explore" in arguments else ("closed-form", "group 4")
    for word in (*words, "op 0.4286"):
        assert word in picture
