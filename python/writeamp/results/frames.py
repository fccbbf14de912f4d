"""Results as rows of a data frame and as CSV: the keys of JSON, nested ones joined by "_"."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

# A pair of bounds becomes two columns, named as in the tables of comparisons and sweeps.
_INTERVAL = "_ci95"
_ENDS = ("low", "high")
# What spreadsheets take for a formula. Names of drives and files may begin with it.
_FORMULA = "=+@\t\r-"


def frame_of(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a row for each record.

    Keys of an object in a record are joined to its own by "_", and an interval `wa_ci95` becomes
    `wa_low` and `wa_high`. A list of numbers or of texts stays one value. What is a table of its
    own, a list of objects, is left out: a result has that as a frame by another name.

    Args:
        records: JSON types.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    return pl.DataFrame([flat(one) for one in records], infer_schema_length=None)


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without objects in it, as `frame_of` describes it."""
    found: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            found |= {f"{key}_{name}": one for name, one in flat(value).items()}
        elif key.endswith(_INTERVAL) and (value is None or len(value) == len(_ENDS)):
            bounds = (None, None) if value is None else value
            name = key.removesuffix(_INTERVAL)
            found |= {f"{name}_{end}": one for end, one in zip(_ENDS, bounds, strict=True)}
        elif not _is_table(value):
            found[key] = list(value) if isinstance(value, tuple) else value
    return found


def csv_of(frame: pl.DataFrame) -> str:
    """Return a frame as CSV with a line of names; numbers keep full precision, null is empty.

    A list is written as JSON has it. Text that a spreadsheet would run as a formula, and that is no
    number, begins with an apostrophe, which spreadsheets take for the mark of text.
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
    """Return a frame that was read from CSV without the apostrophes that `csv_of` writes."""
    import polars as pl  # noqa: PLC0415 (slow)

    return frame.with_columns(pl.col(pl.String).str.replace(f"^'([{_FORMULA}])", "${1}"))


def _is_table(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(
        isinstance(one, Mapping | list | tuple) for one in value
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
