"""OCP log 0xC0 in JSON, text or raw bytes, and the page of boot SSDs with the same number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from writeamp.drives.counters.amounts import BYTE, DATA_UNIT, Counter, FlashPart
from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import CounterFacts, CounterSource, Erases
from writeamp.drives.counters.printed import count_of, entries, spelled
from writeamp.drives.counters.printed_log import PrintedLog
from writeamp.vssd.log_pages import boot, ocp

_NAME = "nvme ocp smart-add-log -o json"
_LABEL = "OCP log 0xC0, physical media units written"
# Key of version 2 of the log, for each spelling of a key in any version.
_FIELDS = {spelled(key): field.key for field in ocp.FIELDS for key in (field.old_key, field.key)}
# First version of the log page that has the mean erases per block.
_MEAN_FROM_VERSION = 5
_ALL_ONES = frozenset(((1 << 64) - 1, (1 << 128) - 1))
_PAGE_NAME = "log 0xC0, 512 bytes"
_BOOT_LABEL = "boot SSD log 0xC0, physical media units written, "
_ERASES_LABEL = "boot SSD log 0xC0, user data erase counts, "
_WORN = ("least", "most", "mean")
_PARTS: tuple[FlashPart, ...] = ("tlc", "slc")


def ocp_facts(values: Mapping[str, Any], source: str) -> CounterFacts:
    """Return the facts of an OCP log with the keys of version 2."""
    value = values.get(ocp.WRITTEN)
    count = count_of(value)
    notes: tuple[str, ...] = ()
    counters: tuple[Counter, ...] = ()
    if count is None or count.high == 0 or count.low in _ALL_ONES:
        problem = (
            "0: not reported"
            if count is not None and count.high == 0
            else f"{str(value)[:60]!r}, which is not a count"
        )
        notes = (f"{_LABEL} is {problem}",)
    else:
        counters = (
            Counter(
                "flash",
                count.low,
                BYTE,
                _LABEL,
                "OCP log 0xC0",
                rounding="exact",
                count_high=count.high if count.high > count.low else None,
            ),
        )
    return CounterFacts(source=source, counters=counters, notes=notes, erases=_erases(values))


def _whole(value: Any) -> int | None:
    count = count_of(value)
    return None if count is None else count.low


def _erases(values: Mapping[str, Any]) -> tuple[Erases, ...]:
    version = _whole(values.get("log_page_version")) or 0
    mean, most, least = (
        _whole(values.get(key))
        for key in (
            "nand_avg_erase_count",
            "max_user_data_erase_count",
            "min_user_data_erase_count",
        )
    )
    if mean and version >= _MEAN_FROM_VERSION:
        return (Erases(mean, mean + 1, most, "OCP log, NAND average erase count"),)
    if most and least is not None and least <= most:
        return (Erases(least, most, most, "OCP log, least and most user data erase count"),)
    return ()


def _matches(document: Document) -> bool:
    log = document.json
    keys = {ocp.FIELDS[0].key, ocp.FIELDS[0].old_key}
    return isinstance(log, dict) and bool(keys & log.keys())


def read_printed(log: PrintedLog, document: Document) -> Iterator[CounterFacts]:
    """Yield the facts of a printed OCP log 0xC0."""
    logged = entries(document)
    if len(logged[ocp.WRITTEN]) > 1:
        note = f"{_LABEL} appears several times. Pass the log of one drive at one moment"
        yield CounterFacts(source=log.name, notes=(note,))
        return
    values = {
        _FIELDS[key]: values_of_key[0].value
        for key, values_of_key in logged.items()
        if key in _FIELDS
    }
    yield ocp_facts(values, log.name)


SOURCE = CounterSource(
    _NAME,
    _matches,
    lambda document: [ocp_facts(ocp.decoded_log(document.json), _NAME)],
    specificity=66,
)


def _guid(document: Document) -> int:
    return int.from_bytes(document.content[ocp.PAGE_BYTES - 16 : ocp.PAGE_BYTES], "little")


def _is_page(document: Document) -> bool:
    return len(document.content) == ocp.PAGE_BYTES and _guid(document) in {ocp.GUID, boot.GUID}


def _read_page(document: Document) -> Iterator[CounterFacts]:
    if _guid(document) == boot.GUID:
        yield _boot_facts(boot.decoded_page(document.content), _PAGE_NAME)
    else:
        yield ocp_facts(ocp.decoded_page(document.content), _PAGE_NAME)


def _boot_facts(values: Mapping[str, int], source: str) -> CounterFacts:
    counters = tuple(
        Counter(
            "flash",
            values[f"{cell}_units_written"],
            DATA_UNIT,
            _BOOT_LABEL + cell.upper(),
            "boot SSD log 0xC0",
            part=cell,
        )
        for cell in _PARTS
        if values.get(f"{cell}_units_written")
    )
    notes = () if counters else (f"{_BOOT_LABEL}TLC is 0: not reported",)
    return CounterFacts(
        source=source, counters=counters, notes=notes, erases=tuple(_boot_erases(values))
    )


def _boot_erases(values: Mapping[str, int]) -> Iterator[Erases]:
    # Nearly all blocks are TLC blocks, so the erases of TLC are also used for the whole drive.
    parts: tuple[tuple[str, FlashPart], ...] = (("tlc", "tlc"), ("slc", "slc"), ("tlc", "all"))
    for kind, cell in parts:
        least, most, mean = (values.get(f"{kind}_{statistic}_erases", 0) for statistic in _WORN)
        if mean and least <= mean <= most:
            yield Erases(mean, mean + 1, most, _ERASES_LABEL + kind.upper(), cell)
        elif most and least <= most:
            yield Erases(least, most, most, _ERASES_LABEL + kind.upper(), cell)


PAGE = CounterSource(_PAGE_NAME, _is_page, _read_page, specificity=92)
