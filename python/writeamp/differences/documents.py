"""Documents of results, and the values of a document that `diff` compares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs
from writeamp.pages.embedded import strict_json
from writeamp.reports.embedding import report_in
from writeamp.results.handles import SHARED
from writeamp.results.signatures import SIGNATURES, signed_verb

Interval: TypeAlias = tuple[float, float]

_MOST_BYTES = 64 << 20
APPLICATION_METRIC = "flash_bytes_per_application_byte"
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
        *("source", "name", "version", "loads", "working_op", "unknown", "steady"),
        *("is_comparison", "outside", "handle"),
        *("run_exit_status", "counted_from_request", "interrupted"),
    }
)
# Keys that name a row of a table; rows with the same name are compared.
_NAMES = ("workload", "way", "model", "manager", "victims", "file", "change", "wa_definition")
# Keys of values that depend on the computer or the clock, so they are not compared.
_OF_THE_MACHINE = frozenset(
    {"elapsed_s", "host_pages_per_s", "flash_ops_per_s", "seconds", "skipped", "out"}
)


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


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a document with their nested keys joined; rows are keyed by name."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            is_repeated = key == "wa_bytes" and item == value.get("wa")
            if key not in _OF_THE_MACHINE | _TEXTS and not is_repeated:
                yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for place, row in enumerate(value):
            names = [str(row[name]) for name in _NAMES if isinstance(row.get(name), str)]
            if "handle" in row:
                names = [SHARED if row["handle"] is None else f"handle {row['handle']}"]
            yield from leaves(row, f"{path}[{', '.join(names) or place}]")
    else:
        yield path, value


def last_of(key: str) -> str:
    """Return the last of the joined keys."""
    return key.rpartition(".")[2]


def is_metric(key: str, value: Any) -> bool:
    """Return whether a value is a measured number, not a setting or a bound of a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and last_of(key) not in _SET and not is_bound(key)


def is_bound(key: str) -> bool:
    """Return whether a value is a bound of another number."""
    return last_of(key).endswith(("_low", "_high"))


def interval_of(values: Mapping[str, Any], key: str) -> Interval | None:
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


def values_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a document that `diff` compares, by their joined keys.

    If the document has the bytes of an application, its metric `APPLICATION_METRIC` comes first.
    """
    values = dict(leaves(document))
    ratio = _flash_per_application_byte(document.get("layers"))
    return values if ratio is None else {APPLICATION_METRIC: ratio} | values


def _flash_per_application_byte(layers: Any) -> float | None:
    """Return flash bytes / bytes that the application wrote to the drive; None if unknown."""
    if not isinstance(layers, Mapping):
        return None
    factors, flash = layers.get("factors"), layers.get("flash_bytes")
    above = layers.get("application_bytes")
    # Without this factor, the application's bytes include files outside the drive.
    is_known = isinstance(factors, Mapping) and _is_number(factors.get("file_system"))
    if not (is_known and _is_number(flash) and _is_number(above) and above):
        return None
    return float(flash / above)


def failure_of(document: Mapping[str, Any]) -> str | None:
    """Return why the run of a document failed, or None."""
    status = document.get("run_exit_status")
    if _is_number(status) and status:
        return f"its command ended with status {status}"
    if document.get("interrupted") is True:
        return "it was interrupted"
    if document.get("host_pages") == 0 and "causes" in document:
        return "its host wrote nothing"
    return None
