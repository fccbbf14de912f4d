"""Difference of two results of the same command, read from their JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from writeamp.differences.documents import (
    APPLICATION_METRIC,
    Interval,
    failure_of,
    interval_of,
    is_bound,
    is_metric,
    last_of,
    result_document,
    values_of,
    verb_of,
)
from writeamp.differences.names import name_of, value_in_words
from writeamp.differences.pairs import NumberPair, Setting
from writeamp.errors import WriteampError
from writeamp.plots.style import with_error
from writeamp.results.card import Card, Presented
from writeamp.statistics.replicas import student_interval

_Values = Mapping[str, Any]
# Metrics that repeat another one, which the tables show instead.
_REPEATED = {
    "host.written_pages": "host_pages",
    "host.written_bytes": "host_bytes",
    "causes.host": "host_pages",
    "layers.device_bytes": "host_bytes",
    "layers.file_system_bytes": "host_bytes",
    "layers.flash_bytes": "flash_bytes",
    "layers.factors.file_system": APPLICATION_METRIC,
}
# Metrics of two commands on virtual drives that are shown first, and even if they are equal.
_OF_COMMANDS = (APPLICATION_METRIC, "flash_bytes", "wa", "host_bytes")
# Errors of relative differences below this would be printed as 0.0%.
_LEAST_ERROR = 0.0005
# Maximum number of keys of only one result that are printed.
_MOST_ONLY = 10


@dataclass(frozen=True)
class Failure:
    """Reason why the run of a result failed; `side` is "a" or "b"."""

    side: str
    reason: str


@dataclass(frozen=True)
class Difference(Presented):
    """Difference of two results of the same command.

    Attributes:
        verb: name of the command that printed both results.
        settings: settings that differ.
        numbers: metrics that both results have with different values. The largest relative
            differences come first, and those within noise last. Of two commands on virtual drives,
            flash bytes per application byte, flash bytes, WA and host bytes come first, even if
            they are equal, and counts after bytes.
        per_host_page: flash pages of each cause per host page, if they differ; the keys are those
            of the counts.
        equal: number of equal metrics.
        only: keys of metrics that only one result has, with the name of this result, "a" or "b".
        notes: sentences on limits of the comparison.
        failures: results whose run failed.
        replicas: number of runs of each result, whose mean is compared.
    """

    verb: str
    settings: tuple[Setting, ...]
    numbers: tuple[NumberPair, ...]
    per_host_page: tuple[NumberPair, ...]
    equal: int
    only: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    failures: tuple[Failure, ...] = ()
    replicas: int = 1

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [pair.to_dict() for pair in self.numbers]

    def card(self) -> Card:
        """Return tables of differing metrics, causes, settings, and lengths of the runs."""
        settings = [
            (setting.name, _in_words(setting.key, setting.a), _in_words(setting.key, setting.b))
            for setting in self.settings
        ]
        by_key = {pair.key: (pair.a, pair.b) for pair in self.numbers}
        shown = [
            pair
            for pair in self.numbers
            if by_key.get(_REPEATED.get(pair.key, "")) != (pair.a, pair.b)
        ]
        counts = [pair for pair in shown if pair.kind == "length of the run"]
        sides = tuple(self._heading(side) for side in ("a", "b"))
        parts = [
            _numbers_card("metric", [pair for pair in shown if pair not in counts], sides),
            _numbers_card("programmed pages per host page", self.per_host_page, sides),
            Card("Settings", settings, ("setting", *sides), is_ruled=False),
            _numbers_card("length of the run", counts, sides),
        ]
        title = f"Two results of {self.verb}"
        if self.replicas > 1:
            title += f", each the mean of {self.replicas} runs"
        if not self.settings:
            title += "; no setting differs"
        if not self.numbers:
            title += f"; all {self.equal} numbers are equal"
        only = [f"only in {side.upper()}: {name_of(key)}" for key, side in self.only[:_MOST_ONLY]]
        if len(self.only) > _MOST_ONLY:
            more = len(self.only) - _MOST_ONLY
            only.append(f"{more} more metrics are in one result only (all: --json)")
        parts = [table for table in parts if table.rows]
        return Card(title, (), notes=self.notes, parts=parts, legend=only)

    def _heading(self, side: str) -> str:
        failed = any(failure.side == side for failure in self.failures)
        return f"{side.upper()} (failed)" if failed else side.upper()

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON types."""
        return {
            "verb": self.verb,
            "settings": [setting.to_dict() for setting in self.settings],
            "numbers": [pair.to_dict() for pair in self.numbers],
            "per_host_page": [pair.to_dict() for pair in self.per_host_page],
            "equal": self.equal,
            "only": [{"key": key, "in": which} for key, which in self.only],
            "failures": [
                {"in": failure.side, "reason": failure.reason} for failure in self.failures
            ],
            "replicas": self.replicas,
            "notes": list(self.notes),
        }


def _numbers_card(title: str, pairs: Sequence[NumberPair], sides: tuple[str, ...]) -> Card:
    rows = [
        (
            pair.name,
            _with_error(pair.key, pair.a, pair.a_ci95),
            _with_error(pair.key, pair.b, pair.b_ci95),
            _change(pair),
            "" if pair.verdict == "no interval" else pair.verdict,
        )
        for pair in pairs
    ]
    headings = (title, *(f">{side}" for side in sides), ">B − A", "")
    return Card(title, rows, headings, is_ruled=False)


def _change(pair: NumberPair) -> str:
    if pair.relative is None:
        return value_in_words(pair.key, pair.difference)
    bounds = pair.difference_ci95
    form = ".1%" if abs(pair.relative) < 1 else ".0%"
    if bounds is None:
        return f"{pair.relative:+{form}}"
    half_width = max(abs(bound - pair.difference) for bound in bounds) / abs(pair.a)
    error = f" ± {half_width:{form}}" if half_width >= _LEAST_ERROR else ""
    return f"{pair.relative:+{form}}{error}"


def _with_error(key: str, value: float, bounds: Interval | None) -> str:
    if bounds is None or bounds[0] == bounds[1]:
        return value_in_words(key, value)
    if last_of(key).endswith("_bytes") or abs(value) >= 1000:
        return value_in_words(key, value)
    # The larger side of the interval: its exact ends would be too wide for a terminal.
    half_width = max(value - bounds[0], bounds[1] - value)
    return with_error(value, value - half_width, value + half_width)


def _in_words(key: str, value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value_in_words(key, value)
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
    return difference_of(verb, [first], [last])


def _name(source: Any, otherwise: str) -> str:
    return otherwise if isinstance(source, Mapping) or hasattr(source, "to_dict") else str(source)


def difference_of(verb: str, firsts: Sequence[_Values], lasts: Sequence[_Values]) -> Difference:
    """Return the difference of two results, each the mean of replicas.

    Args:
        verb: command that printed the results.
        firsts: documents of the first result's replicas.
        lasts: documents of the second result's, as many. Replicas at the same place share their
            random draws, so the interval of a difference is that of the differences of pairs.
    """
    of_firsts, of_lasts = ([values_of(each) for each in side] for side in (firsts, lasts))
    left, right = _mean_values(of_firsts), _mean_values(of_lasts)
    numbers = [
        NumberPair(
            key,
            left[key],
            right[key],
            interval_of(left, key),
            interval_of(right, key),
            _paired_interval(key, of_firsts, of_lasts),
        )
        for key in left
        if key in right and is_metric(key, left[key]) and is_metric(key, right[key])
    ]
    unequal = sorted((pair for pair in numbers if pair.a != pair.b), key=lambda pair: pair.weight)
    equal = len(numbers) - len(unequal)
    if verb == "serve":
        same = [pair for pair in numbers if pair.a == pair.b and pair.key in _OF_COMMANDS]
        listed = sorted([*same, *unequal], key=lambda pair: _place_of_command(pair.key))
    else:
        listed = unequal
    is_paired = len(firsts) > 1
    return Difference(
        verb,
        tuple(_settings(left, right)),
        tuple(listed if unequal else ()),
        tuple(sorted(_per_host_page(numbers), key=lambda pair: pair.weight)),
        equal,
        tuple(_only(left, right)),
        tuple(_notes(firsts, lasts, is_paired=is_paired)) if unequal else (),
        tuple(_failures(firsts, lasts)),
        len(firsts),
    )


def _place_of_command(key: str) -> int:
    """Return the place of a metric of two commands: main ones, other bytes, other metrics."""
    if key in _OF_COMMANDS:
        return _OF_COMMANDS.index(key)
    return len(_OF_COMMANDS) + (not last_of(key).endswith("_bytes"))


def _mean_values(replicas: Sequence[_Values]) -> dict[str, Any]:
    """Return the values of a result: each metric's mean over replicas, with its interval."""
    values = dict(replicas[0])
    if len(replicas) == 1:
        return values
    for key, value in replicas[0].items():
        if is_metric(key, value):
            of_key = [each.get(key) for each in replicas]
            if all(is_metric(key, each) for each in of_key):
                numbers = np.array(of_key, float)
                values[key] = float(numbers.mean())
                values[f"{key}_ci95"] = student_interval(numbers)
            else:
                del values[key]
    return values


def _paired_interval(
    key: str, firsts: Sequence[_Values], lasts: Sequence[_Values]
) -> Interval | None:
    if len(firsts) < 2:
        return None
    pairs = zip(firsts, lasts, strict=True)
    return student_interval(np.array([float(last[key]) - first[key] for first, last in pairs]))


def _per_host_page(numbers: Iterable[NumberPair]) -> Iterator[NumberPair]:
    """Yield the flash pages of each cause per host page, if they differ."""
    by_key = {count.key: count for count in numbers}
    for count in by_key.values():
        table = count.key.rpartition(".")[0]
        host = by_key.get(f"{table}.host")
        if last_of(table) != "causes" or host is None or not (host.a and host.b):
            continue
        a, b = count.a / host.a, count.b / host.b
        if a != b:
            yield NumberPair(count.key, a, b, None, None)


def _settings(left: _Values, right: _Values) -> Iterator[Setting]:
    for key in dict.fromkeys([*left, *right]):
        a, b = left.get(key), right.get(key)
        is_number = any(is_metric(key, value) for value in (a, b))
        is_list = any(isinstance(value, list | tuple) for value in (a, b))
        if a != b and not (is_number or is_list or is_bound(key)):
            yield Setting(key, a, b)


def _only(left: _Values, right: _Values) -> Iterator[tuple[str, str]]:
    for values, others, which in ((left, right, "a"), (right, left, "b")):
        for key, value in values.items():
            if is_metric(key, value) and not is_metric(key, others.get(key)):
                yield key, which


def _failures(firsts: Sequence[_Values], lasts: Sequence[_Values]) -> Iterator[Failure]:
    for side, documents in (("a", firsts), ("b", lasts)):
        for reason in filter(None, map(failure_of, documents)):
            yield Failure(side, reason)
            break


def _notes(
    firsts: Sequence[_Values], lasts: Sequence[_Values], *, is_paired: bool
) -> Iterator[str]:
    seeds = [documents[0].get("seed") for documents in (firsts, lasts)]
    if not is_paired and seeds[0] is not None and seeds[0] == seeds[1]:
        yield (
            "both results use the same seed, so their random draws partly agree, and the interval "
            "of their difference may be too wide"
        )
    sides = (("A", firsts), ("B", lasts))
    idle = [side for side, documents in sides if any(map(_is_idle, documents))]
    if idle:
        yield (
            f"nothing was collected in {' and '.join(idle)}, so the WA shows nothing about longer "
            "runs"
        )
    unsteady = [
        side
        for side, documents in sides
        if side not in idle and any(document.get("steady") is False for document in documents)
    ]
    if unsteady:
        yield (
            f"{' and '.join(unsteady)} {'were' if len(unsteady) > 1 else 'was'} not steady at the "
            "end, so the WA may change in a longer run"
        )


def _is_idle(document: _Values) -> bool:
    causes = document.get("causes")
    collected = causes.get("gc") if isinstance(causes, Mapping) else None
    return document.get("steady") is False and collected == 0
