"""Differences of two results: settings, numbers, and what noise explains."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import in_process
import writeamp as wa
from writeamp.differences.difference import difference_of
from writeamp.differences.names import name_of, value_in_words
from writeamp.errors import WriteampError
from writeamp.reports.headlines.headline import headline

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25, "workload": "uniform"}


def simulated(**changes: Any) -> Any:
    return wa.simulate(**(DRIVE | {"writes": 20_000, "warmup": 5000} | changes))


def verdict(found: wa.Difference, key: str) -> str:
    return next(one.verdict for one in found.numbers if one.key == key)


def test_another_seed_is_noise_and_another_op_is_none() -> None:
    first = simulated()
    assert verdict(wa.diff(first, simulated(seed=2)), "wa") == "within noise"
    other = wa.diff(first, simulated(op=0.4))
    assert verdict(other, "wa") == "differs"
    assert {"op", "logical_pages"} <= {one.key for one in other.settings}


def test_a_result_does_not_differ_from_itself() -> None:
    first = simulated()
    found = wa.diff(first, first.to_dict())
    assert (found.settings, found.numbers, found.only) == ((), (), ())
    assert found.equal > 5
    assert found.notes == ()
    assert any("the same seed" in note for note in wa.diff(first, simulated(op=0.4)).notes)


def test_a_longer_run_differs_in_its_length_and_in_little_for_each_host_page() -> None:
    found = wa.diff(simulated(), simulated(writes=30_000))
    kinds = {one.key: one.kind for one in found.numbers}
    lengths = ("host_pages", "flash_pages", "erases", "causes.gc", "host.written_bytes")
    assert {kinds[key] for key in lengths} == {"length of the run"}
    assert kinds["wa"] == "found"
    (gc,) = [one for one in found.per_host_page if one.key == "causes.gc"]
    assert gc.b / gc.a == pytest.approx(1, abs=0.1)
    assert found.to_dict()["per_host_page"][0]["key"] == "causes.gc"


def test_handles_are_paired_by_number_and_their_bytes_reflect_the_length_of_the_run() -> None:
    fdp = {"workload": "hot-cold:f=0.1,r=0.9", "manager": "nvme-fdp:handles=2"}
    found = wa.diff(simulated(**fdp), simulated(**fdp, writes=30_000))
    kinds = {one.key: one.kind for one in found.numbers if one.key.startswith("handles")}
    rows = ("handle 0", "handle 1", "shared")
    keys = {f"handles[{row}].{name}" for row in rows for name in ("host_bytes", "wa", "moved_out")}
    assert kinds.keys() & keys == keys - {"handles[shared].host_bytes", "handles[shared].wa"}
    assert {key for key, kind in kinds.items() if kind == "found"} == {
        "handles[handle 0].wa",
        "handles[handle 1].wa",
    }
    for key in kinds:
        assert name_of(key).startswith(key.partition("[")[2].partition("]")[0])
    assert value_in_words("handles[shared].moved_in", 2048.0) == "2 KiB"


def test_the_command_begins_with_a_sentence_and_names_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name, writes in (("a", 20_000), ("b", 30_000)):
        (tmp_path / name).write_text(json.dumps(simulated(writes=writes).to_dict()))
    done = in_process.run("diff", f"{tmp_path}/a {tmp_path}/b")
    assert done.out.startswith("WA of B is ")
    assert "which is within noise" in " ".join(done.out.split())
    tables = ("WA ", "programmed pages per host page", "length of the run")
    places = [done.out.index(f"\n{name}") for name in tables]
    assert places == sorted(places)
    assert "…" not in done.out
    assert not re.search(r"[a-z]_[a-z]|causes\.", done.out)


def test_the_largest_differences_come_first_and_noise_last() -> None:
    base = {"causes": {}, "host_pages": 1, "flash_pages": 1, "workload": "uniform", "timed": True}
    small = {"wa": 2.0, "wa_ci95": [1.9, 2.1], "iops": {"all": 100.0, "write": 10.0}}
    large = {"wa": 2.05, "wa_ci95": [1.9, 2.2], "iops": {"all": 110.0, "write": 1.0}}
    certain = [{"overall_wa": size, "overall_wa_ci95": [size, size]} for size in (4.0, 3.9)]
    found = wa.diff(base | small | certain[0], base | large | certain[1])
    assert [pair.key for pair in found.numbers] == ["overall_wa", "iops.write", "iops.all", "wa"]
    assert [row[0] for row in found.card().parts[0].rows][1] == "IOPS, write"
    assert headline(found.to_dict()).startswith("WA of B is 2.5% higher: 2.05 instead of 2, which")
    # Numbers within noise are not among those that differ.
    without = found.to_dict() | {"numbers": found.to_dict()["numbers"][1:]}
    for number in without["numbers"]:
        number["key"] = f"rows[0].{number['key']}"
    assert "; 1 more differs. " in headline(without)


SERVED: dict[str, Any] = {
    "wa": 1.5,
    "wa_ci95": [1.4, 1.6],
    "run": "one",
    "run_exit_status": 0,
    "count_from": "command",
    "host_bytes": 2000,
    "flash_bytes": 3000,
    "layers": {
        "application_bytes": 1000,
        "file_system_bytes": 2000,
        "device_bytes": 2000,
        "flash_bytes": 3000,
        "factors": {"file_system": 2.0, "device": 1.0, "flash": 1.5},
        "unknown": {},
    },
}


def test_two_commands_are_compared_by_flash_bytes_per_application_byte() -> None:
    layers = SERVED["layers"] | {"flash_bytes": 4440}
    changed = SERVED | {"run": "two", "flash_bytes": 4440, "layers": layers, "wa": 1.52}
    found = wa.diff(SERVED, changed)
    assert found.numbers[0].key == "flash_bytes_per_application_byte"
    assert (found.numbers[0].a, found.numbers[0].b) == (3.0, 4.44)
    assert headline(found.to_dict()) == (
        "B writes 48% more flash bytes per application byte; the drive's WA does not differ. "
        "Settings that differ: command."
    )
    assert headline(
        wa.diff(SERVED, changed | {"layers": layers | {"application_bytes": 740}}).to_dict()
    ).startswith("B writes 100% more flash bytes per application byte, and 48% more in all;")
    # Bytes that include files outside the drive are no bytes of the application on it.
    unknown = layers | {"factors": {"file_system": None, "device": 1.0, "flash": 1.5}}
    found = wa.diff(SERVED, changed | {"layers": unknown})
    assert headline(found.to_dict()).startswith("B writes 48% more flash bytes; the drive's WA")
    assert ("flash_bytes_per_application_byte", "a") in found.only
    # A command that wrote nothing has no WA.
    idle = headline(wa.diff(SERVED, changed | {"wa": None}).to_dict())
    assert idle.startswith("B writes 48% more flash bytes per application byte. ")


def test_a_failed_run_is_marked() -> None:
    found = wa.diff(SERVED, SERVED | {"run_exit_status": 7, "flash_bytes": 1500})
    assert found.to_dict()["failures"] == [{"in": "b", "reason": "its command ended with status 7"}]
    assert headline(found.to_dict()).startswith("B failed: its command ended with status 7. ")
    assert found.card().parts[0].columns[2] == ">B (failed)"
    assert wa.diff(SERVED, SERVED).failures == ()


def test_the_interval_of_replicas_is_that_of_their_pairs() -> None:
    firsts = [SERVED | {"wa": size, "seed": seed} for seed, size in enumerate((1.5, 2.5, 2.0))]
    lasts = [
        SERVED | {"wa": one["wa"] + more}
        for one, more in zip(firsts, (0.1, 0.11, 0.12), strict=True)
    ]
    found = difference_of("serve", firsts, lasts)
    (pair,) = [one for one in found.numbers if one.key == "wa"]
    assert (pair.a, pair.b) == (pytest.approx(2.0), pytest.approx(2.11))
    assert pair.difference_ci95 == pytest.approx((0.11 - 0.02484, 0.11 + 0.02484), abs=1e-4)
    assert pair.verdict == "differs"
    assert pair.a_ci95[1] > 3
    assert found.replicas == 3
    # With pairs out of order, noise explains the difference.
    mixed = difference_of("serve", firsts, [lasts[1], lasts[2], lasts[0]])
    assert next(one.verdict for one in mixed.numbers if one.key == "wa") == "within noise"


def test_rows_of_comparisons_are_paired_by_name_and_not_by_place() -> None:
    asked = DRIVE | {"writes": 20_000, "replicas": 2}
    a = wa.compare(managers="single,sepgc", **asked)
    b = wa.compare(managers="sepgc,dac", **asked)
    found = wa.diff(a, b)
    assert not [one for one in found.numbers if "sepgc" in one.key and one.key.endswith(".wa")]
    only = {(key.split(",")[1].strip(), which) for key, which in found.only if "]" in key}
    assert {("single", "a"), ("dac", "b")} <= only


def test_bounds_of_the_difference_are_those_of_independent_results() -> None:
    base = {"causes": {}, "host_pages": 1, "flash_pages": 1, "workload": "uniform"}
    a = {**base, "wa": 2.0, "wa_ci95": [1.7, 2.3]}
    b = {**base, "wa": 2.45, "wa_ci95": [2.05, 2.85]}
    (pair,) = wa.diff(a, b).numbers
    assert pair.difference_ci95 == pytest.approx((0.45 - 0.5, 0.45 + 0.5))
    assert pair.verdict == "within noise"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "not a JSON result of writeamp, .*Expecting"),
        ("[1]", "not a JSON result of writeamp, .*not an object"),
        ('{"wa": 1}', "not a result that diff can compare"),
        ("[" * 100_000, "not a JSON result of writeamp"),
    ],
)
def test_what_is_no_result_is_refused(content: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(WriteampError, match=sentence):
        wa.diff(path, simulated())
    with pytest.raises(WriteampError, match="cannot read"):
        wa.diff(tmp_path / "none.json", simulated())


def test_results_of_two_verbs_are_refused() -> None:
    with pytest.raises(WriteampError, match="of two commands, simulate and predict"):
        wa.diff(simulated(), {"models": [], "op": 0.28})


def test_the_command_prints_what_the_library_says(tmp_path: Path) -> None:
    paths = []
    for name, seed in (("a", 1), ("b", 2)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(simulated(seed=seed).to_dict()))
        paths.append(str(path))
    printed = in_process.run("diff", f"{' '.join(paths)} --json")
    assert json.loads(printed.out)["verb"] == "simulate"
    shown = in_process.run("diff", " ".join(paths)).out
    assert "within noise" in shown
    assert "seed" in shown


@pytest.mark.parametrize("number", ["1e999", "NaN", "-Infinity", "9" * 400, "9" * 5000])
def test_numbers_that_no_float_holds_are_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(f'{{"wa": {number}}}')
    with pytest.raises(WriteampError, match="is not a JSON result"):
        wa.diff(path, path)


def test_differences_that_no_float_holds_are_null(tmp_path: Path) -> None:
    found = wa.simulate(blocks=64, pages_per_block=8, op=0.3, writes=600, replicas=1).to_dict()
    numbers = {"wa": 1e308, "wa_ci95": [1e308, 1.1e308]}, {"wa": -1e308, "wa_ci95": [-1e308, 0]}
    [pair] = [
        one for one in wa.diff(*({**found, **of} for of in numbers)).numbers if one.key == "wa"
    ]
    assert (pair.to_dict()["difference"], pair.to_dict()["relative"]) == (None, None)
    json.dumps(pair.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("causes", "steady", "sentence"),
    [
        ({"host": 10, "gc": 0}, False, "WA 1: nothing was collected in this run, so it shows "),
        ({"host": 10, "gc": 0}, True, "WA 1: each page that the host writes costs 1 page program."),
        ({"host": 10, "gc": 1}, False, "WA 1, not steady: each page "),
    ],
)
def test_a_run_that_collected_nothing_shows_nothing(
    causes: dict[str, int], steady: bool, sentence: str
) -> None:
    document = {"wa": 1.0, "causes": causes, "steady": steady}
    assert headline(document).startswith(sentence)


def test_a_headline_has_only_the_wa_that_was_compared_with_a_limit() -> None:
    limit = {"sentence": "WA 3.5, steady after the first 24% of the writes, is below --max-wa 4"}
    document = {"wa": 3.4, "causes": {"host": 10, "gc": 30}, "steady": False, "limit": limit}
    assert headline(document) == (
        f"{limit['sentence']}. 75% of all page programs move pages in garbage collection."
    )
