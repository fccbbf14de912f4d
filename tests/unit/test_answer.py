"""Answers of every way: rows, measured causes, advice, and what is said where there is none."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import in_process
import writeamp as wa
from smart_documents import intel
from writeamp._engine import Load
from writeamp.answers.advice import KINDS
from writeamp.answers.answering import Listener, answered
from writeamp.answers.causes import CAUSES, Cause
from writeamp.answers.question import Question
from writeamp.answers.settings import QuestionSettings
from writeamp.answers.way import Findings, Way, WayRow
from writeamp.answers.ways import FORMULA, MEAN_FIELD, SIMULATE, TIMED, WAYS
from writeamp.cli.answer import RowPrinter
from writeamp.errors import Interrupted, WriteampError
from writeamp.meanfield import described
from writeamp.reports.headlines.headline import headline
from writeamp.runners import Progress
from writeamp.settings.experiment import Experiment
from writeamp.studies.capacity import scale as capacity_scale
from writeamp.text import Caution

SMALL: dict[str, Any] = {"blocks": 128, "pages_per_block": 32, "op": 0.2}
THEORY = (FORMULA, MEAN_FIELD, SIMULATE)
IN_TIME = (SIMULATE, TIMED)
KEYS = {
    *("way", "wa", "wa_ci95", "wa_bounds", "interval", "wa_bytes", "wa_bytes_by_cause", "steady"),
    *("unit", "seconds", "assumes", "reason"),
}


def asked(
    ways: Sequence[Way],
    causes: Sequence[Cause] = CAUSES,
    *,
    quick: bool = False,
    row: Any = lambda row: None,
    part: Any = lambda part: None,
    kinds: Any = (),
    counters: Any = None,
    **settings: Any,
) -> wa.Answer:
    """Return an answer of some ways."""
    question = Question.of(
        Experiment.of("simulate", **settings), QuestionSettings(quick=quick, counters=counters)
    )
    listener = Listener(row, part, lambda done, of: None)
    return answered(question, listener, ways=ways, causes=causes, kinds=kinds)


def without(name: str) -> list[Cause]:
    """Return all causes but one."""
    kept = [one for one in CAUSES if name not in one.name]
    assert len(kept) == len(CAUSES) - 1
    return kept


def unexplained(found: wa.Answer, one: str, other: str) -> float:
    """Return the unexplained share of WA between two rows."""
    pair, row = found.between(one, other), found.row("simulate")
    assert pair is not None
    assert row is not None
    return abs(pair.unexplained) / row.wa


@pytest.fixture(scope="module")
def of_zipf() -> wa.Answer:
    """Return the answer of theory and simulation on skewed writes."""
    return asked(THEORY, workload="zipf:s=0.99", **SMALL)


def test_skew_and_the_finite_drive_explain_what_a_formula_lacks(of_zipf: wa.Answer) -> None:
    assert [one.way for one in of_zipf.rows] == ["formula markov", "mean-field greedy", "simulate"]
    assert len(of_zipf.differences) == 3
    for pair in of_zipf.differences:
        total = sum(one.share for one in pair.causes) + pair.unexplained
        assert total == pytest.approx(pair.wa_difference, abs=1e-12)
        assert pair.agree == (abs(pair.wa_difference) <= pair.noise)
    lacking = of_zipf.between("formula markov", "simulate")
    assert lacking is not None
    assert not lacking.agree
    assert {one.cause.split(":")[0] for one in lacking.causes} == {"skew", "finite drive"}
    assert unexplained(of_zipf, "formula markov", "simulate") < 0.02


def test_a_larger_drive_gets_as_many_writes_a_page_as_the_user_gives_the_small_one() -> None:
    few = SMALL | {"blocks": 16, "writes": 10_000, "replicas": 1}
    parts: list[str] = []
    found = asked(THEORY, workload="uniform", part=parts.append, **few)
    assert unexplained(found, "formula markov", "simulate") < 0.05
    names = [way.name for way in THEORY]
    assert parts == [*names, "why rows differ", "how to reduce it"]


@pytest.mark.parametrize("name", ["skew", "finite drive"])
def test_a_cause_that_nobody_measures_is_unexplained(name: str) -> None:
    settings: dict[str, Any] = {"workload": "zipf:s=0.99", "replicas": 1} | SMALL | {"blocks": 32}
    whole = asked(THEORY, **settings)
    part = asked(THEORY, without(name), **settings)
    assert unexplained(whole, "formula markov", "simulate") < 0.02
    assert unexplained(part, "formula markov", "simulate") > 0.02


def test_what_time_adds_is_traced_to_the_mapping_table_and_collection_in_the_background() -> None:
    settings: dict[str, Any] = {"device": "ssd-v", "workload": "uniform", "size": "24MiB"}
    whole = asked(IN_TIME, **settings)
    pair = whole.between("simulate", "timed")
    assert pair is not None
    shares = {one.cause: one.share for one in pair.causes}
    assert shares["mapping-table writes"] > 0.2
    assert unexplained(whole, "simulate", "timed") < 0.02
    part = asked(IN_TIME, without("mapping-table writes"), **settings)
    assert unexplained(part, "simulate", "timed") > 0.1


def test_uniform_writes_agree_with_their_formula_on_a_drive_of_many_blocks() -> None:
    found = asked(THEORY, workload="uniform", blocks=4096, pages_per_block=32, op=0.2)
    assert found.rows[0].reason == ""
    pair = found.between("formula markov", "simulate")
    assert pair is not None
    assert abs(pair.wa_difference) / found.rows[0].wa < 0.01


def test_a_mean_field_of_the_very_load_lacks_nothing_but_the_blocks() -> None:
    load = {"workload": "hot-cold:f=0.2,r=0.8", "manager": "hcwf:d=5", "replicas": 1}
    solved = described._wa.cache_info().misses
    found = asked((MEAN_FIELD, SIMULATE), **load, **(SMALL | {"pages_per_block": 16}))
    pair = found.differences[0]
    assert pair.between == ("mean-field hot-cold", "simulate")
    assert {one.cause.split(":")[0] for one in pair.causes} <= {"finite drive"}
    assert unexplained(found, *pair.between) < 0.02
    assert described._wa.cache_info().misses <= solved + 1  # it may take seconds


def by_pair(found: wa.Answer) -> dict[tuple[str, ...], dict[str, float]]:
    """Return differences and shares of WA by pair of ways, whichever of the two stands first."""
    pairs = {}
    for one in found.differences:
        sign = 1 if one.between == tuple(sorted(one.between)) else -1
        shares = {each.cause: sign * each.share for each in one.causes}
        pairs[tuple(sorted(one.between))] = {"": sign * one.wa_difference} | shares
    return pairs


def test_an_answer_does_not_depend_on_the_order_of_its_ways() -> None:
    ways = (*THEORY, TIMED)
    settings: dict[str, Any] = {"workload": "zipf:s=0.99", "device": "ssd-v", "size": "6MiB"}
    first, last = (asked(order, writes=20_000, **settings) for order in (ways, ways[::-1]))
    rows, others = ({one.way: one for one in found.rows} for found in (first, last))
    assert list(rows) != list(others)
    assert {way: (one.wa, one.ci, one.reason, one.is_steady) for way, one in rows.items()} == {
        way: (one.wa, one.ci, one.reason, one.is_steady) for way, one in others.items()
    }
    pairs, other_pairs = by_pair(first), by_pair(last)
    assert pairs.keys() == other_pairs.keys()
    assert all(pairs[one] == pytest.approx(other_pairs[one]) for one in pairs)
    assert first.notes == last.notes


def test_a_way_cannot_change_the_question_or_the_findings() -> None:
    def rows(question: Question, findings: Findings, progress: Progress) -> list[WayRow]:
        for one in (question, findings, question.plan, question.settings):
            name = next(iter(vars(one)))
            with pytest.raises(FrozenInstanceError):
                setattr(one, name, None)
        return [WayRow.without("mine", "mine", "", "")]

    found = asked((Way("mine", rows, ""),), **SMALL)
    assert [one.kind for one in found.rows] == ["mine"]


def test_a_part_of_the_load_needs_the_simulation() -> None:
    assert "not among the requested sources" in asked((TIMED,), **SMALL).rows[0].reason


def test_the_nearest_formula_stays_with_the_reason_why_it_may_not_hold() -> None:
    found = asked((FORMULA,), workload="zipf:s=0.99", victims="fifo", **SMALL)
    assert [one.way for one in found.rows] == ["formula fifo", "formula expected-value"]
    assert all("zipf:s=0.99 is not uniform" in one.reason for one in found.rows)
    assert all(one.answers for one in found.rows)


def test_a_way_that_cannot_answer_says_why() -> None:
    found = asked((MEAN_FIELD,), victims="cost-benefit", **SMALL)
    assert not found.rows[0].answers
    assert "no mean-field model for uniform under" in found.rows[0].reason
    drive = replace(wa.device(**SMALL), times_json="")
    no_times = asked(IN_TIME, device=drive, writes=20_000)
    assert "no times" in no_times.rows[-1].reason


def test_a_missing_nbdkit_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    [virtual] = [one for one in WAYS if one.name == "virtual"]
    found = asked((SIMULATE, virtual), writes=20_000, **SMALL)
    row = found.row("virtual")
    assert row is not None
    assert "Install the Debian package nbdkit" in row.reason


@pytest.fixture
def snapshots(tmp_path: Path) -> tuple[str, str]:
    """Write snapshots before and after a load with a WA of 3."""
    files = [tmp_path / name for name in ("before.json", "after.json")]
    for day, file in enumerate(files, 1):
        file.write_text(json.dumps(intel(10_000 * day, 30_000 * day, 4.0 * day)))
    return str(files[0]), str(files[1])


def test_a_real_drive_stands_beside_the_others(snapshots: tuple[str, str]) -> None:
    [real] = [one for one in WAYS if one.name == "real"]
    assert asked((real,), **SMALL).rows == ()
    load = {"workload": "uniform", "writes": 20_000}
    found = asked((real, SIMULATE), counters=snapshots, **load, **SMALL)
    row, pair = found.row("real"), found.differences[0]
    assert row is not None
    assert row.way == "real drive, between snapshots"
    assert row.bounds[0] <= row.wa <= row.bounds[1]
    # Nobody can switch anything in a real drive.
    assert not pair.agree
    assert pair.unexplained == pair.wa_difference


@pytest.mark.parametrize("count", [1, 2])
def test_counters_without_a_load_are_compared_with_nothing(
    snapshots: tuple[str, str], count: int, tmp_path: Path
) -> None:
    counters = " ".join(f"--counters {path}" for path in snapshots[:count])
    # Settings of a drive are no load, and a drive of this size is not simulated.
    line = f"{counters} --device tlc-datacenter"
    document = in_process.document("answer", line)
    (row,) = document["rows"]
    assert row["way"].startswith("real drive")
    assert row["wa_ci95"] is None
    assert row["wa_bounds"][0] <= row["wa"] <= row["wa_bounds"][1]
    assert document["advice"] == document["differences"] == document["unfinished"] == []
    page = tmp_path / "page.html"
    done = in_process.run("answer", f"{line} --report {page} --plot {tmp_path / 'wa.svg'}")
    assert done.status == 0, done.err
    assert "give --trace, --workload or --run" in done.err
    assert done.out.startswith("WA 3.0")
    assert "(bounds 2.999" in done.out
    for text in (done.out, in_process.run("report", str(page)).out, page.read_text()):
        assert "95% CI" not in text
        assert "No change that was tried" not in text


def test_the_headline_and_the_quick_rows_are_printed_when_the_simulation_is_finished(
    of_zipf: wa.Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    formula, mean_field, simulate = of_zipf.rows
    timed = replace(simulate, way="timed", kind="timed")
    printer = RowPrinter()
    for row in (formula, mean_field):
        printer.row(row)
        assert capsys.readouterr().out == ""
    printer.row(simulate)
    sentence, table = capsys.readouterr().out.split("\n\n")
    assert sentence.startswith(f"WA {simulate.wa:.4g} (95% CI ")
    assert "formula" not in sentence
    names = [line.partition("  ")[0] for line in table.splitlines() if not line.startswith(" ")]
    assert names == ["source", "formula markov", "mean-field greedy", "simulate"]
    printer.row(timed)
    printer.end()
    assert capsys.readouterr().out.splitlines()[0].startswith("timed  ")


def test_partly_written_pages_add_a_column_and_merged_writes_a_reason(tmp_path: Path) -> None:
    requests = np.arange(4000) * 2654435761 % 2000 * 4096
    trace = tmp_path / "halves.txt"
    trace.write_text("".join(f"{offset + 1024},2048\n" for offset in requests))
    drive = {"blocks": 24, "pages_per_block": 128, "op": 0.2}
    columns = {"trace_format": "columns:offset=1:bytes,length=2:bytes,op=write", "repeat": 2}
    found = asked((FORMULA, *IN_TIME), trace=str(trace), **columns, **drive)
    assert all(row.wa_bytes == pytest.approx(2 * row.wa) for row in found.rows)
    assert found.card().columns[1:3] == [">WA", ">WA per byte"]
    cached = {"device": "ssd-v", "workload": "zipf:s=1.2", "size": "24MiB", "write_cache": "4MiB"}
    merging = asked(IN_TIME, writes=20_000, **cached)
    timed = merging.row("timed")
    assert timed is not None
    assert "merges" in timed.remark
    assert any("a larger --size merges fewer" in note for note in merging.notes)
    alone = asked(IN_TIME, writes=20_000, **(cached | {"write_cache": "off"}))
    assert not any("merges" in text for text in (*alone.notes, *(row.remark for row in alone.rows)))


def test_mapping_units_split_wa_per_host_byte_into_causes(
    tmp_path: Path,
) -> None:
    snapshots = [tmp_path / name for name in ("before.json", "after.json")]
    for day, file in enumerate(snapshots, 1):
        file.write_text(json.dumps(intel(10_000 * day, 75_000 * day, 4.0 * day)))
    [real] = [one for one in WAYS if one.name == "real"]
    units = {"workload": "jesd219", "blocks": 64, "op": 0.28, "mapping_unit": "16KiB"}
    ways, counters = (real, FORMULA, SIMULATE), [str(file) for file in snapshots]
    found = asked(ways, counters=counters, writes=50_000, **units)
    row = found.simulated
    assert row is not None
    assert row.wa_bytes_by_cause is not None
    assert list(row.wa_bytes_by_cause) == ["host", "read_modify_write", "gc"]
    # Requests cover units of 2.604 times their bytes, by the closed form.
    modified = row.wa_bytes_by_cause["read_modify_write"]
    assert modified == pytest.approx(1.604, rel=0.01)
    assert sum(row.wa_bytes_by_cause.values()) == pytest.approx(row.wa_bytes, rel=1e-12)
    assert row.wa * (1 + modified) == pytest.approx(row.wa_bytes, rel=1e-12)
    assert "written in part are programmed whole" in row.remark
    document = found.to_dict()
    assert document["rows"][2]["wa_bytes_by_cause"] == row.wa_bytes_by_cause
    table = found.card().parts[0].rows
    assert [float(amount) for _, amount in table] == pytest.approx(
        [*row.wa_bytes_by_cause.values(), row.wa_bytes], abs=6e-5
    )
    without_drive = document | {"rows": document["rows"][1:]}
    assert f"1 for the host's byte, {modified:.4g} for read-modify-write" in headline(without_drive)
    # Counters of the drive have these bytes, and only the causes of this row state them.
    pair = found.between(row.way, "real drive, between snapshots")
    assert pair is not None
    (cause,) = pair.causes
    assert cause.cause.startswith("mapping unit")
    assert abs(cause.share) == pytest.approx(row.wa * modified, rel=1e-9)
    assert unexplained(found, row.way, "real drive, between snapshots") < 0.1
    less = asked(ways, without("mapping unit"), counters=counters, writes=50_000, **units)
    assert unexplained(less, row.way, "real drive, between snapshots") > 1


def test_bounds_have_the_digits_that_they_allow() -> None:
    row = WayRow("real drive, since new", "real", 2.2456, 0.0, "", bounds=(2.1034, 2.3877))
    assert row.wa_texts == ("2.2", "2.2", "bounds 2.1 to 2.4")
    exact = replace(row, bounds=(2.2456, 2.2456))
    assert exact.wa_texts == ("2.246", "2.246", "")


def test_what_explains_a_row_that_is_not_steady_is_of_its_window(of_zipf: wa.Answer) -> None:
    passing = [replace(one, is_steady=False) for one in of_zipf.rows]
    for rows, is_said in ((of_zipf.rows, False), (passing, True)):
        differences, *_ = replace(of_zipf, rows=tuple(rows)).card().parts
        texts = [row[2] for row in differences.rows]
        assert texts
        assert all(
            str(one).endswith("a longer run may give another difference") == is_said
            for one in texts
        )


def test_a_capacity_widens_intervals_by_the_scaling_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, pages in {"_MOST_PAGES": 4096, "_FEWEST_PAGES": 4096, "_FEWEST_BLOCKS": 64}.items():
        monkeypatch.setattr(capacity_scale, name, pages)
    drive: dict[str, Any] = {"op": 0.25, "pages_per_block": 16, "capacity": "1GiB"}
    load: dict[str, Any] = {"workload": "hot-cold:f=0.2,r=0.8", "writes": 64 * 2**18, **drive}
    answer, simulated = asked((*IN_TIME, FORMULA), **load), wa.simulate(**load)
    facts = answer.to_dict()
    for key in ("capacity_bytes", "simulated_bytes", "scale_factor", "scaling_error"):
        assert facts[key] == simulated.to_dict()[key]
    error = facts["scaling_error"]
    assert error > 0.01
    row, timed = answer.row("simulate"), answer.row("timed")
    assert row is not None
    assert timed is not None
    assert row.error_bar == simulated.error_bar
    assert timed.error_bar[1] - timed.error_bar[0] > 2 * error
    # Both runs are on the same smaller drive, so that the error is no reason for a difference.
    between, of_formula = (answer.between("simulate", way) for way in ("timed", "formula markov"))
    assert between is not None
    assert of_formula is not None
    half_widths = [(one.error_bar[1] - one.error_bar[0]) / 2 for one in (row, timed)]
    assert between.noise == pytest.approx(math.hypot(*(half - error for half in half_widths)))
    assert of_formula.noise == pytest.approx(half_widths[0])
    assert any("the scaling error, ±" in note for note in answer.notes)


def test_an_unknown_scaling_error_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, pages in {"_MOST_PAGES": 4096, "_FEWEST_PAGES": 4096, "_FEWEST_BLOCKS": 64}.items():
        monkeypatch.setattr(capacity_scale, name, pages)
    drive: dict[str, Any] = {"op": 0.25, "pages_per_block": 16, "capacity": "1GiB"}
    answer = asked((SIMULATE,), workload="uniform", writes=64_000, replicas=1, **drive)
    assert answer.to_dict()["scaling_error"] is None
    assert isinstance(answer.notes[0], Caution)
    assert "the scaling error is not known" in answer.notes[0]


def test_advice_makes_it_less_and_names_its_cost() -> None:
    load = {"workload": "zipf:s=0.99", "writes": 40_000, "replicas": 1}
    found = asked((SIMULATE,), kinds=KINDS, **load, **SMALL)
    row = found.row("simulate")
    assert row is not None
    assert 1 <= len(found.advice) <= 3
    assert all(one.wa < one.wa_now == row.wa and one.costs for one in found.advice)
    assert [one.wa for one in found.advice] == sorted(one.wa for one in found.advice)
    assert any(one.change.startswith("op 0.27") for one in found.advice)


def test_after_ctrl_c_there_is_what_was_finished() -> None:
    def stop(row: WayRow) -> None:
        if row.kind == "mean-field":
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        asked(THEORY, row=stop, workload="uniform", **SMALL)
    found = stopped.value.finished
    assert [one.kind for one in found.rows] == ["formula", "mean-field"]
    assert found.unfinished[:2] == ("mean-field", "simulate")


def test_quick_leaves_out_what_takes_long() -> None:
    slow = Way("timed", TIMED.rows, "times", lambda *_: 99.0, needs_simulation=True)
    found = asked((SIMULATE, slow), quick=True, writes=20_000, **SMALL)
    assert found.rows[-1].reason == "left out by --quick: it would take about 99 s"


def test_drawn_requests_are_those_of_the_run(tmp_path: Path) -> None:
    drive = wa.device(**SMALL)
    pages = drive.logical_pages
    op, start, count, *_ = Load.spec("zipf:s=0.9", pages).requests(seed=3, pages=20_000)
    assert set(op.tolist()) == {0}
    assert int(count.sum()) == 20_000
    run: dict[str, Any] = {"warmup": 0, "writes": 20_000, "replicas": 1, "seed": 3}
    drawn = wa.simulate(drive, "zipf:s=0.9", **run)
    replayed = wa.simulate(drive, trace=start.astype(np.int64), mapping="as-is", **run)
    assert replayed.causes == drawn.causes


def test_the_command_prints_one_document_with_the_keys_of_the_contract(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    line = "--workload uniform --blocks 64 --pages-per-block 32 --op 0.2 --writes 100000"
    document = in_process.document("answer", line)
    assert all(set(one) == KEYS for one in document["rows"])
    kinds = ("formula", "mean-field", "simulate", "timed", "virtual", "real")
    assert all(one["way"].startswith(kinds) for one in document["rows"])
    for one in document["differences"]:
        total = sum(each["share"] for each in one["causes"]) + one["unexplained"]
        assert total == pytest.approx(one["wa_difference"], abs=1e-12)
    assert all({"change", "wa"} <= set(one) for one in document["advice"])
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"device": "spinpoint-m7"}, "is a disk"),
        ({"capacity": "1TB", "size": "1GiB"}, "give either capacity, or one of"),
        ({"time": "1s"}, "time is a setting of one timed run"),
    ],
)
def test_what_no_answer_can_be_about_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(WriteampError, match=words):
        wa.answer(**settings)
