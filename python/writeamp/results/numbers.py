"""Numbers and intervals as text and in JSON, and sentences that differ in numbers only."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

# Significant digits of an interval's width, used if the normal decimals would round both ends to
# the same number.
_DIGITS_OF_WIDTH = 2
_MOST_DECIMALS = 12
# Bounds that differ by less than this number of decimals are equal.
_MOST_DIGITS = 6
# Numbers below this are written with an exponent.
_LEAST_IN_DECIMALS = 1e-4
# Years above this number are not printed, but these words.
_MOST_YEARS, MORE = 100, "more than"


def with_interval(
    value: float,
    interval: tuple[float, float],
    form: str = ".4f",
    unknown: str = "",
    name: str = "95% CI",
) -> str:
    """Return a number with its interval in brackets, or with `unknown` if it has no interval.

    >>> with_interval(1.85, (1.84, 1.86), ".2f")
    '1.85 (95% CI 1.84 to 1.86)'
    """
    within = interval_in_words(*interval, form, name) or unknown
    return format(value, fitting_form(*interval, form)) + (f" ({within})" if within else "")


def interval_in_words(low: float, high: float, form: str = ".4f", name: str = "95% CI") -> str:
    """Return the kind of an interval and its ends, or "" if it is NaN.

    If the decimals of `form` would round both ends to the same number, more decimals are written.

    >>> interval_in_words(0.0060585, 0.0060635, ".3f")
    '95% CI 0.0060585 to 0.0060635'
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    form = fitting_form(low, high, form)
    return f"{name} {low:{form}} to {high:{form}}"


def interval_name(*, of_profile: bool, is_mixed: bool = False) -> str:
    """Return the name of the intervals of several WA, for headings and legends.

    Args:
        of_profile: True for intervals of a learnt profile.
        is_mixed: True for intervals of several kinds, such as bounds of a real drive's counters.
    """
    if is_mixed:
        return "interval"
    return "95% interval of the candidates" if of_profile else "95% CI"


def with_bounds(value: float, low: float, high: float) -> str:
    """Return a number with its bounds in brackets, if four digits distinguish them.

    >>> with_bounds(1.7195, 1.1799, 3.8781), with_bounds(0.78681, 0.78680, 0.78682)
    ('1.7 (1.1 to 3.9)', '0.7868')
    """
    number, within = apart_bounds(value, low, high)
    return number + (f" ({within})" if within else "")


def apart_bounds(value: float, low: float, high: float) -> tuple[str, str]:
    """Return `bounded`, but no bounds if four digits do not distinguish them."""
    return bounded(value, low, high) if range_of(low, high) else (four_digits(value), "")


def bounded(value: float, low: float, high: float) -> tuple[str, str]:
    """Return a number and its bounds as text, with the digits that the bounds allow.

    The bounds are rounded outwards. Equal bounds are left out.

    >>> bounded(2.2456, 2.1034, 2.3877), bounded(1.5, 1.5, 1.5)
    (('2.2', '2.1 to 2.4'), ('1.5', ''))
    """
    width = high - low
    if not width > 10.0**-_MOST_DIGITS:
        return four_digits(value), ""
    decimals = max(0, math.ceil(-math.log10(width)), 1 if width < 10 else 0)
    scale = 10**decimals
    # A product such as 1.1 * 10 exceeds 11 by a rounding error, which must not be rounded up.
    ends = (
        rounded(round(end * scale, _MOST_DIGITS)) / scale
        for rounded, end in ((math.floor, low), (math.ceil, high))
    )
    return f"{value:.{decimals}f}", " to ".join(f"{end:.{decimals}f}" for end in ends)


def at_least(low: float) -> str:
    """Return a lower bound as text, rounded down to two decimals so that it remains a bound.

    >>> at_least(1.0273), at_least(2.0)
    ('at least 1.02', 'at least 2')
    """
    return f"at least {math.floor(low * 100) / 100:.10g}"


def bounds_in_words(low: float | None, high: float | None) -> str:
    """Return bounds of WA as text, or "" if they are not informative.

    >>> bounds_in_words(1.0273, None), bounds_in_words(0.982, 1.0601), bounds_in_words(0.59, None)
    ('at least 1.02', '0.98 to 1.07', '')
    """
    if low is None:
        return ""
    if high is not None:
        middle, within = apart_bounds((low + high) / 2, low, high)
        return within or middle
    # A lower bound below 1 means incomplete counters, and is not informative.
    return at_least(low) if low >= 1 else ""


def range_of(low: float, high: float, form: str = ".4g") -> str:
    """Return a range as text, or "" if both ends are printed the same."""
    ends = format(low, form), format(high, form)
    return "" if ends[0] == ends[1] else " to ".join(ends)


def years_in_words(low: float, high: float | None = None) -> str:
    """Return years, or bounds of years, as text; above 100 years only that.

    No rate of wear is known well enough for a longer time.

    >>> years_in_words(1.234, 2), years_in_words(30, 400), years_in_words(1e6, 1e7)
    ('1.23 to 2', '30 to more than 100', 'more than 100')
    """
    ends = [
        f"{years:.3g}" if years <= _MOST_YEARS else f"{MORE} {_MOST_YEARS}"
        for years in (low, low if high is None else high)
    ]
    return " to ".join(dict.fromkeys(ends))


def fitting_form(low: float, high: float, form: str) -> str:
    """Return a form such as ",.3f" with enough decimals to distinguish the ends of an interval.

    >>> fitting_form(1.0, 1.00002, ".3f"), fitting_form(1.0, 1.0 + 1e-15, ".3f")
    ('.6f', '.3f')
    """
    head, point, decimals = form.removesuffix("f").rpartition(".")
    width = high - low
    if not (form.endswith("f") and math.isfinite(width) and 0 < width < 10.0 ** -int(decimals)):
        return form
    needed = _DIGITS_OF_WIDTH - 1 - math.floor(math.log10(width))
    # Ends that differ by rounding errors only are equal.
    return f"{head}{point}{needed}f" if needed <= _MOST_DECIMALS else form


def json_number(value: float | None) -> float | None:
    """Return a number for JSON: None in place of NaN and infinity."""
    return value if value is not None and math.isfinite(value) else None


def four_digits(value: float) -> str:
    """Return a number with four significant digits and all integer digits; NaN as a dash."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with a noun; `nouns` is the plural if it does not end in "s" alone.

    >>> plural(1, "drive"), plural(1200, "drive"), plural(2, "pass", "passes")
    ('1 drive', '1,200 drives', '2 passes')
    """
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def percent_in_words(share: float) -> str:
    """Return a share in percent; NaN as a dash."""
    return "–" if math.isnan(share) else f"{share:.2%}"


def shown_value(value: object) -> str:
    """Return a value of a document as text: a number with six digits, None as a dash.

    >>> shown_value(2 / 3), shown_value(None), shown_value("a")
    ('0.666667', '–', 'a')
    """
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)


def range_in_words(low: float, high: float) -> str:
    """Return an interval with four digits of its larger end; NaN as a dash.

    >>> range_in_words(5.332, 5.4)
    '5.332 to 5.400'
    """
    if math.isnan(low):
        return "–"
    most = max(abs(low), abs(high))
    if not _LEAST_IN_DECIMALS <= most < 1000:
        return f"{four_digits(low)} to {four_digits(high)}"
    decimals = 3 - math.floor(math.log10(most))
    return f"{low:.{decimals}f} to {high:.{decimals}f}"


_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")


def kind_of(sentence: str) -> str:
    """Return a key that is equal for sentences that differ only in numbers."""
    return _NUMBER.sub("#", sentence)


def as_one(sentences: Sequence[str]) -> str:
    """Return sentences that differ only in numbers as one sentence with ranges.

    >>> as_one(["rises by 0.5 in 10 batches", "rises by 0.25 in 10 batches"])
    'rises by 0.25–0.5 in 10 batches'
    """
    numbers = zip(*(_NUMBER.findall(sentence) for sentence in sentences), strict=True)
    ranges = iter([_range(values) for values in numbers])
    return _NUMBER.sub(lambda _: next(ranges), sentences[0])


def _range(numbers: Sequence[str]) -> str:
    def value(text: str) -> float:
        return float(text.replace(",", ""))

    least, most = min(numbers, key=value), max(numbers, key=value)
    return least if value(least) == value(most) else f"{least}–{most}"
