"""Older names of options, arguments and keys, which stay valid beside the better ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import writeamp as wa
from in_process import document, refusal, run
from writeamp.errors import WriteampError
from writeamp.fields.old_names import JSON_KEYS, OPTIONS, by_better_names

pytestmark = pytest.mark.usefixtures("plain_messages")

QUESTION = "--op 0.147 --utilization 0.9"
SWEEP = """
verb = "predict"
[predict]
model = "markov"
op = 0.147
utilization = 0.9
{}
[sweep.axes]
pages_per_block = [64, 128]
"""


def test_an_older_option_means_the_same_and_is_not_in_the_help() -> None:
    better, older = (document("predict", f"{QUESTION} {name} 0.3") for name in option_names())
    assert better == older
    out = run("predict", "--help").out
    assert "--written-fraction" in out
    assert "--hot-ratio" not in out


def option_names() -> tuple[str, str]:
    """Return both names of an option."""
    return "--written-fraction", OPTIONS["--written-fraction"]


def test_both_names_of_an_option_are_refused() -> None:
    said = refusal("predict", f"{QUESTION} --written-fraction 0.3 --hot-ratio 0.4")
    assert "--written-fraction (or --hot-ratio, its older name) is given twice" in said


def test_both_names_of_an_argument_may_not_differ() -> None:
    drive = {"op": 0.147, "utilization": 0.9, "models": "markov"}
    older = wa.predict(**drive, hot_ratio=0.3)  # type: ignore[arg-type, call-arg]
    assert older == wa.predict(**drive, written_fraction=0.3)  # type: ignore[arg-type]
    with pytest.raises(WriteampError, match=r"written_fraction is 0\.3, but hot_ratio, its older"):
        wa.predict(**drive, written_fraction=0.3, hot_ratio=0.4)  # type: ignore[arg-type, call-arg]


@pytest.mark.parametrize("name", ["written_fraction", "hot_ratio"])
def test_a_file_may_have_either_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SWEEP.format(f"{name} = 0.3"))
    found = wa.sweep(path, keep=tmp_path / "kept")
    assert found.to_frame()["wa"].max() < 1.5


def test_a_file_may_not_have_both_names_with_different_values(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SWEEP.format("written_fraction = 0.3\nhot_ratio = 0.4"))
    with pytest.raises(WriteampError, match="hot_ratio, its older name"):
        wa.sweep(path, keep=tmp_path / "kept")


def test_documents_have_both_names() -> None:
    predicted = document("predict", f"{QUESTION} --written-fraction 0.3")
    assert predicted["written_fraction"] == predicted["hot_ratio"] == 0.3
    compared = document("compare", "--managers single,sepbit --blocks 64 --writes 20000")
    assert all(row["hint"] == row["told"] for row in compared["rows"])
    assert set(JSON_KEYS) == {"written_fraction", "hint"}


def test_settings_without_older_names_stay() -> None:
    assert by_better_names({"op": 0.1, "written_fraction": None}) == {
        "op": 0.1,
        "written_fraction": None,
    }
