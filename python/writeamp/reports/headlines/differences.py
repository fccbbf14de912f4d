"""Headline of the difference of two results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.reports.values import number, rows, words
from writeamp.results.numbers import four_digits

_Document = Mapping[str, Any]
_APPLICATION = "flash_bytes_per_application_byte"
# Settings that follow from others; a headline names them only if no other setting differs.
_FOLLOWING = frozenset(
    {
        *("fill", "spare_factor", "capacity_bytes", "physical_pages", "logical_pages"),
        *("held_pages", "blocks", "partial_page_factor", "theory.op", "theory.model"),
    }
)
_MOST_SETTINGS = 3


def of_difference(document: _Document) -> str:
    """Return failed runs, the change of flash writes and WA, and the settings that differ."""
    failures = [
        f"{words(failure, 'in').upper()} failed: {words(failure, 'reason')}. "
        for failure in rows(document, "failures")
    ]
    return "".join([*failures, _changes(document), _settings(document)])


def _changes(document: _Document) -> str:
    metrics = rows(document, "numbers")
    by_key = {words(metric, "key"): metric for metric in metrics}
    if not metrics:
        return f"All {number(document, 'equal') or 0:.0f} numbers are equal."
    if words(document, "verb") == "serve":
        only = {words(metric, "key") for metric in rows(document, "only")}
        return _of_commands(by_key, has_wa="wa" not in only)
    if "wa" in by_key:
        return f"{_more(by_key['wa'], 'WA of B is', ('higher', 'lower'))}."
    metric = metrics[0]
    name = words(metric, "name") or words(metric, "key")
    count = sum(words(other, "verdict") != "within noise" for other in metrics[1:])
    more = f"; {count} more differ{'s' * (count == 1)}" if count else ""
    return f"{_more(metric, f'{name} of B is', ('higher', 'lower'))}{more}."


def _of_commands(by_key: Mapping[str, _Document], *, has_wa: bool) -> str:
    """Return the change of flash writes of two commands on equal drives.

    `has_wa` is False if only one of them has a WA.
    """
    flash = by_key.get("flash_bytes", {})
    if number(flash, "a") == 0 and number(flash, "b"):
        return "Only B writes to the flash."
    total = _change(flash)
    text = f"B writes {total} flash bytes" if total else "Both write equally many flash bytes"
    if _APPLICATION in by_key:
        each = _change(by_key[_APPLICATION]) or "equally many"
        text = f"B writes {each} flash bytes per application byte"
        # Without a difference of application bytes, both changes are equal.
        if total and "layers.application_bytes" in by_key:
            text += f", and {total} in all"
    if not has_wa:
        return f"{text}."
    wa = by_key.get("wa")
    if wa is None or words(wa, "verdict") == "within noise":
        return f"{text}; the drive's WA does not differ."
    first, second = number(wa, "a"), number(wa, "b")
    if first == second:
        return f"{text}; the drive's WA does not differ."
    if first is None or second is None:
        return f"{text}."
    return f"{text}; the drive's WA is {four_digits(second)} instead of {four_digits(first)}."


def _change(metric: _Document) -> str:
    """Return a relative difference that noise does not explain, such as "48% more", or ""."""
    relative = number(metric, "relative")
    if not relative or words(metric, "verdict") == "within noise":
        return ""
    amount = f"{abs(relative):.0%}" if abs(relative) >= 0.01 else f"{abs(relative):.2%}"
    return f"{amount} {'more' if relative > 0 else 'fewer'}"


def _more(metric: _Document, subject: str, directions: tuple[str, str]) -> str:
    first, second = number(metric, "a"), number(metric, "b")
    if first is None or second is None:
        return f"{subject} another"
    values = f"{four_digits(second)} instead of {four_digits(first)}"
    relative = number(metric, "relative")
    size = "" if relative is None else f"{abs(relative):.1%} "
    text = f"{subject} {size}{directions[second < first]}: {values}"
    return {
        "differs": text,
        "within noise": f"{text}, which is within noise",
    }.get(words(metric, "verdict"), f"{text}, without an interval to compare")


def _settings(document: _Document) -> str:
    settings = rows(document, "settings")
    chosen = [
        setting for setting in settings if words(setting, "key") not in _FOLLOWING
    ] or settings
    names = [words(setting, "name") or words(setting, "key") for setting in chosen]
    if not names:
        return " No setting differs."
    more = len(names) - _MOST_SETTINGS
    listed = ", ".join(names[:_MOST_SETTINGS]) + (f" and {more} more" if more > 0 else "")
    return f" Settings that differ: {listed}."
