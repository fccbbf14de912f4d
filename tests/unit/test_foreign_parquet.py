"""Parquet files whose counts do not fit: refused before Polars relies on them."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from writeamp import traces
from writeamp.errors import WriteampError
from writeamp.files.parquet_structure import DamagedError, check_structure
from writeamp.files.tables import read_parquet
from writeamp.learn.blackbox.measurement_file import read_measurements, read_rows
from writeamp.learn.twin.windows import read_windows
from writeamp.traces.formats.parquet import recorded_in
from writeamp.volumes.fleet import read_volume

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
