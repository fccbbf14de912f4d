"""Comparisons of several victim policies, workloads and traces; options that take one value."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from in_process import document, run
from page_traces import msr_file
from places import TRACE
from refusals import refused_with
from stand_in_runners import AsElsewhere
from writeamp.cli.terminal import Terminal
from writeamp.reports.headlines.runs import of_comparison
from writeamp.runners import Here, Runner, Threads
from writeamp.studies.compare.load import load_labels

pytestmark = pytest.mark.usefixtures("plain_messages")

SMALL: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
SHORT: dict[str, Any] = {**SMALL, "writes": 10_000, "replicas": 2}
LOADS_SHOWN = ("uniform", "hot-cold:f=0.1,r=0.9")
OPTIONS = "--blocks 64 --pages-per-block 16 --op 0.25 --writes 10000 --replicas 2"


def rows_of(found: wa.Comparison) -> list[tuple[str, str, str]]:
    return [(row.workload, row.manager, row.victims) for row in found.rows]


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two traces of one name, of 1,000 and 2,000 pages, as paths from the working folder."""
    monkeypatch.chdir(tmp_path)
    for day, pages in (("monday", 1_000), ("tuesday", 2_000)):
        Path(day).mkdir()
        msr_file(Path(day, "disk.csv"), (at * 7 % pages for at in range(2 * pages)))
    return "monday/disk.csv", "tuesday/disk.csv"


def test_every_manager_is_compared_with_every_victim_policy() -> None:
    found = wa.compare(managers="single,sepgc", victims=["greedy", "cost-benefit"], **SHORT)
    assert rows_of(found) == [
        ("uniform", manager, victims)
        for manager in ("single", "sepgc")
        for victims in ("greedy", "cost-benefit")
    ]
    for row in found.rows:
        alone = wa.compare(managers=row.manager, victims=row.victims, **SHORT)
        assert alone.rows[0].wa == row.wa
    assert len({row.wa for row in found.rows}) == 4


def test_options_that_are_repeated_add_up_like_those_with_commas() -> None:
    repeated = document(
        "compare", f"{OPTIONS} --managers single --managers sepgc,hcwf:d=5 --victims greedy "
        "--victims fifo --workload zipf:s=0.99 --workload hot-cold:f=0.1,r=0.9,uniform",
    )  # fmt: skip
    listed = document(
        "compare", f"{OPTIONS} --managers single,sepgc,hcwf:d=5 --victims greedy,fifo "
        "--workload zipf:s=0.99,hot-cold:f=0.1,r=0.9,uniform",
    )  # fmt: skip
    names = ("workload", "manager", "victims", "wa")
    seen, again = ([[row[n] for n in names] for row in one["rows"]] for one in (listed, repeated))
    assert seen == again
    assert repeated["workload"] == ["zipf:s=0.99", "hot-cold:f=0.1,r=0.9", "uniform"]
    assert len(seen) == 3 * 5


def test_a_manager_has_only_the_victim_policies_that_it_takes_and_a_note_says_so() -> None:
    found = wa.compare(
        managers="wolf:detector=none,hcwf:d=5,single", victims="greedy,cost-benefit",
        workload="hot-cold:f=0.1,r=0.9", **SHORT,
    )  # fmt: skip
    assert [(row.manager, row.victims) for row in found.rows] == [
        ("wolf:detector=none", "greedy"),
        ("hcwf:d=5", "d-choices:d=5"),
        ("single", "greedy"),
        ("single", "cost-benefit"),
    ]
    of_wolf, of_hcwf = found.notes
    assert of_wolf.startswith("wolf:detector=none is run with greedy only: ")
    assert "does not support the victim policy 'cost-benefit'" in of_wolf
    assert of_hcwf.startswith("hcwf:d=5 is run with its default victim policy only: ")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"managers": "wolf", "victims": "greedy,cost-benefit"},
         ["no manager accepts the victim policy cost-benefit", "valid: greedy, fifo"]),
        ({"managers": "single", "victims": "greedy,greedy"}, ["victims has 'greedy' twice"]),
        ({"managers": ["single", "single"]}, ["managers has 'single' twice; give each once"]),
        ({"managers": "hcwf:d=5,hcwf(d=5)"}, ["managers has 'hcwf(d=5)' twice ('hcwf:d=5' means"]),
        ({"managers": "single", "workload": "zipf,zipf:s=0.99"}, ["workload has", "twice"]),
        ({"managers": "single", "trace": [TRACE, str(TRACE)]}, ["trace has", "twice"]),
        ({"managers": "single", "workload": []}, ["workload is empty; give at least one workload"]),
        ({"managers": "single", "trace": []}, ["trace is an empty list"]),
        ({"managers": "single", "victims": ["greedy", 3]}, ["victim policy is 3"]),
        ({"managers": "single", "workload": "uniform,zipf", "repeat": 2}, ["repeat is for traces"]),
        ({"managers": "single", "trace": ["a", "b"], "utilization": 0.5},
         ["utilization is for synthetic"]),
    ],
)  # fmt: skip
def test_lists_that_cannot_be_compared_are_refused(
    settings: dict[str, Any], words: list[str]
) -> None:
    with refused_with(*words):
        wa.compare(**settings, **SMALL)


def test_traces_and_workloads_stand_in_one_table_each_on_a_drive_of_its_own(
    traces: tuple[str, str],
) -> None:
    found = wa.compare(
        trace=list(traces), workload="uniform", managers="single", op=0.25, pages_per_block=16,
        writes=4_000, replicas=1, utilization=0.5, repeat=2,
    )  # fmt: skip
    assert [load.name for load in found.loads] == ["uniform", *traces]
    assert [load.device.logical_pages for load in found.loads][1:] == [1_000, 2_000]
    for row, trace in zip(found.rows[1:], traces, strict=True):
        alone = wa.compare(
            trace=trace, managers="single", op=0.25, pages_per_block=16, writes=4_000, replicas=1,
            repeat=2,
        )  # fmt: skip
        assert row.wa == alone.rows[0].wa
    said = found.to_dict()
    assert said["workload"] == ["uniform", *traces]
    assert [one["logical_pages"] for one in said["loads"]][1:] == [1_000, 2_000]
    assert "logical_pages" not in said
    assert said["pages_per_block"] == 16


def test_a_load_alone_has_the_document_that_it_had_before() -> None:
    said = wa.compare(managers="single", **SHORT).to_dict()
    [load] = said["loads"]
    assert said["workload"] == "uniform"
    assert {key: said[key] for key in load} == load
    assert said["logical_pages"] == 819


def test_loads_of_one_name_get_different_labels() -> None:
    assert load_labels(["a/x.csv", "b/x.csv", "y.csv"]) == ("a/x.csv", "b/x.csv", "y.csv")
    assert load_labels(["/1/a/x", "/2/a/x", "b/x"]) == ("1/a/x", "2/a/x", "b/x")
    assert load_labels(["x", "c/x"]) == ("x", "c/x")
    assert load_labels(["trace", "trace"]) == ("trace (1)", "trace (2)")


def test_traces_in_memory_get_different_labels(traces: tuple[str, str]) -> None:
    held = wa.traces.to_pages(wa.traces.read(traces[0]))
    found = wa.compare(
        trace=[held, held], managers="single", op=0.25, pages_per_block=16, replicas=1
    )
    assert [row.workload for row in found.rows] == ["monday/disk.csv (1)", "monday/disk.csv (2)"]
    assert found.rows[0].wa == found.rows[1].wa


def test_an_error_of_one_load_names_it(traces: tuple[str, str]) -> None:
    with pytest.raises(wa.WriteampError, match=r"^monday/disk\.csv: the trace writes only"):
        wa.compare(trace=list(traces), managers="single", pages_per_block=512, op=0.2)
    with pytest.raises(wa.WriteampError, match=r"^hcwf on monday/disk\.csv: hcwf needs hints"):
        wa.compare(trace=list(traces), managers="hcwf", pages_per_block=16, op=0.3)


@pytest.mark.parametrize("runner", [Here(), Threads(2), AsElsewhere()])
def test_any_runner_compares_several_loads(runner: Runner, traces: tuple[str, str]) -> None:
    settings: dict[str, Any] = {
        "trace": list(traces), "workload": "zipf", "managers": "single,sepgc",
        "victims": "greedy,fifo", "op": 0.25, "pages_per_block": 16, "replicas": 2,
        "writes": 3_000, "repeat": 2,
    }  # fmt: skip
    expected = [row.wa for row in wa.compare(**settings).rows]
    assert [row.wa for row in wa.compare(**settings, runner=runner).rows] == expected
    assert len(expected) == 12


def test_a_file_holds_lists_and_one_of_each_as_it_did(
    traces: tuple[str, str], tmp_path: Path
) -> None:
    several = wa.Experiment.of(
        "compare", managers="single", victims="greedy,fifo", workload="uniform,zipf",
        trace=list(traces),
    )  # fmt: skip
    several.to_toml("monday/several.toml")
    text = Path("monday/several.toml").read_text("utf-8")
    assert '"disk.csv"' in text
    assert '"../tuesday/disk.csv"' in text
    again = wa.Experiment.from_toml("monday/several.toml")
    assert again == several == pickle.loads(pickle.dumps(several))
    assert again.hash == several.hash
    assert set(several.input_files) == set(traces)
    one = wa.Experiment.of("compare", managers="single", victims=["greedy"], workload=["zipf"])
    assert one.to_dict()["load"]["workload"] == "zipf"
    assert one.to_dict()["policy"]["victims"] == "greedy"
    assert one.hash != several.hash


@pytest.mark.parametrize(
    ("settings", "begins"),
    [
        ({"managers": "single,hcwf:d=5"}, "dc0b93f74fda"),
        ({"managers": "single", "victims": "greedy", "workload": "zipf:s=0.99"}, "be33d88fbdaf"),
        ({"managers": "single", "trace": "t.csv", "op": 0.2, "repeat": 1}, "5d956160e246"),
    ],
)
def test_the_hash_of_what_could_always_be_compared_is_what_it_was(
    settings: dict[str, Any], begins: str
) -> None:
    # Changing these changes the names of results that people keep.
    assert wa.Experiment.of("compare", **settings).hash.startswith(begins)


def test_an_option_replaces_the_loads_of_a_file(traces: tuple[str, str]) -> None:
    saved = wa.Experiment.of("compare", managers="single", workload="uniform,zipf")
    changed = saved.with_settings(trace=list(traces))
    assert (changed.load.workload, changed.load.traces) == (None, traces)
    assert saved.with_settings(workload="zipf").load.workload == wa.workload("zipf")


def test_a_capacity_is_simulated_for_each_workload_and_named_as_it_was_asked() -> None:
    found = wa.compare(
        workload="uniform,hot-cold:f=0.1,r=0.9", managers="single", capacity="64MiB", op=0.25,
        writes=20_000, replicas=1, pages_per_block=16,
    )  # fmt: skip
    assert [row.workload for row in found.rows] == ["uniform", "hot-cold:f=0.1,r=0.9"]
    assert found.to_dict()["capacity_bytes"] == 64 * 2**20
    assert all(row.substitutes for row in found.rows)


def test_what_holds_of_all_loads_is_noted_once() -> None:
    found = wa.compare(
        managers="single", workload="uniform,zipf", logical_blocks=10, pages_per_block=64, op=0.12,
        writes=5_000, replicas=1,
    )  # fmt: skip
    [note] = found.notes
    assert "because drives have whole blocks" in note


def test_the_table_groups_by_load_and_the_least_wa_stands_first() -> None:
    command = (
        f"{OPTIONS} --managers single,sepgc --victims greedy,fifo "
        "--workload uniform --workload hot-cold:f=0.1,r=0.9"
    )
    out = run("compare", command).out
    for name, part in zip(LOADS_SHOWN, of_loads(out), strict=True):
        lines = [line.split("│")[3] for line in part.splitlines() if line.startswith("│")]
        of_load = [float(cell.replace("*", "").split()[0]) for cell in lines]
        assert len(of_load) == 4, name
        assert of_load == sorted(of_load)


def let_the_terminal_have(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for module in ("compare", "options"):
        monkeypatch.setattr(f"writeamp.cli.{module}.stdout", Terminal())


def of_loads(out: str) -> list[str]:
    """Return what is printed below the name of each load."""
    found = re.split(rf"^(?:{'|'.join(map(re.escape, LOADS_SHOWN))}) *$", out, flags=re.MULTILINE)
    return found[1:]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_the_name_of_a_load_stands_above_its_table(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_the_terminal_have(columns, monkeypatch)
    out = run("compare", f"{OPTIONS} --managers single --workload {','.join(LOADS_SHOWN)}").out
    assert len(of_loads(out)) == 2
    assert max(map(len, out.splitlines())) <= columns


def test_a_narrow_table_goes_without_its_last_columns_before_it_becomes_a_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = f"{OPTIONS} --managers single --victims greedy,d-choices:d=10"
    found: dict[str, int] = {}
    for columns in range(100, 39, -4):
        let_the_terminal_have(columns, monkeypatch)
        out = run("compare", command).out
        left_out = re.findall(r"No room for the columns (.*?)\.", " ".join(out.split()))
        found.setdefault("a list" if "│ simulated" in out else "".join(left_out), columns)
    assert list(found) == ["", "memory B/page", "memory B/page and simulated M pages/s", "a list"]


def test_a_picture_has_a_heading_for_each_load() -> None:
    found = wa.compare(managers="single,sepgc", workload="uniform,zipf", **SHORT)
    chart = found.figure()
    assert chart.headings() == (("uniform", 0), ("zipf", 2))
    assert chart.places() == (1, 2, 4, 5)
    assert "2 loads" in chart.title
    assert wa.compare(managers="single", **SHORT).figure().headings() == ()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("simulate --workload uniform --workload zipf",
         "--workload is given twice; simulate takes it once (compare takes several)"),
        ("simulate --manager single --manager sepgc",
         "--manager is given twice; simulate takes it once (compare takes several as --managers)"),
        ("endurance --w-max 9 --trace a --trace b --trace c",
         "--trace is given 3 times; endurance takes it once (compare takes several)"),
        ("compare --managers fifo --op 0.1 --op 0.2", "--op is given twice; compare takes it once"),
        ("simulate --spread --no-spread", "--spread is given twice; simulate takes it once"),
        ("trace info t --format msr --format spc",
         "--format is given twice; trace info takes it once"),
        ("predict --op 0.1 --op=0.2", "--op is given twice; predict takes it once"),
        ("endurance --w-max 9 --out a --out b",
         "--keep (or --out, its older name) is given twice; endurance takes it once"),
    ],
)  # fmt: skip
def test_a_second_value_of_an_option_that_takes_one_is_refused(command: str, sentence: str) -> None:
    verb, _, arguments = command.partition(" ")
    assert run(verb, arguments) == (2, "", f"writeamp: {sentence}\n")


def test_equal_rows_are_neither_the_lowest_nor_the_highest() -> None:
    rows = [{"manager": name, "wa": 2.3921} for name in ("one", "two")]
    assert of_comparison({"rows": rows}) == "All 2 rows have the same WA, 2.392."
