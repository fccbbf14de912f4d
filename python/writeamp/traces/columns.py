"""Meaning of a table's columns, as users state it: `columns:time=1:ms,offset=3:bytes,…`.

Nothing is guessed: each measure has its unit, and each word of an operation its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from writeamp.errors import WriteampError, unknown
from writeamp.traces.quoting import quoted
from writeamp.traces.trace import MAX_LENGTH_BYTES, OPERATIONS, SECTOR_BYTES
from writeamp.traces.words import EXAMPLE
from writeamp.units.byte_sizes import ByteSize

PREFIX = "columns"

# A column: its number, from 1, or its name in the header.
Where: TypeAlias = int | str


@dataclass(frozen=True)
class TimeUnit:
    """Unit of a column of times, and its origin before 1970."""

    words: str
    nanoseconds: int
    before_1970_ns: int = 0


TIME_UNITS = {
    "s": TimeUnit("seconds", 10**9),
    "ms": TimeUnit("milliseconds", 10**6),
    "us": TimeUnit("microseconds", 10**3),
    "ns": TimeUnit("nanoseconds", 1),
    "100ns": TimeUnit("ticks of 100 ns", 100),
    # Nanoseconds since 1601 overflow 64 bits today.
    "filetime": TimeUnit("ticks of 100 ns since 1601", 100, 11_644_473_600_000_000_000),
}
_SEPARATORS = {"comma": ",", "tab": "\t", "space": " ", "semicolon": ";", "pipe": "|"}
_KEYS = ("time", "device", "offset", "length", "op", "separator", "comment", "skip", "header")
_MEASURES = ("offset", "length")
_LAST_COLUMN = 4096
_LAST_SKIPPED = 10**6
_LARGEST_UNIT_BYTES = 2**40
_UNITS = "bytes, sectors (512 bytes) or a size such as 4KiB"


@dataclass(frozen=True)
class Measure:
    """Column of bytes, sectors or pages; without one, `unit_bytes` is every row's value."""

    where: Where | None
    unit_bytes: int
    unit: str

    @property
    def text(self) -> str:
        """Canonical text of the column."""
        return self.unit if self.where is None else f"{self.where}:{self.unit}"


@dataclass(frozen=True)
class Operations:
    """Column of operation words and their meanings; without one, `always` is every row's."""

    where: Where | None
    words: Mapping[str, str]
    always: str = ""

    @property
    def text(self) -> str:
        """Canonical text of the column."""
        if self.where is None:
            return self.always
        return f"{self.where}:" + "/".join(f"{word}={op}" for word, op in self.words.items())

    @property
    def valid(self) -> str:
        """Operation words with their meanings, for a sentence."""
        return meanings(self.words)


@dataclass(frozen=True)
class Columns:
    """Columns of a request's fields, their units, and what else is in a file.

    Attributes:
        offset, length, op: what every request needs.
        time: column and unit (a key of `TIME_UNITS`); None for a table without times.
        device: column; None for a table of one device.
        separator: one character; a space stands for any run of spaces and tabs.
        comment: what begins a line that is no row; empty for none.
        skip: lines at the beginning that are no rows.
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

    @property
    def places(self) -> dict[str, Where]:
        """The column of each field that has one."""
        found = {
            "time": None if self.time is None else self.time[0],
            "device": self.device,
            "offset": self.offset.where,
            "length": self.length.where,
            "op": self.op.where,
        }
        return {name: where for name, where in found.items() if where is not None}

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
        is_named = any(isinstance(where, str) for where in self.places.values())
        found = {
            "time": "" if self.time is None else ":".join(map(str, self.time)),
            "device": "" if self.device is None else str(self.device),
            "offset": self.offset.text,
            "length": self.length.text,
            "op": self.op.text,
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
        return [f"{time}; offsets are {_counted(self.offset)}, lengths {_counted(self.length)}"]


def meanings(words: Mapping[str, str]) -> str:
    """Return operation words with their meanings, for a sentence."""
    return ", ".join(f"{word} ({op})" for word, op in words.items())


def is_columns(text: str) -> bool:
    """Return whether the name of a format is a text `columns:…`."""
    return text == PREFIX or text.startswith(f"{PREFIX}:")


def parse_columns(text: str) -> Columns:
    """Return the columns that a text `columns:…` states.

    >>> parse_columns("columns:op=write, offset=lba:sectors, length=4KiB").text
    'columns:offset=lba:sectors,length=4KiB,op=write'

    Raises:
        WriteampError: a key is unknown or missing, or a value is not valid; says what is.
    """
    given = _given(text)
    measures = {name: _measure(name, given[name]) for name in _MEASURES if name in given}
    op = _operations(given["op"]) if "op" in given else None
    missing = [name for name in (*_MEASURES, "op") if name not in given]
    if op is None or missing:
        raise _fault(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; needed are "
            "offset=COLUMN:UNIT, length=COLUMN:UNIT and op=COLUMN:WORD=read/WORD=write, "
            f"as in {EXAMPLE}"
        )
    is_header = _yes_or_no(given.get("header"))
    found = Columns(
        **measures,
        op=op,
        time=_time(given["time"]) if "time" in given else None,
        device=_where("device", given["device"]) if "device" in given else None,
        separator=_separator(given.get("separator", "comma")),
        comment=given.get("comment", ""),
        skip=_skip(given.get("skip", "0")),
        header=bool(is_header),
    )
    named = [where for where in found.places.values() if isinstance(where, str)]
    if named and is_header is False:
        raise _fault(f"{quoted(named[0])} is the name of a column, which header=no says are none")
    _refuse_doubles(found.places)
    return found if not named else Columns(**{**vars(found), "header": True})


def _given(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.removeprefix(PREFIX).removeprefix(":").split(","):
        if not part.strip():
            continue
        key, is_set, value = part.partition("=")
        key = key.strip()
        if key not in _KEYS:
            raise _fault(f"{unknown('key', key, _KEYS)}")
        if not is_set or not value.strip():
            raise _fault(f"{key} has no value, as in {EXAMPLE}")
        if key in found:
            raise _fault(f"{key} is given twice, each is given once")
        found[key] = value.strip()
    return found


def _where(field: str, text: str) -> Where:
    if not text.isdecimal():
        if text.lstrip("+-").replace(".", "").isdecimal():
            raise _fault(f"{field} is column {quoted(text)}; columns count from 1")
        return text
    if len(text) > len(str(_LAST_COLUMN)) or not 1 <= int(text) <= _LAST_COLUMN:
        raise _fault(f"{field} is column {quoted(text)}; columns count from 1, to {_LAST_COLUMN}")
    return int(text)


def _time(text: str) -> tuple[Where, str]:
    where, colon, unit = text.rpartition(":")
    if not colon or not where:
        raise _fault(f"time={text} does not say its unit, as time=1:ms does; {_time_units()}")
    if unit not in TIME_UNITS:
        raise _fault(f"time={text} has the unit {quoted(unit)}; {_time_units()}")
    return _where("time", where), unit


def _time_units() -> str:
    return "valid are " + ", ".join(f"{name} ({unit.words})" for name, unit in TIME_UNITS.items())


def _measure(field: str, text: str) -> Measure:
    where, colon, unit = text.rpartition(":")
    if colon and where:
        return Measure(_where(field, where), _unit_bytes(field, text, unit), unit)
    if field == "length" and not text.isdecimal():
        try:
            size = _size(text)
        except WriteampError:
            size = 0
        if 0 < size <= MAX_LENGTH_BYTES:
            return Measure(None, size, text)
    one_size = ", or a size that all rows have, such as 4KiB" if field == "length" else ""
    raise _fault(
        f"{field}={text} does not say its unit, as {field}=3:bytes does; valid are {_UNITS}"
        f"{one_size}"
    )


def _unit_bytes(field: str, text: str, unit: str) -> int:
    named = {"bytes": 1, "sectors": SECTOR_BYTES}
    if unit in named:
        return named[unit]
    try:
        size = 0 if unit.isdecimal() else _size(unit)
    except WriteampError:
        size = 0
    if not 0 < size <= _LARGEST_UNIT_BYTES:
        raise _fault(f"{field}={text} has the unit {quoted(unit)}; valid are {_UNITS}")
    return size


def _size(text: str) -> int:
    return int(ByteSize().check("size", text))


def _operations(text: str) -> Operations:
    if text in OPERATIONS:
        return Operations(None, {}, always=text)
    where, colon, listed = text.partition(":")
    valid = "op=5:0=read/1=write, with any of read, write, trim and flush, or op=write for all rows"
    if not colon or not where:
        raise _fault(f"op={text} does not say what its words mean; valid is such as {valid}")
    words: dict[str, str] = {}
    for one in listed.split("/"):
        word, _, op = one.rpartition("=")
        if not word or op not in OPERATIONS:
            raise _fault(f"op={text} has {quoted(one)}; valid is such as {valid}")
        if words.setdefault(word, op) != op:
            raise _fault(f"op={text} has {quoted(word)} twice, each word means one operation")
    return Operations(_where("op", where), words)


def _separator(text: str) -> str:
    if text in _SEPARATORS:
        return _SEPARATORS[text]
    if len(text) != 1 or not text.isascii() or not text.isprintable() or text.isalnum():
        raise _fault(
            f"separator is {quoted(text)}; valid are {', '.join(_SEPARATORS)} and one character"
        )
    return text


def _skip(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_LAST_SKIPPED)) or int(text) > _LAST_SKIPPED:
        raise _fault(f"skip is {quoted(text)}; valid are 0 to {_LAST_SKIPPED} lines")
    return int(text)


def _yes_or_no(text: str | None) -> bool | None:
    answers = {None: None, "yes": True, "no": False}
    if text not in answers:
        raise _fault(f"header is {quoted(text)}; valid are yes and no")
    return answers[text]


def _refuse_doubles(places: Mapping[str, Where]) -> None:
    fields: dict[Where, str] = {}
    for field, where in places.items():
        if where in fields:
            raise _fault(f"{fields[where]} and {field} are both column {where}, each has its own")
        fields[where] = field


def _counted(measure: Measure) -> str:
    if measure.where is None:
        return f"all {measure.unit}"
    return {1: "bytes", SECTOR_BYTES: "sectors of 512 bytes"}.get(
        measure.unit_bytes, f"counted in {measure.unit}"
    )


def _fault(sentence: str) -> WriteampError:
    return WriteampError(f"{PREFIX}: {sentence}")


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
