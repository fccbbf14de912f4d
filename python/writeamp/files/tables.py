"""Reading of Parquet and CSV files, which may declare more rows than fit in memory."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from writeamp.files.inputs import opened
from writeamp.files.parquet_structure import DamagedError, check_structure
from writeamp.system import free_memory_bytes

if TYPE_CHECKING:
    import polars as pl

# Memory in bytes per value while a file is decoded: 10^8 trace rows of 5 columns took 7.2 GB.
_VALUE_BYTES = 16
_MOST_COLUMNS = 10_000


def read_parquet(
    source: BinaryIO | bytes | Path,
    columns: Sequence[str] | None = None,
    rows: tuple[int, int] | None = None,
) -> pl.DataFrame:
    """Return the rows of a Parquet file.

    Args:
        source: the file, open at its beginning, its content, or its path.
        columns: names of the columns to read; None for all.
        rows: index of the first row to read, and number of rows; None for all.

    Raises:
        OSError: the source is not a regular file, or its rows need more memory than is free.
        polars.exceptions.PolarsError: it is damaged, or not a Parquet file.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    with _file_of(source) as file, _refusing_damage():
        check_structure(file)
        return _read(pl.scan_parquet(source, glob=False), columns, rows)


def parquet_facts(file: BinaryIO) -> tuple[dict[str, pl.DataType], dict[str, str]]:
    """Return the types of the columns of a Parquet file, and its metadata.

    Raises:
        polars.exceptions.PolarsError: the file is damaged, or not a Parquet file.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    with _refusing_damage():
        check_structure(file)
        schema = pl.read_parquet_schema(file)
        file.seek(0)
        metadata = pl.read_parquet_metadata(file)
        file.seek(0)
    return dict(schema), metadata


def _file_of(source: BinaryIO | bytes | Path) -> AbstractContextManager[BinaryIO]:
    if isinstance(source, Path):
        return opened(source)
    return nullcontext(io.BytesIO(source) if isinstance(source, bytes) else source)


@contextmanager
def _refusing_damage() -> Iterator[None]:
    import polars as pl  # noqa: PLC0415 (slow)

    try:
        yield
    except (DamagedError, pl.exceptions.PanicException) as error:
        # Polars panics on some damaged files, and a panic is not a PolarsError.
        raise pl.exceptions.ComputeError(str(error)) from None


def _read(
    lazy: pl.LazyFrame, columns: Sequence[str] | None, rows: tuple[int, int] | None
) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 (slow)

    column_count = len(columns or lazy.collect_schema())
    count = lazy.select(pl.len()).collect().item() if rows is None else rows[1]
    needed_bytes, free_bytes = count * column_count * _VALUE_BYTES, free_memory_bytes()
    if needed_bytes > free_bytes:
        raise OSError(
            errno.ENOMEM,
            f"its {count:,} rows need about {needed_bytes / 2**30:.1f} GiB of memory, and only "
            f"{free_bytes / 2**30:.1f} GiB are free",
        )
    chosen = lazy if columns is None else lazy.select(columns)
    return (chosen if rows is None else chosen.slice(*rows)).collect()


def read_csv(content: bytes, **options: Any) -> pl.DataFrame:
    """Return the rows of CSV with a header; `options` are those of Polars.

    Raises:
        OSError: there are more than 10,000 columns.
        polars.exceptions.PolarsError: the content is not CSV.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    if content.partition(b"\n")[0].count(b",") >= _MOST_COLUMNS:
        raise OSError(errno.EFBIG, f"it has more than {_MOST_COLUMNS:,} columns, the limit")
    return pl.read_csv(content, **options)
