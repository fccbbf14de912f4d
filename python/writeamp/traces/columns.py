"""Meaning of a table's columns, as stated by users: `columns:time=1:ms,offset=3:bytes,…`.

Nothing is guessed: each measure has its unit, and each operation word its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from writeamp.errors import WriteampError, unknown
from writeamp.text import quoted
from writeamp.traces.column_values import (
    DATE_AND_TIME,
    PREFIX,
    TIME_UNITS,
    MeasureColumn,
    Operations,
    Selection,
    Where,
    parse_measure,
    parse_operations,
    parse_selection,
    parse_time,
    parse_where,
    spec_error,
)
from writeamp.traces.trace import OPTIONAL
from writeamp.traces.words import EXAMPLE

_SEPARATORS = {"comma": ",", "tab": "\t", "space": " ", "semicolon": ";", "pipe": "|"}
_KEYS = (
    "time", "date", "device", "offset", "length", "op", *OPTIONAL, "only", "separator", "comment",
    "skip", "header",
)  # fmt: skip
_MEASURES = ("offset", "length")
_LAST_SKIPPED = 10**6


@dataclass(frozen=True)
class StatedColumns:
    """Columns of a request's fields, their units, and the layout of the file.

    Attributes:
        offset, length, op: columns of the required fields.
        time: column and unit (a key of `TIME_UNITS`); None for a table without times.
        date: column of the date, if the column of the time has only the time of day.
        device: column of the device; None for a table of one device.
        origins: columns of the origins of requests, by their names in `OPTIONAL`.
        separator: one character; a space matches any run of spaces and tabs.
        comment: beginning of lines that are not rows; empty for none.
        skip: number of lines at the beginning that are not rows.
        only: selection of the rows that are requests; None for all.
        header: whether the first line after the skipped lines has the column names.
    """

    offset: MeasureColumn
    length: MeasureColumn
    op: Operations
    time: tuple[Where, str] | None = None
    device: Where | None = None
    separator: str = ","
    comment: str = ""
    skip: int = 0
    header: bool = False
    date: Where | None = None
    only: Selection | None = None
    origins: Mapping[str, Where] = dataclass_field(default_factory=dict)

    @property
    def places(self) -> dict[str, Where]:
        """Column of each field of a request that has a column."""
        wheres = {
            "time": None if self.time is None else self.time[0],
            "date": self.date,
            "device": self.device,
            "offset": self.offset.where,
            "length": self.length.where,
            "op": self.op.where,
            **self.origins,
        }
        return {name: where for name, where in wheres.items() if where is not None}

    @property
    def all_places(self) -> list[Where]:
        """Columns that are read, including the column of `only`, which may also be a field."""
        return [*self.places.values(), *([] if self.only is None else [self.only.where])]

    @property
    def of_text_only(self) -> str:
        """Name of the first set key that is valid for text files only; "" if there is none."""
        settings = {
            "separator": self.separator != ",",
            "comment": bool(self.comment),
            "skip": bool(self.skip),
        }
        return next((name for name, is_set in settings.items() if is_set), "")

    @property
    def text(self) -> str:
        """Canonical text of the columns."""
        names = {character: name for name, character in _SEPARATORS.items()}
        is_named = any(isinstance(where, str) for where in self.all_places)
        values = {
            "time": "" if self.time is None else ":".join(map(str, self.time)),
            "date": "" if self.date is None else str(self.date),
            "device": "" if self.device is None else str(self.device),
            "offset": self.offset.text,
            "length": self.length.text,
            "op": self.op.text,
            **{name: str(where) for name, where in self.origins.items()},
            "only": "" if self.only is None else self.only.text,
            "separator": names.get(self.separator, self.separator) if self.separator != "," else "",
            "comment": self.comment,
            "skip": str(self.skip) if self.skip else "",
            "header": "yes" if self.header and not is_named else "",
        }
        return f"{PREFIX}:" + ",".join(f"{key}={value}" for key, value in values.items() if value)

    @property
    def notes(self) -> list[str]:
        """Notes on the assumptions of a trace with these columns."""
        time = "no times" if self.time is None else f"times are {TIME_UNITS[self.time[1]].words}"
        return [f"{time}; offsets are {self.offset.counted}, lengths {self.length.counted}"]


def is_columns(text: str) -> bool:
    """Return whether a format name is a text `columns:…`."""
    return text == PREFIX or text.startswith(f"{PREFIX}:")


def parse_columns(text: str) -> StatedColumns:
    """Return the columns of a text `columns:…`.

    >>> parse_columns("columns:op=write, offset=lba:sectors, length=4KiB").text
    'columns:offset=lba:sectors,length=4KiB,op=write'

    Raises:
        WriteampError: a key is unknown or missing, or a value is not valid. The message lists what
            is valid.
    """
    values = _given(text)
    measures = {name: parse_measure(name, values[name]) for name in _MEASURES if name in values}
    op = parse_operations(values["op"]) if "op" in values else None
    missing = [name for name in (*_MEASURES, "op") if name not in values]
    if op is None or missing:
        raise spec_error(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; needed are "
            "offset=COLUMN:UNIT, length=COLUMN:UNIT and op=COLUMN:WORD=read/WORD=write, "
            f"as in {EXAMPLE}"
        )
    is_header = _yes_or_no(values.get("header"))
    columns = StatedColumns(
        **measures,
        op=op,
        time=parse_time(values["time"]) if "time" in values else None,
        date=parse_where("date", values["date"]) if "date" in values else None,
        device=parse_where("device", values["device"]) if "device" in values else None,
        only=parse_selection(values["only"]) if "only" in values else None,
        separator=_separator(values.get("separator", "comma")),
        comment=values.get("comment", ""),
        skip=_skip(values.get("skip", "0")),
        header=bool(is_header),
        origins={name: parse_where(name, values[name]) for name in OPTIONAL if name in values},
    )
    if columns.date is not None and (columns.time is None or columns.time[1] != DATE_AND_TIME):
        raise spec_error(f"date={columns.date} needs the time of day, as in time=2:{DATE_AND_TIME}")
    named = [where for where in columns.all_places if isinstance(where, str)]
    if named and is_header is False:
        raise spec_error(
            f"{quoted(named[0])} is a column name, but header=no excludes column names"
        )
    _refuse_doubles(columns.places)
    return columns if not named else StatedColumns(**{**vars(columns), "header": True})


def _given(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for pair in text.removeprefix(PREFIX).removeprefix(":").split(","):
        if not pair.strip():
            continue
        key, is_set, value = pair.partition("=")
        key = key.strip()
        if key not in _KEYS:
            raise spec_error(f"{unknown('key', key, _KEYS)}")
        if not is_set or not value.strip():
            raise spec_error(f"{key} has no value, as in {EXAMPLE}")
        if key in values:
            raise spec_error(f"{key} is given twice; give it once")
        values[key] = value.strip()
    return values


def _separator(text: str) -> str:
    if text in _SEPARATORS:
        return _SEPARATORS[text]
    if len(text) != 1 or not text.isascii() or not text.isprintable() or text.isalnum():
        raise spec_error(
            f"separator is {quoted(text)}; valid are {', '.join(_SEPARATORS)} or one character"
        )
    return text


def _skip(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_LAST_SKIPPED)) or int(text) > _LAST_SKIPPED:
        raise spec_error(f"skip is {quoted(text)}; valid are 0 to {_LAST_SKIPPED} lines")
    return int(text)


def _yes_or_no(text: str | None) -> bool | None:
    answers = {None: None, "yes": True, "no": False}
    if text not in answers:
        raise spec_error(f"header is {quoted(text)}; valid are yes and no")
    return answers[text]


def _refuse_doubles(places: Mapping[str, Where]) -> None:
    fields: dict[Where, str] = {}
    for field, where in places.items():
        if where in fields:
            raise spec_error(
                f"{fields[where]} and {field} are both column {where}; each needs its own"
            )
        fields[where] = field


def resolve(
    places: Mapping[str, Where], names: Iterable[str], fault: Callable[[str], WriteampError]
) -> dict[str, int]:
    """Return the position of each field's column, from 0.

    Args:
        places: the columns by field.
        names: names of the columns in the file.
        fault: function that returns the error with a sentence.

    Raises:
        WriteampError: a column is missing, its name occurs twice, or two fields share it.
    """
    headings = [name.strip() for name in names]
    positions = {}
    for field, where in places.items():
        if isinstance(where, int):
            if where > len(headings):
                raise fault(f"{field} is column {where}, but there are only {len(headings)}")
            positions[field] = where - 1
        elif headings.count(where) == 1:
            positions[field] = headings.index(where)
        elif where in headings:
            raise fault(
                f"{headings.count(where)} columns are named {quoted(where)}; give its number"
            )
        else:
            raise fault(f"{unknown('column', where, headings)}")
    fields: dict[int, str] = {}
    for field, position in positions.items():
        if position in fields:  # one field has the column's name, the other one its number
            raise fault(
                f"{fields[position]} and {field} are both column {position + 1} "
                f"({quoted(headings[position])}); each needs its own"
            )
        fields[position] = field
    return positions
