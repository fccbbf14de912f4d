"""WA by cause: bytes written by each layer, from the application to the flash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.plots.spec import BarChart, Layer
from writeamp.plots.style import HOST_COLOR, MUTED, series_color
from writeamp.reports.report import Drawing, Report, Rows, Section
from writeamp.reports.values import number, rows, table, words
from writeamp.results.numbers import four_digits

# Label and colour of each cause.
_CAUSES = {
    "host": ("written by the host", HOST_COLOR),
    "gc": ("moved by garbage collection", series_color(0)),
    "wear_leveling": ("moved by wear levelling", series_color(1)),
    "padding": ("padding", series_color(2)),
    "read_modify_write": ("read-modify-write", series_color(3)),
    "mapping": ("mapping table", series_color(4)),
    "refresh": ("refresh", series_color(5)),
    "slc": ("SLC cache", series_color(6)),
    "folding": ("folded out of the SLC cache", MUTED),
}
_AXIS = "bytes per host byte"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def by_cause(report: Report) -> Section | None:
    """Return the bars and numbers of the run, or of the row with the lowest WA."""
    document = report.document
    of = document
    if not table(document, "causes"):
        of = table(report.more, "run") or _row_with_causes(document)
    causes = {
        cause: pages for cause in table(of, "causes") if (pages := _positive(of["causes"], cause))
    }
    # A write cache may merge host pages. In older documents, the programs for the host (also those
    # into an SLC cache) are the only count.
    host = _positive(of, "host_pages") or causes.get("host", 0) + causes.get("slc", 0)
    if not (host and causes):
        return None
    page_bytes = _positive(document, "page_bytes") or _positive(of, "page_bytes") or 4096.0
    total = sum(causes.values())
    lines = [
        [_name(cause), f"{pages:,.0f}", four_digits(pages / host), f"{pages / total:.1%}"]
        for cause, pages in causes.items()
    ]
    lines.append(["all", f"{total:,.0f}", four_digits(total / host), "100.0%"])
    columns = ["cause", ">pages programmed", ">per host page", ">share of all pages programmed"]
    caption = (
        "Bytes written by each layer. The lowest bar is the flash; its parts are the "
        "causes of programmed pages."
    )
    if of is not document:
        named = filter(None, (words(of, "way"), words(of, "manager"), words(of, "victims")))
        caption = f"Result of {', '.join(named)}. {caption}"
    # Requests may cover pages in part.
    host_bytes = _positive(table(of, "host"), "written_bytes") or host * page_bytes
    figure = _figure(document, causes, host_bytes, page_bytes)
    drawing = Drawing(figure, caption)
    return Section("causes", "Write amplification by cause", (drawing, Rows(columns, lines)))


def _positive(of: Mapping[str, Any], key: str) -> float | None:
    value = number(of, key)
    return value if value and value > 0 else None


def _row_with_causes(document: Mapping[str, Any]) -> Mapping[str, Any]:
    candidates = [row for row in rows(document, "rows") if table(row, "causes")]
    return min(candidates, key=lambda row: number(row, "wa") or float("inf"), default={})


def _figure(
    document: Mapping[str, Any],
    causes: Mapping[str, float],
    host_bytes: float,
    page_bytes: float,
) -> BarChart:
    """Describe a bar for each layer, with the flash divided by cause."""
    above = _above(document, host_bytes)
    shares = [size / host_bytes for _, size in above]
    none = (0.0,) * len(above)
    flash = sum(causes.values()) * page_bytes
    sizes = [*(size for _, size in above), flash]
    return BarChart(
        title="Bytes written at each layer",
        subtitle="",
        x_label=_AXIS,
        bars=(*(name for name, _ in above), "flash"),
        layers=(
            Layer(_AXIS, HOST_COLOR, (*shares, 0.0)),
            *(
                Layer(_name(cause), _color(cause), (*none, pages * page_bytes / host_bytes))
                for cause, pages in causes.items()
            ),
        ),
        texts=tuple(map(_bytes, sizes)),
    )


def _above(document: Mapping[str, Any], host_bytes: float) -> list[tuple[str, float]]:
    """Return the layers above the flash with their bytes, from the top."""
    layers = table(document, "layers")
    above = []
    # Without a factor, the program's bytes include files outside the drive, so they are left out.
    passed = _positive(layers, "application_bytes")
    if passed and number(table(layers, "factors"), "file_system"):
        above.append(("passed to write()", passed))
    if size := _positive(layers, "file_system_bytes"):
        above.append((f"{words(document, 'file_system') or 'file system'}", size))
    return [*above, ("host writes to the drive", _positive(layers, "device_bytes") or host_bytes)]


def _name(cause: str) -> str:
    return _CAUSES.get(cause, (cause.replace("_", " "), ""))[0]


def _color(cause: str) -> str:
    return _CAUSES.get(cause, ("", series_color(6)))[1]


def _bytes(size: float) -> str:
    for unit in _UNITS[:-1]:
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} {_UNITS[-1]}"
