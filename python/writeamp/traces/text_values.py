"""Values in columns of text: hexadecimal numbers, plain decimals, dates with times."""

from __future__ import annotations

import re

import polars as pl

from writeamp.traces.trace import MAX_TIMESTAMP_NS

HEXADECIMAL = re.compile(r"(?:0[xX])?[0-9a-fA-F]{1,16}")
_HEXADECIMAL = rf"^{HEXADECIMAL.pattern}$"
_MARKED = r"^0[xX]"
_LONGEST_WHOLE = 18
ZERO_FRACTION = re.compile(r"\.0+$")
_ZERO_FRACTION = ZERO_FRACTION.pattern

VALID_DATE_AND_TIME = (
    "a date and a time such as 2021-03-08 10:00:00.123, optionally with Z or +02:00 (UTC without), "
    "from 1970 to 2262"
)
_DATE = r"([0-9]{4})[-/](0?[1-9]|1[0-2])[-/](0?[1-9]|[12][0-9]|3[01])"
_TIME_OF_DAY = r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]{1,9}))?)?"
_ZONE = r" ?(?:Z|UTC|GMT|([+-])([01][0-9]|2[0-3]):?([0-5][0-9])?)?"
_DATE_AND_TIME = rf"^{_DATE}[T ] ?{_TIME_OF_DAY}{_ZONE}:?$"
_GROUPS = ["year", "month", "day", "hour", "minute", "second", "fraction",
           "sign", "zone_hour", "zone_minute"]  # fmt: skip


def hexadecimal(text: pl.Expr) -> pl.Expr:
    """Return hexadecimal numbers, with or without 0x, as u64; null for other texts."""
    digits = text.str.replace(_MARKED, "")
    number = digits.str.to_integer(base=16, dtype=pl.UInt64, strict=False)
    return pl.when(text.str.contains(_HEXADECIMAL)).then(number)


def whole_number(text: pl.Expr) -> pl.Expr:
    """Return whole numbers, hexadecimal ones with 0x, as u64; null if uncertain.

    4096.0 is accepted, because whole numbers in tables of floats are written so. 1.6e4 is
    uncertain, because digits may be lost.
    """
    decimal = text.str.replace(_ZERO_FRACTION, "").cast(pl.UInt64, strict=False)
    return pl.when(text.str.contains(_MARKED)).then(hexadecimal(text)).otherwise(decimal)


def decimal_number(text: pl.Expr, places: int) -> pl.Expr:
    """Return decimals of at most `places` places, with or without a colon after; null otherwise."""
    fraction = rf"(?:\.[0-9]{{1,{places}}})?" if places else ""
    is_plain = text.str.contains(rf"^[0-9]{{1,{_LONGEST_WHOLE}}}{fraction}:?$")
    bare = text.str.strip_suffix(":")
    return pl.when(is_plain).then(bare.cast(pl.Decimal(38, places), strict=False))


def nanoseconds_since_1970(text: pl.Expr) -> pl.Expr:
    """Return dates with times as i64 nanoseconds since 1970; null for other texts."""
    # A function is called for the column, because an expression would match the pattern again for
    # each part of the date.
    return text.map_batches(nanoseconds_since_1970_of, return_dtype=pl.Int64)


def nanoseconds_since_1970_of(texts: pl.Series) -> pl.Series:
    """Return the nanoseconds of a column of dates with times; null for other texts."""
    parts = texts.str.extract_groups(_DATE_AND_TIME).struct.rename_fields(_GROUPS).struct.unnest()

    def number(name: str) -> pl.Expr:
        return pl.col(name).cast(pl.Int64).fill_null(0)

    day = pl.concat_str(
        "year", pl.col("month").str.zfill(2), pl.col("day").str.zfill(2), separator="-"
    ).str.to_date("%Y-%m-%d", strict=False)
    sign = pl.when(pl.col("sign") == "-").then(-1).otherwise(1)
    minutes = number("hour") * 60 + number("minute")
    minutes -= sign * (number("zone_hour") * 60 + number("zone_minute"))
    fraction_ns = pl.col("fraction").str.pad_end(9, "0").cast(pl.Int64).fill_null(0)
    seconds = (day.to_physical().cast(pl.Int64) * 1440 + minutes) * 60 + number("second")
    # In nanoseconds, some dates of four-digit years overflow 64 bits.
    whole_ns = seconds.cast(pl.Int128) * 10**9 + fraction_ns
    is_valid = whole_ns.is_between(0, MAX_TIMESTAMP_NS)
    return parts.select(pl.when(is_valid).then(whole_ns).cast(pl.Int64)).to_series()
