"""Meaning of a table's columns, as users state it: `columns:time=1:ms,offset=3:bytes,…`.

Nothing is guessed: each measure has its unit, and each word of an operation its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from writeamp.errors import WriteampError, unknown
from writeamp.text import quoted
from writeamp.traces.column_values import (
    DATE_AND_TIME,
    PREFIX,
    TIME_UNITS,
    Measure,
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
from writeamp.traces.words import EXAMPLE

_SEPARATORS = {"comma": ",", "tab": "\t", "space": " ", "semicolon": ";", "pipe": "|"}
_KEYS = (
    "time", "date", "device", "offset", "length", "op", "only", "separator", "comment", "skip",
    "header",
)  # fmt: skip
_MEASURES = ("offset", "length")
_LAST_SKIPPED = 10**6


@dataclass(frozen=True)
class StatedColumns:
    """Columns of a request's fields, their units, and what else is in a file.

    Attributes:
        offset, length, op: what every request needs.
        time: column and unit (a key of `TIME_UNITS`); None for a table without times.
        date: column of the date, where that of the time has the time of day alone.
        device: column; None for a table of one device.
        separator: one character; a space stands for any run of spaces and tabs.
        comment: what begins a line that is no row; empty for none.
        skip: lines at the beginning that are no rows.
        only: which rows are requests; None if all are.
        header: whether the first row after those names the columns.
    """

    offset: Measure
    length: Measure
    op: Operations
    time: tuple[Where, str] | None = None
    device: Where | None = None
    separator: str = ","
    comment: str = ""
    skip: int = 0
    header: bool = False
    date: Where | None = None
    only: Selection | None = None

    @property
    def places(self) -> dict[str, Where]:
        """The column of each field that has one."""
        found = {
            "time": None if self.time is None else self.time[0],
            "date": self.date,
            "device": self.device,
            "offset": self.offset.where,
            "length": self.length.where,
            "op": self.op.where,
        }
        return {name: where for name, where in found.items() if where is not None}

    @property
    def all_places(self) -> list[Where]:
        """The columns that are read, with that of `only`, which may be one of the others."""
        return [*self.places.values(), *([] if self.only is None else [self.only.where])]

    @property
    def of_text_only(self) -> str:
        """Name of the first setting here that only fits text files; empty for none."""
        given = {
            "separator": self.separator != ",",
            "comment": bool(self.comment),
            "skip": bool(self.skip),
        }
        return next((name for name, is_given in given.items() if is_given), "")

    @property
    def text(self) -> str:
        """Canonical text of the columns."""
        names = {character: name for name, character in _SEPARATORS.items()}
        is_named = any(isinstance(where, str) for where in self.all_places)
        found = {
            "time": "" if self.time is None else ":".join(map(str, self.time)),
            "date": "" if self.date is None else str(self.date),
            "device": "" if self.device is None else str(self.device),
            "offset": self.offset.text,
            "length": self.length.text,
            "op": self.op.text,
            "only": "" if self.only is None else self.only.text,
            "separator": names.get(self.separator, self.separator) if self.separator != "," else "",
            "comment": self.comment,
            "skip": str(self.skip) if self.skip else "",
            "header": "yes" if self.header and not is_named else "",
        }
        return f"{PREFIX}:" + ",".join(f"{key}={value}" for key, value in found.items() if value)

    @property
    def notes(self) -> list[str]:
        """Notes on what a trace with these columns assumes."""
        time = "no times" if self.time is None else f"times are {TIME_UNITS[self.time[1]].words}"
        return [f"{time}; offsets are {self.offset.counted}, lengths {self.length.counted}"]


def is_columns(text: str) -> bool:
    """Return whether the name of a format is a text `columns:…`."""
    return text == PREFIX or text.startswith(f"{PREFIX}:")


def parse_columns(text: str) -> StatedColumns:
    """Return the columns that a text `columns:…` states.

    >>> parse_columns("columns:op=write, offset=lba:sectors, length=4KiB").text
    'columns:offset=lba:sectors,length=4KiB,op=write'

    Raises:
        WriteampError: a key is unknown or missing, or a value is not valid; says what is.
    """
    given = _given(text)
    measures = {name: parse_measure(name, given[name]) for name in _MEASURES if name in given}
    op = parse_operations(given["op"]) if "op" in given else None
    missing = [name for name in (*_MEASURES, "op") if name not in given]
    if op is None or missing:
        raise spec_error(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; needed are "
            "offset=COLUMN:UNIT, length=COLUMN:UNIT and op=COLUMN:WORD=read/WORD=write, "
            f"as in {EXAMPLE}"
        )
    is_header = _yes_or_no(given.get("header"))
    found = StatedColumns(
        **measures,
        op=op,
        time=parse_time(given["time"]) if "time" in given else None,
        date=parse_where("date", given["date"]) if "date" in given else None,
        device=parse_where("device", given["device"]) if "device" in given else None,
        only=parse_selection(given["only"]) if "only" in given else None,
        separator=_separator(given.get("separator", "comma")),
        comment=given.get("comment", ""),
        skip=_skip(given.get("skip", "0")),
        header=bool(is_header),
    )
    if found.date is not None and (found.time is None or found.time[1] != DATE_AND_TIME):
        raise spec_error(
            f"date={found.date} goes with the time of day, as in time=2:{DATE_AND_TIME}"
        )
    named = [where for where in found.all_places if isinstance(where, str)]
    if named and is_header is False:
        raise spec_error(
            f"{quoted(named[0])} is the name of a column, which header=no says are none"
        )
    _refuse_doubles(found.places)
    return found if not named else StatedColumns(**{**vars(found), "header": True})


def _given(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.removeprefix(PREFIX).removeprefix(":").split(","):
        if not part.strip():
            continue
        key, is_set, value = part.partition("=")
        key = key.strip()
        if key not in _KEYS:
            raise spec_error(f"{unknown('key', key, _KEYS)}")
        if not is_set or not value.strip():
            raise spec_error(f"{key} has no value, as in {EXAMPLE}")
        if key in found:
            raise spec_error(f"{key} is given twice, each is given once")
        found[key] = value.strip()
    return found


def _separator(text: str) -> str:
    if text in _SEPARATORS:
        return _SEPARATORS[text]
    if len(text) != 1 or not text.isascii() or not text.isprintable() or text.isalnum():
        raise spec_error(
            f"separator is {quoted(text)}; valid are {', '.join(_SEPARATORS)} and one character"
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
                f"{fields[where]} and {field} are both column {where}, each has its own"
            )
        fields[where] = field


def resolve(
    places: Mapping[str, Where], names: Iterable[str], fault: Callable[[str], WriteampError]
) -> dict[str, int]:
    """Return the position of each field's column, from 0.

    Args:
        places: the columns by field.
        names: of the columns that there are.
        fault: makes the error for a sentence.

    Raises:
        WriteampError: there is no such column, or two of the name, or two fields share one.
    """
    known = [name.strip() for name in names]
    found = {}
    for field, where in places.items():
        if isinstance(where, int):
            if where > len(known):
                raise fault(f"{field} is column {where}, and there are {len(known)}")
            found[field] = where - 1
        elif known.count(where) == 1:
            found[field] = known.index(where)
        elif where in known:
            raise fault(f"{known.count(where)} columns are named {quoted(where)}; give its number")
        else:
            raise fault(f"{unknown('column', where, known)}")
    fields: dict[int, str] = {}
    for field, position in found.items():
        if position in fields:  # once by its name, and once by its number
            raise fault(
                f"{fields[position]} and {field} are both column {position + 1} "
                f"({quoted(known[position])}), each has its own"
            )
        fields[position] = field
    return found
