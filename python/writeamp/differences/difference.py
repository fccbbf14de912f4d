"""Difference of two results of one verb, read from the JSON documents that it printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs
from writeamp.pages.embedded import strict_json
from writeamp.reports.embedding import report_in
from writeamp.results.card import Card, Presented
from writeamp.results.numbers import four_digits
from writeamp.results.signatures import SIGNATURES, signed_verb

_MOST_BYTES = 64 << 20


def result_document(source: Any) -> dict[str, Any]:
    """Return a result as JSON types: from a file of --json or --report, or a result itself.

    Raises:
        WriteampError: it cannot be read, or is no JSON object.
    """
    if isinstance(source, Mapping):
        return dict(source)
    if hasattr(source, "to_dict"):
        found: dict[str, Any] = source.to_dict()
        return found
    path = Path(file_name(source))
    if path.suffix.lower() == ".html":
        return dict(report_in(path).document)
    try:
        content = inputs.read_bytes(path, _MOST_BYTES, "result")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteampError(f"cannot read {str(path)!r}: {reason}") from None
    try:
        document = strict_json(content)
    except (ValueError, RecursionError) as error:
        raise _no_result(path, _why(content, error)) from None
    if not isinstance(document, dict):
        raise _no_result(path, ": it is no object")
    return document


def _no_result(path: Path, why: str) -> WriteampError:
    return WriteampError(
        f"{path} is no JSON result of writeamp, as --json of a verb prints it{why}"
    )


def _why(content: bytes, error: Exception) -> str:
    """Return what is wrong with a document; nothing of what is of another kind."""
    if not content.strip():
        return ": the file is empty"
    return f": {error}" if content.lstrip().startswith(b"{") else ""


def verb_of(document: Mapping[str, Any], name: str) -> str:
    """Return the verb whose result a document is.

    Raises:
        WriteampError: it is of none.
    """
    verb = signed_verb(document)
    if verb is None:
        raise WriteampError(
            f"{name} is no result of a verb that can be compared; such are: {', '.join(SIGNATURES)}"
        )
    return verb


Verdict: TypeAlias = Literal["differs", "within noise", "no interval"]
Kind: TypeAlias = Literal["found", "length of the run"]
Interval: TypeAlias = tuple[float, float]

# Numbers that were set, or follow from what was set; all other numbers were found.
_SET = frozenset(
    {
        *("blocks", "pages_per_block", "page_bytes", "physical_pages", "logical_pages"),
        *("capacity_bytes", "held_pages", "op", "fill", "spare_factor", "utilization"),
        *("spare_blocks", "spare_share", "partial_page_factor", "d", "window"),
        *("replicas", "seed", "target_wa", "w_max", "warranty_years"),
    }
)
# Texts that were found, and what says the same again.
_SAID = frozenset(
    {
        *("notes", "warnings", "hints", "told", "shrunk", "steady_reason", "reason"),
        *("source", "name", "version", "loads"),
    }
)
# What names a row of a table; a row of one result is compared with that of the same name.
_NAMES = ("workload", "way", "model", "manager", "victims", "file", "change", "wa_definition")
# Counts that only say how long a run was, unless they have intervals; so do those of these tables.
_COUNTS = frozenset(
    {"host_pages", "flash_pages", "erases", "writes", "drive_writes", "warmup_pages"}
)
_TABLES_OF_COUNTS = ("host", "causes")
# Of these the computer decides, and the clock.
_OF_THE_MACHINE = frozenset({"elapsed_s", "host_pages_per_s", "seconds", "skipped", "out"})


@dataclass(frozen=True)
class Setting:
    """A setting with its value in either result; None where it has none."""

    key: str
    a: Any
    b: Any


@dataclass(frozen=True)
class NumberPair:
    """A number that both results found.

    Attributes:
        key: its keys in the documents, joined by ".".
        a, b: in either result.
        a_ci95, b_ci95: 95% intervals; None of none.
    """

    key: str
    a: float
    b: float
    a_ci95: Interval | None
    b_ci95: Interval | None

    @property
    def difference(self) -> float:
        """The second less the first."""
        return self.b - self.a

    @property
    def difference_ci95(self) -> Interval | None:
        """Interval of the difference of independent results; None if one has no interval."""
        if self.a_ci95 is None or self.b_ci95 is None:
            return None
        low = math.hypot(self.b - self.b_ci95[0], self.a_ci95[1] - self.a)
        high = math.hypot(self.b_ci95[1] - self.b, self.a - self.a_ci95[0])
        return self.difference - low, self.difference + high

    @property
    def kind(self) -> Kind:
        """Whether it grows with the length of the run, and tells little else."""
        *tables, name = self.key.split(".")
        is_count = name in _COUNTS or (bool(tables) and tables[-1] in _TABLES_OF_COUNTS)
        has_interval = self.a_ci95 is not None or self.b_ci95 is not None
        return "length of the run" if is_count and not has_interval else "found"

    @property
    def verdict(self) -> Verdict:
        """Whether noise alone explains the difference."""
        bounds = self.difference_ci95
        if bounds is None:
            return "no interval"
        return "within noise" if bounds[0] <= 0 <= bounds[1] else "differs"

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as JSON types; what no float holds is None."""
        bounds = self.difference_ci95
        is_held = bounds is not None and all(map(math.isfinite, bounds))
        return {
            "key": self.key,
            "a": self.a,
            "b": self.b,
            "a_ci95": self.a_ci95,
            "b_ci95": self.b_ci95,
            "difference": _finite(self.difference),
            "difference_ci95": bounds if is_held else None,
            "relative": _finite(self.difference / self.a) if self.a else None,
            "verdict": self.verdict,
            "kind": self.kind,
        }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


@dataclass(frozen=True)
class Difference(Presented):
    """Difference of two results of one verb.

    Attributes:
        verb: that printed both.
        settings: that differ.
        numbers: that both found, and that are not equal.
        per_host_page: flash pages of each cause for each page that the host wrote, where these are
            not equal; their keys are those of the counts.
        equal: how many numbers are equal.
        only: keys of numbers that one of them has alone, and which one: "a" or "b".
        notes: sentences on what to keep in mind.
    """

    verb: str
    settings: tuple[Setting, ...]
    numbers: tuple[NumberPair, ...]
    per_host_page: tuple[NumberPair, ...]
    equal: int
    only: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [one.to_dict() for one in self.numbers]

    def card(self) -> Card:
        """Return the settings that differ, then WA and its causes, then lengths of the runs."""
        settings = [(one.key, _in_words(one.a), _in_words(one.b)) for one in self.settings]
        counts = [one for one in self.numbers if one.kind == "length of the run"]
        parts = [
            Card("Set differently", settings, ("set differently", "A", "B"), is_ruled=False),
            _numbers_card("found", [one for one in self.numbers if one not in counts]),
            _numbers_card("per host page", self.per_host_page),
            _numbers_card("length of the run", counts),
        ]
        title = f"Two results of {self.verb}" + ("" if settings else ": no setting differs")
        return Card(title, (), notes=self.notes, parts=[part for part in parts if part.rows])

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON types."""
        return {
            "verb": self.verb,
            "settings": [{"key": one.key, "a": one.a, "b": one.b} for one in self.settings],
            "numbers": [one.to_dict() for one in self.numbers],
            "per_host_page": [one.to_dict() for one in self.per_host_page],
            "equal": self.equal,
            "only": [{"key": key, "in": which} for key, which in self.only],
            "notes": list(self.notes),
        }


def _numbers_card(title: str, pairs: Sequence[NumberPair]) -> Card:
    rows = [
        (
            one.key,
            _with_bounds(one.a, one.a_ci95),
            _with_bounds(one.b, one.b_ci95),
            _change(one),
            "" if one.verdict == "no interval" else one.verdict,
        )
        for one in pairs
    ]
    return Card(title, rows, (title, "A", "B", "B − A", ""), is_ruled=False)


def _change(one: NumberPair) -> str:
    shown = _with_bounds(one.difference, one.difference_ci95)
    return f"{shown} ({one.difference / one.a:+.2%})" if one.a else shown


def _with_bounds(value: float, bounds: tuple[float, float] | None) -> str:
    text = four_digits(value)
    if bounds is None:
        return text
    return f"{text} [{four_digits(bounds[0])}, {four_digits(bounds[1])}]"


def _in_words(value: Any) -> str:
    if isinstance(value, float):
        return four_digits(value)
    return "–" if value is None else str(value)


def diff(a: Any, b: Any) -> Difference:
    """Return what two results of one verb have set and found differently.

    Args:
        a: a result, its JSON document, or a file of that.
        b: the other one.

    Returns:
        `Difference`: `settings` and `numbers` that differ, each with both values; `equal`, `notes`.

    Raises:
        WriteampError: one cannot be read, is no result, or they are of different verbs.

    >>> import writeamp as wa
    >>> drive = {"blocks": 64, "pages_per_block": 16, "writes": 20_000, "warmup": 5000}
    >>> found = wa.diff(wa.simulate(op=0.2, **drive), wa.simulate(op=0.4, **drive))
    >>> next(one.verdict for one in found.numbers if one.key == "wa")
    'differs'
    """
    first, last = result_document(a), result_document(b)
    verb, other = verb_of(first, _name(a, "the first")), verb_of(last, _name(b, "the second"))
    if verb != other:
        raise WriteampError(
            f"the results are of two verbs, {verb} and {other}; compare two of one verb"
        )
    left, right = dict(_leaves(first)), dict(_leaves(last))
    numbers = [
        NumberPair(key, left[key], right[key], _interval(left, key), _interval(right, key))
        for key in left
        if key in right and _is_found(key, left[key]) and _is_found(key, right[key])
    ]
    unequal = tuple(one for one in numbers if one.a != one.b)
    return Difference(
        verb,
        tuple(_settings(left, right)),
        unequal,
        tuple(_per_host_page(numbers)),
        len(numbers) - len(unequal),
        tuple(_only(left, right)),
        tuple(_notes(left, right)) if unequal else (),
    )


def _per_host_page(numbers: Iterable[NumberPair]) -> Iterator[NumberPair]:
    """Yield the counts of causes divided by the host pages beside them, where these differ."""
    by_key = {one.key: one for one in numbers}
    for one in by_key.values():
        table = one.key.rpartition(".")[0]
        host = by_key.get(f"{table}.host")
        if _last(table) != "causes" or host is None or not (host.a and host.b):
            continue
        a, b = one.a / host.a, one.b / host.b
        if a != b:
            yield NumberPair(one.key, a, b, None, None)


def _name(source: Any, otherwise: str) -> str:
    return otherwise if isinstance(source, Mapping) or hasattr(source, "to_dict") else str(source)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a document by their keys; rows of tables by their names."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            is_repeated = key == "wa_bytes" and one == value.get("wa")
            if key not in _OF_THE_MACHINE | _SAID and not is_repeated:
                yield from _leaves(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        for place, row in enumerate(value):
            names = [str(row[name]) for name in _NAMES if isinstance(row.get(name), str)]
            yield from _leaves(row, f"{path}[{', '.join(names) or place}]")
    else:
        yield path, value


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _is_found(key: str, value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and _last(key) not in _SET and not _is_bound(key)


def _is_bound(key: str) -> bool:
    return _last(key).endswith(("_low", "_high"))


def _interval(values: Mapping[str, Any], key: str) -> Interval | None:
    """Return the interval that stands beside a number."""
    head, point, name = key.rpartition(".")
    for beside in (f"{name}_ci95", "endurance_ci95" if name.startswith("endurance") else ""):
        found = values.get(f"{head}{point}{beside}")
        if isinstance(found, list | tuple) and len(found) == 2 and all(map(_is_number, found)):
            return float(found[0]), float(found[1])
    low, high = values.get(f"{key}_low"), values.get(f"{key}_high")
    if low is None or high is None or not (_is_number(low) and _is_number(high)):
        return None
    return float(low), float(high)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _settings(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Setting]:
    for key in dict.fromkeys([*left, *right]):
        a, b = left.get(key), right.get(key)
        is_number = any(_is_found(key, one) for one in (a, b))
        is_list = any(isinstance(one, list | tuple) for one in (a, b))
        if a != b and not (is_number or is_list or _is_bound(key)):
            yield Setting(key, a, b)


def _only(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for values, others, which in ((left, right, "a"), (right, left, "b")):
        for key, value in values.items():
            if _is_found(key, value) and not _is_found(key, others.get(key)):
                yield key, which


def _notes(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[str]:
    if left.get("seed") is not None and left.get("seed") == right.get("seed"):
        yield (
            "both have one seed: their draws are partly the same, so that noise is less than their "
            "intervals say"
        )
    if False in (left.get("steady"), right.get("steady")):
        yield "one of them was not steady when it ended, so that its interval may be too narrow"
