"""Results of a sweep that were damaged or made up are refused in a sentence, never shown."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

import in_process
import writeamp as wa
from writeamp.studies.sweep.points import SweepDataset

PLAN = {"verb": "predict", "sweep": {"axes": {"op": [0.1, 0.2], "model": ["markov", "fifo"]}}}
FLIPS = 200


@pytest.fixture
def out(tmp_path: Path) -> Path:
    wa.sweep(PLAN, out=tmp_path / "out", workers=1)
    return tmp_path / "out"


def part_of(out: Path) -> Path:
    (part,) = out.glob("part-*.parquet")
    return part


def with_rows(out: Path, **columns: pl.Expr) -> None:
    """Replace the results by what a sweep might have written, but for some columns."""
    dataset = SweepDataset.open(out)
    rows = dataset.rows().with_columns(**columns)
    part_of(out).unlink()
    dataset.append(rows)


def test_any_flipped_bit_is_a_sentence(out: Path) -> None:
    part = part_of(out)
    whole = part.read_bytes()
    drawn = random.Random(1)
    for _ in range(FLIPS):
        content = bytearray(whole)
        content[drawn.randrange(len(whole))] ^= 1 << drawn.randrange(8)
        part.write_bytes(content)
        with pytest.raises(wa.WriteampError, match=f"{part.name} is damaged"):
            wa.sweep_results(out)
    part.write_bytes(whole)
    assert wa.sweep_results(out).to_frame().height == 4


def test_a_damaged_part_ends_the_commands_before_anything_is_run(out: Path, tmp_path: Path) -> None:
    part = part_of(out)
    part.write_bytes(part.read_bytes()[:-1])
    file = tmp_path / "plan.toml"
    file.write_text('verb = "predict"\n[predict]\nmodel = "fifo"\n[sweep.axes]\nop = [0.3]\n')
    for verb, arguments in (("sweep show", f"{out}"), ("sweep", f"{file} --out {out} --workers 1")):
        done = in_process.run(verb, arguments)
        assert (done.status, len(done.err.splitlines())) == (2, 1), done
        assert "is damaged" in done.err
    assert list(out.glob("part-*")) == [part]


def test_what_was_removed_is_computed_again(out: Path) -> None:
    before = wa.sweep_results(out).to_frame()["wa"]
    part_of(out).unlink()
    assert wa.sweep(PLAN, out=out, workers=1).done == 4
    assert wa.sweep_results(out).to_frame()["wa"].equals(before)


def test_a_part_without_the_name_of_one_is_refused(out: Path) -> None:
    part_of(out).rename(out / "part-mine.parquet")
    with pytest.raises(wa.WriteampError, match=r"part-mine\.parquet has no name"):
        wa.sweep_results(out)


def test_results_of_before_there_were_digests_are_read(out: Path) -> None:
    mark = out / "writeamp-sweep.json"
    mark.write_text(mark.read_text().replace("3", "2"))
    part_of(out).rename(out / "part-01700000000000000000-0123abcd.parquet")
    assert wa.sweep(PLAN, out=out, workers=1).skipped == 4
    assert wa.sweep_results(out).to_frame().height == 4


@pytest.mark.parametrize("column", ["axes", "settings", "measures", "kind"])
@pytest.mark.parametrize("text", ["{", "[]", "1", "[" * 100_000, '{"device": 1}'])
def test_rows_that_no_sweep_has_written_are_a_sentence_or_shown(
    out: Path, column: str, text: str
) -> None:
    with_rows(out, **{column: pl.lit(text)})
    if text == "{":
        with pytest.raises(wa.WriteampError, match=r"no sweep has written|kind"):
            wa.sweep_results(out)
    else:
        with suppress(wa.WriteampError):  # whatever else it raises, nobody could understand
            wa.sweep_results(out).to_frame()


def test_a_mark_that_is_nested_too_deeply_is_refused(out: Path) -> None:
    (out / "writeamp-sweep.json").write_text("[" * 100_000)
    with pytest.raises(wa.WriteampError, match="it is not JSON"):
        wa.sweep_results(out)
