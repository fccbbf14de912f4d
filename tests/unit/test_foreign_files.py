"""Files of others and damaged ones: metadata, pages and rows, refused in a sentence."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import in_process
import writeamp as wa
from recordings import recorded, requests
from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.files.parquet_structure import DamagedError, check_structure
from writeamp.files.tables import read_parquet
from writeamp.learn.blackbox.measurement_file import read_measurements, read_rows
from writeamp.learn.twin.chain import Chain, chain_of
from writeamp.learn.twin.windows import read_windows
from writeamp.studies.sweep.points import SweepDataset
from writeamp.traces.formats.parquet import recorded_in
from writeamp.traces.recorded import RECORDING_KEY
from writeamp.volumes.fleet import MARK, TABLE, Fleet, read_volume


def refused(verb: str, arguments: str) -> None:
    done = in_process.run(verb, arguments)
    assert (done.status, len(done.err.splitlines())) == (2, 1), done


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("channels", 2**31),
        ("page_bytes", "x"),
        ("pages_per_block", 10**30),
        ("times_json", "{"),
        ("times_json", "[" * 100_000),
        ("times_json", '{"timing": [1]}'),
        ("times_json", '{"program": {"pages_per_word_line": -3}}'),
        ("times_json", '{"write_cache": {"bytes": "x"}}'),
        ("members", [[1]]),
    ],
)
def test_a_recording_of_a_drive_that_cannot_be_is_refused(
    key: str, value: Any, tmp_path: Path
) -> None:
    path = recorded(tmp_path, requests(100))
    metadata = pl.read_parquet_metadata(path)
    facts = json.loads(metadata[RECORDING_KEY])
    facts["device"][key] = value
    ours = {name: text for name, text in metadata.items() if name != "ARROW:schema"}
    ours[RECORDING_KEY] = json.dumps(facts)
    pl.read_parquet(path).write_parquet(path, metadata=ours)
    refused("simulate", f"--trace {path} --replicas 1")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    in_process.document("volumes make", f"--volumes 3 --requests 1e3 --out {folder}/t.csv")
    in_process.document("volumes split", f"{folder}/t.csv --format alibaba --out {folder}/fleet")
    return folder / "fleet"


@pytest.mark.parametrize("key", ["requests", "volumes", "bytes_in", "inputs", "plan"])
def test_a_fleet_whose_mark_lacks_something_is_refused(key: str, fleet: Path) -> None:
    mark = fleet / MARK
    whole = mark.read_bytes()
    for change in ({key: None}, {}):
        facts = json.loads(whole)
        del facts[key]
        mark.write_text(json.dumps(facts | change))
        with pytest.raises(wa.WriteampError, match="damaged"):
            Fleet.open(fleet)
    mark.write_bytes(whole)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("requests", -1),
        ("first_row", -5),
        ("file", 2**63 - 1),
        ("drive_writes", float("nan")),
        ("span_s", float("inf")),
    ],
)
def test_a_fleet_whose_table_has_numbers_of_no_fleet_is_refused(
    column: str, value: float, fleet: Path
) -> None:
    table = fleet / TABLE
    whole = table.read_bytes()
    frame = pl.read_parquet(table)
    changed = frame.with_columns(pl.lit(value).cast(frame[column].dtype).alias(column))
    changed.write_parquet(table)
    refused("volumes info", str(fleet))
    table.write_bytes(whole)
    assert in_process.document("volumes info", str(fleet))["volumes"] == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("capacity_bytes", float("inf")),
        ("capacity_bytes", 10**400),
        ("capacity_bytes", -4096),
        ("page_bytes", 0),
        ("page_bytes", "x"),
        ("phases", 5),
        ("phases", [{"workload": "uniform", "ends": [10**400]}]),
    ],
)
def test_a_plan_with_sizes_of_no_drive_is_refused(key: str, value: Any) -> None:
    tables = chain_of(2, chunks=False, capacity_bytes=2**30).tables()
    assert Chain.from_tables(tables, "plan").tables() == tables
    with pytest.raises(wa.WriteampError, match="plan"):
        Chain.from_tables(tables | {key: value}, "plan")


ROWS = 100
# A page's header: its fifth field is a structure, whose first field is how many values it has.
VALUES_OF_PAGE = b"\x2c\x15"
# Numbers of Thrift in two bytes: 100, and what nobody has.
HUNDRED, MINUS_ONE, MINUS_64, THOUSANDS = b"\xc8\x01", b"\x81\x00", b"\xff\x00", b"\xff\x7e"


def table(**options: Any) -> bytes:
    """Return a file with two columns, one of them text with gaps."""
    content = io.BytesIO()
    texts = [None if at % 7 == 0 else f"text {at % 5}" for at in range(ROWS)]
    pl.DataFrame({"wa": range(ROWS), "text": texts}).write_parquet(content, **options)
    return content.getvalue()


PLAIN = table(compression="uncompressed")


def with_values(count: bytes) -> bytes:
    """Return the file with another count in the header of its first page."""
    assert VALUES_OF_PAGE + HUNDRED in PLAIN
    return PLAIN.replace(VALUES_OF_PAGE + HUNDRED, VALUES_OF_PAGE + count, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "uncompressed"},
        {"compression": "snappy", "row_group_size": 7},
        {"compression": "zstd", "data_page_size": 1, "statistics": "full"},
        {"use_pyarrow": True},
        {"use_pyarrow": True, "pyarrow_options": {"data_page_version": "2.0"}},
    ],
)
def test_whole_files_of_any_writer_are_read(options: dict[str, Any]) -> None:
    content = table(**options)
    assert read_parquet(content)["wa"].to_list() == list(range(ROWS))


def test_empty_and_nested_tables_and_long_texts_are_read() -> None:
    for frame in (
        pl.DataFrame({"a": []}, schema={"a": pl.Int64}),
        pl.DataFrame(),
        pl.DataFrame({"a": [[1, 2], [], None], "b": [{"c": 1}, {"c": None}, None]}),
        pl.DataFrame({"a": ["long" * 50_000, "b"]}),
    ):
        content = io.BytesIO()
        frame.write_parquet(content)
        assert read_parquet(content.getvalue()).equals(frame)


@pytest.mark.parametrize("count", [MINUS_ONE, MINUS_64, THOUSANDS])
def test_a_page_with_another_number_of_values_is_refused(count: bytes) -> None:
    with pytest.raises(pl.exceptions.PolarsError, match="values"):
        read_parquet(with_values(count))


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", PLAIN[:-1], PLAIN[:50], b"PAR1" + b"\xff\xff\xff\x7fPAR1"]
)
def test_what_has_no_metadata_is_refused(content: bytes) -> None:
    with pytest.raises(pl.exceptions.PolarsError):
        read_parquet(content)


def test_metadata_nested_without_end_are_refused() -> None:
    metadata = b"\x19" * 100_000  # lists of lists
    content = b"PAR1" + metadata + len(metadata).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(DamagedError):
        check_structure(io.BytesIO(content))


def test_any_damage_is_refused_or_harmless_to_the_check() -> None:
    source = random.Random(1)
    for whole in (PLAIN, table(compression="zstd")):
        for _ in range(1500):
            content = bytearray(whole)
            for _ in range(source.choice((1, 1, 3))):
                place = source.randrange(len(content))
                content[place] = source.choice((0, 0x7F, 0x80, 0xFF, source.randrange(256)))
            file = io.BytesIO(content)
            with suppress(DamagedError):
                check_structure(file)
            assert file.tell() == 0


READERS: dict[str, Callable[[Path], Any]] = {
    "measurements": read_measurements,
    "rows of a collection": read_rows,
    "a trace": traces.read,
    "windows": read_windows,
    "a volume": lambda path: read_volume(path, "0", 0, 1),
}


@pytest.mark.parametrize("what", READERS)
def test_every_reader_refuses_it(what: str, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(with_values(MINUS_ONE))
    with pytest.raises(WriteampError) as refused:
        READERS[what](path)
    assert len(str(refused.value).splitlines()) == 1


def test_what_is_looked_into_only_is_passed_by(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(with_values(MINUS_ONE))
    assert recorded_in(path) is None


PLAN = {"verb": "predict", "sweep": {"axes": {"op": [0.1, 0.2], "model": ["markov", "fifo"]}}}
FLIPS = 200


@pytest.fixture
def out(tmp_path: Path) -> Path:
    wa.sweep(PLAN, keep=tmp_path / "out", runner=wa.runners.Here())
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
    assert wa.sweep(PLAN, keep=out, runner=wa.runners.Here()).done == 4
    assert wa.sweep_results(out).to_frame()["wa"].equals(before)


def test_a_part_without_the_name_of_one_is_refused(out: Path) -> None:
    part_of(out).rename(out / "part-mine.parquet")
    with pytest.raises(wa.WriteampError, match=r"part-mine\.parquet does not have the name"):
        wa.sweep_results(out)


def test_results_of_before_there_were_digests_are_read(out: Path) -> None:
    mark = out / "writeamp-sweep.json"
    mark.write_text(mark.read_text().replace("3", "2"))
    part_of(out).rename(out / "part-01700000000000000000-0123abcd.parquet")
    assert wa.sweep(PLAN, keep=out, runner=wa.runners.Here()).skipped == 4
    assert wa.sweep_results(out).to_frame().height == 4


@pytest.mark.parametrize("column", ["axes", "settings", "measures", "kind"])
@pytest.mark.parametrize("text", ["{", "[]", "1", "[" * 100_000, '{"device": 1}'])
def test_rows_that_no_sweep_has_written_are_a_sentence_or_shown(
    out: Path, column: str, text: str
) -> None:
    with_rows(out, **{column: pl.lit(text)})
    if text == "{":
        with pytest.raises(wa.WriteampError, match=r"no sweep wrote|kind"):
            wa.sweep_results(out)
    else:
        with suppress(wa.WriteampError):  # whatever else it raises, nobody could understand
            wa.sweep_results(out).to_frame()


def test_a_mark_that_is_nested_too_deeply_is_refused(out: Path) -> None:
    (out / "writeamp-sweep.json").write_text("[" * 100_000)
    with pytest.raises(wa.WriteampError, match="it is not JSON"):
        wa.sweep_results(out)
