"""Results as data frames and CSV: columns are the keys of JSON, nested keys joined by "_"."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

# An interval becomes two columns, as in the tables of comparisons and sweeps.
_INTERVAL = "_ci95"
_ENDS = ("low", "high")
# Characters with which spreadsheets begin a formula. A file name may begin with them, too.
_FORMULA = "=+@\t\r-"


def frame_of(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a data frame with a row for each record.

    Keys of nested objects are joined by "_", and an interval `wa_ci95` becomes `wa_low` and
    `wa_high`. Lists of numbers or texts stay single values. Lists of objects are left out, because
    results offer them as separate data frames.

    Args:
        records: records of JSON types.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    return pl.DataFrame([flat(record) for record in records], infer_schema_length=None)


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without nested objects, flattened as in `frame_of`."""
    flattened: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            flattened |= {f"{key}_{name}": item for name, item in flat(value).items()}
        elif key.endswith(_INTERVAL) and (value is None or len(value) == len(_ENDS)):
            bounds = (None, None) if value is None else value
            name = key.removesuffix(_INTERVAL)
            flattened |= {f"{name}_{end}": item for end, item in zip(_ENDS, bounds, strict=True)}
        elif not _is_table(value):
            flattened[key] = list(value) if isinstance(value, tuple) else value
    return flattened


def csv_of(frame: pl.DataFrame) -> str:
    """Return a frame as CSV with a header line; numbers keep full precision, null is empty.

    Lists are written as JSON. Text that a spreadsheet would run as a formula gets a leading
    apostrophe, which spreadsheets interpret as the mark of text.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    cells: dict[Any, Callable[[Any], str]] = {
        pl.List: _json,
        pl.String: _cell,
        pl.Categorical: _cell,
        pl.Enum: _cell,
    }
    plain = []
    for column in frame.get_columns():
        if cell := cells.get(column.dtype.base_type()):
            texts = [None if value is None else cell(value) for value in column.to_list()]
            column = pl.Series(column.name, texts, dtype=pl.String)  # noqa: PLW2901
        plain.append(column.alias(_cell(column.name)))
    return pl.DataFrame(plain).write_csv()


def names_as_given(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame that was read from CSV, without the apostrophes added by `csv_of`."""
    import polars as pl  # noqa: PLC0415 (slow)

    return frame.with_columns(pl.col(pl.String).str.replace(f"^'([{_FORMULA}])", "${1}"))


def _is_table(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(
        isinstance(item, Mapping | list | tuple) for item in value
    )


def _json(value: list[Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cell(text: str) -> str:
    if not text.startswith(tuple(_FORMULA)):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
