"""WA by cause: what was written at each layer, from the application down to the flash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.reports.charts import LayerPart, icicle
from writeamp.reports.report import Drawing, Report, Rows, Section
from writeamp.reports.values import number, rows, table, words
from writeamp.results.numbers import four_digits

# Causes in words, with the colour of each.
_CAUSES = {
    "host": ("written by the host", "--host"),
    "gc": ("moved by collection", "--series-1"),
    "wear_leveling": ("moved by wear levelling", "--series-2"),
    "padding": ("padding", "--series-3"),
    "read_modify_write": ("read-modify-write", "--series-4"),
    "mapping": ("mapping table", "--series-5"),
    "refresh": ("refresh", "--series-6"),
    "slc": ("SLC cache", "--series-7"),
    "folding": ("folded out of the SLC cache", "--series-1"),
}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def by_cause(report: Report) -> Section | None:
    """Return the icicle of one run, or of the row that is trusted most, and its numbers."""
    document = report.document
    of = document
    if not table(document, "causes"):
        of = table(report.more, "run") or _row_with_causes(document)
    causes = {
        cause: pages for cause in table(of, "causes") if (pages := number(of["causes"], cause))
    }
    # An SLC cache takes the pages that the host wrote before other flash does.
    host = causes.get("host", 0) + causes.get("slc", 0)
    if not host:
        return None
    page_bytes = number(document, "page_bytes") or number(of, "page_bytes") or 4096.0
    flash = [
        LayerPart(_name(cause), pages * page_bytes, _color(cause), _words(cause, pages, host))
        for cause, pages in causes.items()
    ]
    layers = [*_above(document, host * page_bytes), flash]
    total = sum(causes.values())
    lines = [
        [_name(cause), f"{pages:,.0f}", four_digits(pages / host), f"{pages / total:.1%}"]
        for cause, pages in causes.items()
    ]
    lines.append(["all", f"{total:,.0f}", four_digits(total / host), "100.0%"])
    columns = ["programmed", ">pages", ">for each page of the host", ">share"]
    caption = (
        "Each layer is as wide as the bytes that it wrote; the lowest is the flash, with the cause "
        "of each page that was programmed."
    )
    if of is not document:
        named = filter(None, (words(of, "way"), words(of, "manager"), words(of, "victims")))
        caption = f"Of {', '.join(named)}. {caption}"
    drawing = Drawing(icicle(layers, "Bytes written at each layer"), caption)
    return Section("causes", "Write amplification by cause", (drawing, Rows(columns, lines)))


def _row_with_causes(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found = [one for one in rows(document, "rows") if table(one, "causes")]
    return min(found, key=lambda one: number(one, "wa") or float("inf"), default={})


def _above(document: Mapping[str, Any], host_bytes: float) -> list[list[LayerPart]]:
    """Return the layers above the flash, from the top."""
    layers, found = table(document, "layers"), []
    # Bytes without a factor are not of the drive's files alone.
    passed = number(layers, "application_bytes")
    if passed and number(table(layers, "factors"), "file_system"):
        said = f"{_bytes(passed)} passed to write()"
        found.append([LayerPart(said, passed, "--series-3", said)])
    if size := number(layers, "file_system_bytes"):
        said = f"{words(document, 'file_system') or 'the file system'} wrote {_bytes(size)}"
        found.append([LayerPart(said, size, "--series-6", said)])
    asked = number(layers, "device_bytes") or host_bytes
    said = f"the drive was asked for {_bytes(asked)}"
    return [*found, [LayerPart(said, asked, "--host", said)]]


def _name(cause: str) -> str:
    return _CAUSES.get(cause, (cause.replace("_", " "), ""))[0]


def _color(cause: str) -> str:
    return _CAUSES.get(cause, ("", "--series-7"))[1]


def _words(cause: str, pages: float, host: float) -> str:
    return f"{_name(cause)}: {pages:,.0f} pages, {pages / host:.4g} for each page of the host"


def _bytes(size: float) -> str:
    for unit in _UNITS[:-1]:
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} {_UNITS[-1]}"
