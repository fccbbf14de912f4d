"""Headline of `answer`: WA of the most trusted row, and the change that reduces it most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.reports.headlines.runs import programs_in_words
from writeamp.reports.values import interval, number, numbers, rows, table, words
from writeamp.results.numbers import bounded, four_digits, interval_in_words

_Row = Mapping[str, Any]
# Beginnings of the rows' names, most trusted first. Counters since a drive was new are the result
# of all its loads, so they rank below the sources that have this load.
_TRUST = (
    "real drive, between snapshots",
    "simulate",
    "virtual",
    "timed",
    "mean-field",
    "formula",
    "real",
)


def of_answer(document: Mapping[str, Any]) -> str:
    """Return WA of the most trusted row, beside WA of the real drive, and the best change.

    Other rows and changes are named only if they are steady.
    """
    answers = [row for row in rows(document, "rows") if number(row, "wa") is not None]
    steady = [row for row in answers if row.get("steady") is not False]
    first = _most_trusted(answers)
    if first is None:
        return "No source has a WA; the table states why."
    sentences = [_sentence(first)]
    is_real = _is_real(first)
    # The simulation beside the drive, or the drive beside the simulation.
    other = next((row for row in steady if _is_real(row) is not is_real and _is_beside(row)), None)
    if other is not None:
        sentences.append(f"The {_source(other)} has a WA of {_wa(other)}.")
    best = _best_change(document)
    if best is not None:
        wa, change = best
        where = "In the simulation, " if is_real else ""
        name = change.partition(":")[0]
        name = name if where else name[:1].upper() + name[1:]
        sentences.append(f"{where}{name} would give {four_digits(wa)}.")
    return " ".join(sentences)


def _most_trusted(answers: Sequence[_Row]) -> _Row | None:
    for name in _TRUST:
        for row in answers:
            if words(row, "way").startswith(name):
                return row
    return next(iter(answers), None)


def _is_real(row: _Row) -> bool:
    return words(row, "way").startswith("real")


def _is_beside(row: _Row) -> bool:
    return _is_real(row) or words(row, "way") == "simulate"


def _source(row: _Row) -> str:
    return words(row, "way") if _is_real(row) else "simulation of this load"


def _sentence(row: _Row) -> str:
    way, wa = words(row, "way"), number(row, "wa") or 0.0
    if _is_real(row):
        shown = _wa(row).partition(" ")[0]
        cost = f"each byte that the host writes costs {shown} bytes of flash"
        return f"WA {_wa(row)} of the {way}: {cost}."
    by = "" if way == "simulate" else f" by {way}"
    changing = ", not steady" if row.get("steady") is False else ""
    unit = words(row, "unit") or "page"
    cost = f"each {unit} that the host writes costs {programs_in_words(wa, unit)}"
    return f"WA {_wa(row)}{by}{changing}: {cost}.{_per_byte(row)}"


def _per_byte(row: _Row) -> str:
    """Return WA per host byte and its causes, if requests cover pages in part, as a sentence."""
    wa_bytes, by_cause = number(row, "wa_bytes"), table(row, "wa_bytes_by_cause")
    modified = number(by_cause, "read_modify_write")
    if wa_bytes is None or modified is None:
        return ""
    copies = wa_bytes - 1 - modified
    return (
        f" WA per host byte is {four_digits(wa_bytes)}: 1 for the host's byte, "
        f"{four_digits(modified)} for read-modify-write and {four_digits(copies)} for copies."
    )


def _wa(row: _Row) -> str:
    """Return WA with its interval in brackets; bounds limit the number of digits."""
    wa, bounds = number(row, "wa") or 0.0, numbers(row, "wa_bounds")
    if len(bounds) == 2:
        shown, within = bounded(wa, bounds[0], bounds[1])
        return f"{shown} (bounds {within})" if within else shown
    ends = interval(row, "wa")
    if ends is None or _is_real(row):
        return four_digits(wa)
    name = words(row, "interval") or "95% CI"
    return f"{four_digits(wa)} ({interval_in_words(*ends, '.3f', name)})"


def _best_change(document: _Row) -> tuple[float, str] | None:
    changes = [
        (wa, words(change, "change"))
        for change in rows(document, "advice")
        if (wa := number(change, "wa")) is not None and change.get("steady") is not False
    ]
    return min(changes, default=None)
