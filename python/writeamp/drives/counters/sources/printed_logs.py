"""Sources of printed logs, from the table `logs.toml`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import Any, TypeAlias, get_args

from writeamp.devices import toml_text
from writeamp.drives.counters.amounts import MIB32, UNITS, FlashPart, Rounding, Side
from writeamp.drives.counters.document import Document, whole, within
from writeamp.drives.counters.facts import CounterFacts, CounterSource, Erases
from writeamp.drives.counters.printed import PrintedEntry, entries
from writeamp.drives.counters.printed_log import (
    VALUES,
    EraseKeys,
    PrintedLog,
    Sign,
    WriteRule,
    printed_facts,
)
from writeamp.drives.counters.sources import nvme_logs, ocp
from writeamp.drives.counters.table_checks import ValueKind, check_choice, check_table, compiled
from writeamp.errors import WriteampError, placed

LogReader: TypeAlias = Callable[[PrintedLog, Document], Iterable[CounterFacts]]

_TEXT, _NUMBER, _YES = (
    ValueKind(str, "text"),
    ValueKind(int, "a whole number"),
    ValueKind(bool, "true or false"),
)
_TEXTS, _TABLES = ValueKind(list, "a list of texts", str), ValueKind(list, "a list of tables", dict)
_LOG = (
    dict.fromkeys(("name", "label", "text", "reports", "reader"), _TEXT)
    | dict.fromkeys(("counters", "worn", "signs"), _TABLES)
    | dict.fromkeys(("vetoes", "notes"), _TEXTS)
    | {"unsupported": ValueKind(list, "a list of counts", int)}
    | {"specificity": _NUMBER, "all_signs": _YES}
)
_COUNTER = (
    dict.fromkeys(("side", "unit", "shared", "part", "rounding", "values"), _TEXT)
    | dict.fromkeys(("keys", "high_keys"), _TEXTS)
    | {"sums": _YES}
)
_WORN = {"part": _TEXT, "keys": _TEXTS}
_SIGN = {"keys": _TEXTS, "value": _TEXT}
# Words that `*` matches in the keys of erase counts.
_LEAST, _MOST, _MEAN = ("minimum", "min"), ("maximum", "max"), ("average", "avg", "mean")
_WEAR = re.compile(r"min:\s*(\d+),\s*max:\s*(\d+),\s*avg:\s*(\d+)")
_NORMALIZED_PERCENT = re.compile(r"(?:\d+\s+)?(\d{1,3})\s*%")


def sources() -> Iterator[CounterSource]:
    """Yield the sources that `logs.toml` describes."""
    text = files("writeamp.drives.counters").joinpath("logs.toml").read_text("utf-8")
    yield from sources_of(toml_text.parse(text, "logs.toml"))


def sources_of(table: dict[str, Any]) -> Iterator[CounterSource]:
    """Yield the sources that a table in the format of `logs.toml` describes.

    Raises:
        WriteampError: the table has unknown keys or invalid values.
    """
    for at, log_table in enumerate(table["log"], 1):
        try:
            log = _log(log_table)
        except WriteampError as error:
            raise placed(f"logs.toml: log {at}", error) from None
        reader = READERS[log_table["reader"]] if "reader" in log_table else _read
        yield CounterSource(log.name, log.matches, partial(reader, log), log_table["specificity"])


def _read(log: PrintedLog, document: Document) -> Iterator[CounterFacts]:
    yield printed_facts(log, entries(document))


def _read_liteon(log: PrintedLog, document: Document) -> Iterator[CounterFacts]:
    facts = printed_facts(log, entries(document))
    if document.json is None and facts.erases:
        yield facts
        return
    note = (
        "two vendors use these counter names, one for bytes, the other for units of 512,000 "
        "bytes, so the bytes are unknown and only WA is computed"
    )
    yield replace(
        facts,
        counters=tuple(
            replace(counter, unit=None, shared="physical bytes written")
            for counter in facts.counters
        ),
        notes=(*facts.notes, note),
    )


def _read_additional_smart(log: PrintedLog, document: Document) -> Iterator[CounterFacts]:
    """Yield the facts of a log 0xCA printed by Intel's plugin, or by others with the same keys.

    Intel and Solidigm count 32 MiB. DapuStor also prints "Intel Smart log"; SSSTC, ScaleFlux,
    Shannon, YMTC and Memblaze print the same keys in other or unknown units. So without a model,
    only flash writes / host writes is known; `with_vendor_units` gets the unit from the model or
    the SMART log in the same folder.
    """
    logged = dict(entries(document))
    for key in ("host_bytes_written", "nand_bytes_written"):
        if key in logged:
            logged[key] = tuple(_with_normalized(entry) for entry in logged[key])
    facts = printed_facts(log, logged)
    is_solidigm = "solidigm_smart_log" in logged
    yield replace(
        facts,
        counters=tuple(
            replace(counter, unit=MIB32) if is_solidigm else counter for counter in facts.counters
        ),
        compresses="ScaleFlux" in document.text[:4096],
        erases=tuple(_wear_leveling(log, logged)),
    )


def _with_normalized(entry: PrintedEntry) -> PrintedEntry:
    match = _NORMALIZED_PERCENT.match(entry.value) if isinstance(entry.value, str) else None
    return entry._replace(normalized=int(match[1])) if match else entry


def _wear_leveling(
    log: PrintedLog, logged: dict[str, tuple[PrintedEntry, ...]]
) -> Iterator[Erases]:
    for key in ("wear_leveling", "wear_leveling_count"):
        for entry in logged.get(key, ())[:1]:
            match = _WEAR.search(entry.value) if isinstance(entry.value, str) else None
            least, most, mean = (
                (whole(group) for group in match.groups())
                if match
                else (whole(within(entry.value, key)) for key in ("min", "max", "avg"))
            )
            if mean and most and least is not None and least <= mean <= most:
                yield Erases(mean, mean + 1, most, f"{log.label}, wear leveling")


READERS: dict[str, LogReader] = {
    "additional SMART": _read_additional_smart,
    "endurance group": nvme_logs.read_printed_group,
    "FDP": nvme_logs.read_printed_fdp,
    "LiteOn": _read_liteon,
    "OCP": ocp.read_printed,
    "SMART": nvme_logs.read_printed,
}


def _log(table: Any) -> PrintedLog:
    check_table("a log", table, _LOG, needed=("name", "label", "specificity"))
    check_choice("reader", table, READERS)
    written = tuple(_written(counter) for counter in table.get("counters", []))
    signs = tuple(_sign(sign) for sign in table.get("signs", []))
    if not (written or signs or "text" in table):
        raise WriteampError("needs counters, signs or text that identify it")
    return PrintedLog(
        table["name"],
        table["label"],
        written,
        tuple(_worn(rule) for rule in table.get("worn", [])),
        tuple(table.get("notes", [])),
        signs or tuple(Sign((*rule.keys, *rule.high_keys)) for rule in written),
        table.get("all_signs", False),
        compiled("text", table["text"]) if "text" in table else None,
        tuple(table.get("vetoes", [])),
        frozenset(table.get("unsupported", [])),
        compiled("reports", table["reports"]) if "reports" in table else None,
    )


def _written(table: Any) -> WriteRule:
    check_table("a counter", table, _COUNTER, needed=("side", "keys"))
    choices = {"side": Side, "part": FlashPart, "rounding": Rounding}
    for key, valid in choices.items():
        check_choice(key, table, get_args(valid))
    check_choice("unit", table, UNITS)
    check_choice("values", table, VALUES)
    if ("unit" in table) == ("shared" in table):
        raise WriteampError("a counter must have either a unit or the name of a shared unit")
    return WriteRule(
        table["side"],
        _expanded(table["keys"]),
        UNITS[table["unit"]] if "unit" in table else None,
        table.get("part", "all"),
        table.get("rounding", "exact"),
        table.get("shared", ""),
        table.get("sums", False),
        _expanded(table.get("high_keys", [])),
        VALUES[table.get("values", "count")],
    )


def _worn(table: Any) -> EraseKeys:
    check_table("erases", table, _WORN, needed=("keys",))
    check_choice("part", table, get_args(FlashPart))
    least, most, mean = (
        tuple(key.replace("*", word) for key in _expanded(table["keys"]) for word in words)
        for words in (_LEAST, _MOST, _MEAN)
    )
    return EraseKeys(least, most, mean, table.get("part", "all"))


def _sign(table: Any) -> Sign:
    check_table("a sign", table, _SIGN, needed=("keys",))
    value = compiled("value", table["value"]) if "value" in table else None
    return Sign(_expanded(table["keys"]), value)


def _expanded(keys: Iterable[str]) -> tuple[str, ...]:
    """Return keys with all combinations of the alternatives in their braces.

    >>> _expanded(["erases_{min,max}_tlc{,_int}"])
    ('erases_min_tlc', 'erases_min_tlc_int', 'erases_max_tlc', 'erases_max_tlc_int')
    """
    expanded: list[str] = []
    for key in keys:
        head, brace, rest = key.partition("{")
        choices, _, after = rest.partition("}")
        expanded += (
            _expanded(head + choice + after for choice in choices.split(",")) if brace else [key]
        )
    return tuple(expanded)
