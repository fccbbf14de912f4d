"""Difference of two results of the same command, read from their JSON documents."""

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
    """Return a result as JSON types, from a file of --json or --report or from a result object.

    Raises:
        WriteampError: the file cannot be read, or is not a JSON object.
    """
    if isinstance(source, Mapping):
        return dict(source)
    if hasattr(source, "to_dict"):
        converted: dict[str, Any] = source.to_dict()
        return converted
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
        raise _no_result(path, ": it is not an object")
    return document


def _no_result(path: Path, why: str) -> WriteampError:
    return WriteampError(f"{path} is not a JSON result of writeamp, as printed by --json{why}")


def _why(content: bytes, error: Exception) -> str:
    """Return the fault of an invalid JSON document, or "" if it is another kind of file."""
    if not content.strip():
        return ": the file is empty"
    return f": {error}" if content.lstrip().startswith(b"{") else ""


def verb_of(document: Mapping[str, Any], name: str) -> str:
    """Return the command that printed a document.

    Raises:
        WriteampError: the document is not a result of a command that `diff` supports.
    """
    verb = signed_verb(document)
    if verb is None:
        raise WriteampError(
            f"{name} is not a result that diff can compare; valid are results of "
            f"{', '.join(SIGNATURES)}"
        )
    return verb


Verdict: TypeAlias = Literal["differs", "within noise", "no interval"]
Kind: TypeAlias = Literal["found", "length of the run"]
Interval: TypeAlias = tuple[float, float]

# Keys of numbers that are settings or follow from settings; all other numbers are metrics.
_SET = frozenset(
    {
        *("blocks", "pages_per_block", "page_bytes", "physical_pages", "logical_pages"),
        *("capacity_bytes", "held_pages", "op", "fill", "spare_factor", "utilization"),
        *("spare_blocks", "spare_share", "partial_page_factor", "d", "window"),
        *("replicas", "seed", "target_wa", "w_max", "warranty_years"),
    }
)
# Keys of texts that are not settings, and of values that repeat others.
_TEXTS = frozenset(
    {
        *("notes", "warnings", "hints", "hint", "told", "shrunk", "steady_reason", "reason"),
        *("source", "name", "version", "loads"),
    }
)
# Keys that name a row of a table; rows with the same name are compared.
_NAMES = ("workload", "way", "model", "manager", "victims", "file", "change", "wa_definition")
# Counts that only reflect the length of a run, unless they have an interval; and tables that have
# only such counts.
_COUNTS = frozenset(
    {"host_pages", "flash_pages", "erases", "writes", "drive_writes", "warmup_pages"}
)
_TABLES_OF_COUNTS = ("host", "causes")
# Keys of values that depend on the computer or the clock, so they are not compared.
_OF_THE_MACHINE = frozenset({"elapsed_s", "host_pages_per_s", "seconds", "skipped", "out"})


@dataclass(frozen=True)
class Setting:
    """A setting with its value in each result; None if a result does not have it."""

    key: str
    a: Any
    b: Any


@dataclass(frozen=True)
class NumberPair:
    """A metric that both results have.

    Attributes:
        key: keys of the metric in the documents, joined by ".".
        a, b: value in each result.
        a_ci95, b_ci95: 95% interval in each result, or None.
    """

    key: str
    a: float
    b: float
    a_ci95: Interval | None
    b_ci95: Interval | None

    @property
    def difference(self) -> float:
        """Second value minus first value."""
        return self.b - self.a

    @property
    def difference_ci95(self) -> Interval | None:
        """95% interval of the difference, for independent results; None if one has no interval."""
        if self.a_ci95 is None or self.b_ci95 is None:
            return None
        low = math.hypot(self.b - self.b_ci95[0], self.a_ci95[1] - self.a)
        high = math.hypot(self.b_ci95[1] - self.b, self.a - self.a_ci95[0])
        return self.difference - low, self.difference + high

    @property
    def kind(self) -> Kind:
        """Whether the metric mainly reflects how long the run was.

        "length of the run" for a count without a 95% interval, otherwise "found".
        """
        *tables, name = self.key.split(".")
        is_count = name in _COUNTS or (bool(tables) and tables[-1] in _TABLES_OF_COUNTS)
        has_interval = self.a_ci95 is not None or self.b_ci95 is not None
        return "length of the run" if is_count and not has_interval else "found"

    @property
    def verdict(self) -> Verdict:
        """Whether noise explains the difference.

        "within noise" if the 95% interval of the difference contains 0, "differs" if it does not,
        and "no interval" if a result has none.
        """
        bounds = self.difference_ci95
        if bounds is None:
            return "no interval"
        return "within noise" if bounds[0] <= 0 <= bounds[1] else "differs"

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as JSON types, with None in place of numbers that overflowed."""
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
    """Difference of two results of the same command.

    Attributes:
        verb: name of the command that printed both results.
        settings: settings that differ.
        numbers: metrics that both results have with different values.
        per_host_page: flash pages of each cause per host page, if they differ; the keys are those
            of the counts.
        equal: number of equal metrics.
        only: keys of metrics that only one result has, with the name of this result, "a" or "b".
        notes: sentences on limits of the comparison.
    """

    verb: str
    settings: tuple[Setting, ...]
    numbers: tuple[NumberPair, ...]
    per_host_page: tuple[NumberPair, ...]
    equal: int
    only: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [pair.to_dict() for pair in self.numbers]

    def card(self) -> Card:
        """Return tables of differing settings, metrics, causes, and lengths of the runs."""
        settings = [
            (setting.key, _in_words(setting.a), _in_words(setting.b)) for setting in self.settings
        ]
        counts = [pair for pair in self.numbers if pair.kind == "length of the run"]
        parts = [
            Card("Settings", settings, ("settings", "A", "B"), is_ruled=False),
            _numbers_card("metrics", [pair for pair in self.numbers if pair not in counts]),
            _numbers_card("per host page: programmed pages by cause", self.per_host_page),
            _numbers_card("length of the run", counts),
        ]
        title = f"Two results of {self.verb}" + ("" if settings else ": no setting differs")
        return Card(title, (), notes=self.notes, parts=[table for table in parts if table.rows])

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON types."""
        return {
            "verb": self.verb,
            "settings": [
                {"key": setting.key, "a": setting.a, "b": setting.b} for setting in self.settings
            ],
            "numbers": [pair.to_dict() for pair in self.numbers],
            "per_host_page": [pair.to_dict() for pair in self.per_host_page],
            "equal": self.equal,
            "only": [{"key": key, "in": which} for key, which in self.only],
            "notes": list(self.notes),
        }


def _numbers_card(title: str, pairs: Sequence[NumberPair]) -> Card:
    rows = [
        (
            pair.key,
            _with_bounds(pair.a, pair.a_ci95),
            _with_bounds(pair.b, pair.b_ci95),
            _change(pair),
            "" if pair.verdict == "no interval" else pair.verdict,
        )
        for pair in pairs
    ]
    return Card(title, rows, (title, "A", "B", "B − A", ""), is_ruled=False)


def _change(pair: NumberPair) -> str:
    shown = _with_bounds(pair.difference, pair.difference_ci95)
    return f"{shown} ({pair.difference / pair.a:+.2%})" if pair.a else shown


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
    """Compare two results of the same command: settings and metrics that differ.

    Args:
        a: a result, its JSON document, or the path of a file with the document.
        b: the other result, in the same forms.

    Returns:
        `Difference`: `settings` and `numbers` that differ, each with both values; `equal`, `notes`.

    Raises:
        WriteampError: a file cannot be read or is not a result, or the commands differ.

    >>> import writeamp as wa
    >>> drive = {"blocks": 64, "pages_per_block": 16, "writes": 20_000, "warmup": 5000}
    >>> difference = wa.diff(wa.simulate(op=0.2, **drive), wa.simulate(op=0.4, **drive))
    >>> next(pair.verdict for pair in difference.numbers if pair.key == "wa")
    'differs'
    """
    first, last = result_document(a), result_document(b)
    verb, other = verb_of(first, _name(a, "the first")), verb_of(last, _name(b, "the second"))
    if verb != other:
        raise WriteampError(
            f"the results are of two commands, {verb} and {other}; compare results of the same "
            "command"
        )
    left, right = dict(_leaves(first)), dict(_leaves(last))
    numbers = [
        NumberPair(key, left[key], right[key], _interval(left, key), _interval(right, key))
        for key in left
        if key in right and _is_metric(key, left[key]) and _is_metric(key, right[key])
    ]
    unequal = tuple(pair for pair in numbers if pair.a != pair.b)
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
    """Yield the flash pages of each cause per host page, if they differ."""
    by_key = {count.key: count for count in numbers}
    for count in by_key.values():
        table = count.key.rpartition(".")[0]
        host = by_key.get(f"{table}.host")
        if _last(table) != "causes" or host is None or not (host.a and host.b):
            continue
        a, b = count.a / host.a, count.b / host.b
        if a != b:
            yield NumberPair(count.key, a, b, None, None)


def _name(source: Any, otherwise: str) -> str:
    return otherwise if isinstance(source, Mapping) or hasattr(source, "to_dict") else str(source)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a document with their nested keys joined; rows are keyed by name."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            is_repeated = key == "wa_bytes" and item == value.get("wa")
            if key not in _OF_THE_MACHINE | _TEXTS and not is_repeated:
                yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for place, row in enumerate(value):
            names = [str(row[name]) for name in _NAMES if isinstance(row.get(name), str)]
            yield from _leaves(row, f"{path}[{', '.join(names) or place}]")
    else:
        yield path, value


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _is_metric(key: str, value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and _last(key) not in _SET and not _is_bound(key)


def _is_bound(key: str) -> bool:
    return _last(key).endswith(("_low", "_high"))


def _interval(values: Mapping[str, Any], key: str) -> Interval | None:
    """Return the 95% interval of a number, from the keys beside it."""
    head, point, name = key.rpartition(".")
    for key_ci95 in (f"{name}_ci95", "endurance_ci95" if name.startswith("endurance") else ""):
        interval = values.get(f"{head}{point}{key_ci95}")
        if (
            isinstance(interval, list | tuple)
            and len(interval) == 2
            and all(map(_is_number, interval))
        ):
            return float(interval[0]), float(interval[1])
    low, high = values.get(f"{key}_low"), values.get(f"{key}_high")
    if low is None or high is None or not (_is_number(low) and _is_number(high)):
        return None
    return float(low), float(high)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _settings(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Setting]:
    for key in dict.fromkeys([*left, *right]):
        a, b = left.get(key), right.get(key)
        is_number = any(_is_metric(key, value) for value in (a, b))
        is_list = any(isinstance(value, list | tuple) for value in (a, b))
        if a != b and not (is_number or is_list or _is_bound(key)):
            yield Setting(key, a, b)


def _only(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for values, others, which in ((left, right, "a"), (right, left, "b")):
        for key, value in values.items():
            if _is_metric(key, value) and not _is_metric(key, others.get(key)):
                yield key, which


def _notes(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[str]:
    if left.get("seed") is not None and left.get("seed") == right.get("seed"):
        yield (
            "both results use the same seed, so their random draws partly agree, and the interval "
            "of their difference may be too wide"
        )
    if False in (left.get("steady"), right.get("steady")):
        yield "a run was not steady when it ended, so its interval may be too narrow"
