"""Tags of requests: a number for the process, file, folder, device, range or hint of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.traces.settings import range_count
from writeamp.traces.trace import Trace
from writeamp.traces.words import HINT, NO_TAG, NO_WRITERS, OTHER, UNKNOWN
from writeamp.traces.writers import written_bytes
from writeamp.units.byte_sizes import shown_bytes

MOST_TAGS = 32
# Names with a smaller share of the written bytes are in the tag `other`.
LEAST_SHARE = 0.005
# Name of the writes without a hint, and number of different hints.
NO_HINT = "no hint"
_MOST_HINTS = 254
_COLUMN_OF = {"process": "process", "pid": "pid", "file": "file", "directory": "file"}
# Folder of files directly below the mount point.
_ROOT = "/"


@dataclass(frozen=True)
class Tagging:
    """Tags of the requests of a trace.

    Attributes:
        codes: u8, index into `names` for each request, shape (requests,); `NO_TAG` for requests of
            origins that write nothing.
        names: names of the tags, most written bytes first; then `other` and `unknown`, if present.
        shares: share of the written bytes of each tag.
    """

    codes: pl.Series
    names: tuple[str, ...]
    shares: tuple[float, ...]


def tagged(trace: Trace, by: str, device: str | None = None) -> Tagging:
    """Return the tags of a trace's requests.

    Args:
        trace: the trace.
        by: division of the requests, as in `BlameSettings`.
        device: name of the only device whose requests count; None for all.

    Raises:
        WriteampError: the trace lacks the column, the device or writes.
    """
    if device is not None and device not in trace.devices:
        raise unknown("device", device, trace.devices)
    is_counted = pl.lit(True) if device is None else pl.col("device") == trace.devices.index(device)
    values = _values(trace, by, is_counted)
    is_write = trace.requests.select((pl.col("op") == "write") & is_counted).to_series()
    totals = written_bytes(values.filter(is_write), trace.requests["length"].filter(is_write))
    total = int(totals["bytes_written"].sum())
    if not total:
        raise WriteampError(f"{trace.path}: it has no writes; at least one is needed")
    chosen = _chosen(totals.drop_nulls("name"), total, has_null=totals["name"].has_nulls())
    code_of = {name: code for code, name in enumerate(chosen)}
    other, null = len(chosen), len(chosen) + 1
    codes = _coded(values, lambda name: null if name is None else code_of.get(name, other))
    return _without_empty(codes, [*map(_apart, chosen), OTHER, UNKNOWN], trace, is_write)


@dataclass(frozen=True)
class Hints:
    """Placement hints of the requests of a trace.

    Attributes:
        codes: u8, number of the handle for each request, or `NO_TAG` without a hint; shape
            (requests,).
        names: meaning of each handle, by its number; empty for numbers that no request has.
            Handle 0 is that of writes without a hint.
    """

    codes: pl.Series
    names: tuple[str, ...]


def hints_of(trace: Trace, by: str | None, device: str | None = None) -> Hints | None:
    """Return the hints of a trace's writes; None if it has none.

    Args:
        trace: the trace.
        by: division of the requests, whose parts have handles from 1 on in the order of their
            written bytes; None for the numbers in the trace's column `hint`.
        device: name of the only device whose requests count; None for all.

    Raises:
        WriteampError: the trace lacks the column, the device or writes.
    """
    if by is None:
        if HINT not in trace.origins:
            return None
        column = trace.requests[HINT]
        hints = column.clip(upper_bound=_MOST_HINTS - 1).fill_null(NO_TAG)
        numbers = set(hints.filter(hints != NO_TAG).unique())
        all_numbers = range(max(numbers, default=0) + 1)
        return Hints(hints, tuple(f"hint {at}" if at in numbers else "" for at in all_numbers))
    tagging = tagged(trace, by, device)
    names = [name for name in tagging.names if name != UNKNOWN]
    # The names are those of `codes`, except that `unknown` is the last one, if present.
    is_named = tagging.codes < len(names)
    codes = pl.select(pl.when(is_named).then(tagging.codes + 1).otherwise(NO_TAG)).to_series()
    return Hints(codes.cast(pl.UInt8), (NO_HINT, *names))


def _chosen(totals: pl.DataFrame, total: int, *, has_null: bool) -> list[str]:
    """Return the names with tags of their own."""
    large = totals.filter(pl.col("bytes_written") >= LEAST_SHARE * total)["name"].to_list()
    room = MOST_TAGS - has_null
    return large if len(large) == totals.height <= room else large[: room - 1]


def _apart(name: str) -> str:
    """Return a name that differs from those of rows that are not names of the trace."""
    return f"{name!r}" if name in NO_WRITERS else name


def _coded(values: pl.Series, code_of: Callable[[str | None], int]) -> pl.Series:
    distinct = values.unique()
    names = distinct.cast(pl.String).to_list()
    codes = pl.Series("code", [code_of(name) for name in names], pl.UInt8)
    table = pl.DataFrame({"value": distinct, "code": codes})
    joined = pl.DataFrame({"value": values}).join(
        table, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["code"]


def _without_empty(
    codes: pl.Series, names: Sequence[str], trace: Trace, is_write: pl.Series
) -> Tagging:
    """Return the tags that have writes."""
    lengths = trace.requests["length"].filter(is_write)
    sums = dict(written_bytes(codes.filter(is_write), lengths).rows())
    kept_codes = [code for code in range(len(names)) if sums.get(str(code))]
    total = sum(sums.values())
    new_code = {code: at for at, code in enumerate(kept_codes)}
    return Tagging(
        codes.replace_strict(new_code, default=NO_TAG, return_dtype=pl.UInt8),
        tuple(names[code] for code in kept_codes),
        tuple(sums[str(code)] / total for code in kept_codes),
    )


def _values(trace: Trace, by: str, is_counted: pl.Expr) -> pl.Series:
    """Return the name of each request's tag, as categories or text; null if unknown."""
    count = range_count(by)
    if count is not None:
        return _ranges(trace, count, is_counted)
    if by in ("device", "volume"):
        devices = pl.Series(trace.devices, dtype=pl.String).cast(pl.Categorical)
        return devices.gather(trace.requests["device"])
    column = _COLUMN_OF[by]
    if column not in trace.origins:
        raise WriteampError(_without_column(trace, column))
    if by == "pid":
        # Processes of one name differ in their numbers.
        names = pl.col("^(process|pid)$").cast(pl.String)
        return trace.requests.select(pl.concat_str(names, separator=" ")).to_series()
    values = trace.requests[column]
    return _folders(values) if by == "directory" else values


def _without_column(trace: Trace, column: str) -> str:
    """Return the error for a trace without a column, with the divisions that it allows."""
    valid = [by for by, name in _COLUMN_OF.items() if name in trace.origins]
    how = " --files DIR" if column == "file" else ""
    return (
        f"{trace.path}: its requests have no {column}; divide them by "
        f"{', '.join([*valid, 'device'])} or range:N, or record a trace that has it: "
        f"`writeamp trace record{how}` (docs/traces.md#processes-and-files)"
    )


def _folders(files: pl.Series) -> pl.Series:
    """Return the folder of each file."""
    distinct = files.unique().drop_nulls()
    names = distinct.cast(pl.String)
    folders = names.str.extract(r"^(.*)[/\\]").fill_null(_ROOT).replace("", _ROOT)
    # The journal and the metadata of a file system are in no folder.
    folders = folders.zip_with(~names.str.contains(r"^\[\w+\]$"), names)
    table = pl.DataFrame({"file": distinct, "folder": folders.cast(pl.Categorical)})
    joined = pl.DataFrame({"file": files}).join(table, on="file", how="left", maintain_order="left")
    return joined["folder"]


def _ranges(trace: Trace, count: int, is_counted: pl.Expr) -> pl.Series:
    """Return the range of addresses in which each counted request begins; null for others.

    The addresses of several devices follow each other, in the order of the devices.
    """
    requests = trace.requests
    counted = requests.filter(is_counted)
    ends = counted.select("device", end=pl.col("offset") + pl.col("length"))
    extents = ends.group_by("device").agg(pl.col("end").max()).sort("device")
    starts = extents.select("device", start=pl.col("end").cum_sum() - pl.col("end"))
    extent = int(extents["end"].sum())
    # Each range ends at the first byte of the next one.
    bounds = [extent * at // count for at in range(count + 1)]
    at_byte = requests.select("device", "offset").join(
        starts, on="device", how="left", maintain_order="left"
    )
    address = at_byte["offset"] + at_byte["start"]
    # A flush has no address.
    number = pl.Series(bounds[1:-1], dtype=pl.UInt64).search_sorted(address, side="right")
    names = [
        f"{at + 1}/{count}: {shown_bytes(bounds[at])} to {shown_bytes(bounds[at + 1])}"
        for at in range(count)
    ]
    return pl.Series(names).cast(pl.Categorical).gather(number)
