"""Table of the results of a virtual drive."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.results.numbers import with_interval
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import shown_duration
from writeamp.vssd.layers import Layers

if TYPE_CHECKING:
    from writeamp.vssd.result import ServeResult

_OF_LAYERS = ("layer", ">bytes", ">factor")
_OF_LATENCY = ("latency", ">mean", ">p50", ">p99", ">p99.9", ">max")
_LAYER_WORDS = {
    "application": "passed to write()",
    "file_system": "file system wrote",
    "device": "drive was written",
    "flash": "flash programmed",
}


def print_served(result: ServeResult) -> None:
    """Print what the host wrote, what the flash did for it, and what each layer made of it."""
    stdout.print(options.facts(_facts(result)))
    if result.layers is not None:
        rows = _rows(result.layers)
        stdout.print(options.table("From the application to the flash", _OF_LAYERS, rows))
    if result.latency_us is not None:
        stdout.print(options.table("In the drive's time", _OF_LATENCY, _latencies(result)))


def _facts(result: ServeResult) -> list[tuple[str, str]]:
    device = result.device
    rows = [
        ("drive", f"{device.name}: {shown_bytes(device.capacity_bytes)}, {device.layout}"),
        ("space", f"op {device.op:.4g} = (T-U)/U, fill {device.fill:.4g}"),
        ("manager, victims", str(result.policy)),
        ("before the run", _before(result)),
        ("counted", f"{shown_duration(result.elapsed_s)}, from the {_since(result)} on"),
        ("host wrote", f"{result.host_bytes:,} bytes in {result.host_pages:,} pages"),
    ]
    if result.run_exit_status is not None:
        rows.append(("command", f"ended with status {result.run_exit_status}"))
    if result.read_modify_write_pages:
        rows.append(("read, modified, written", f"{result.read_modify_write_pages:,} pages"))
    rows += [(f"programmed: {cause}", f"{pages:,} pages") for cause, pages in result.causes.items()]
    rows.append(("flash wrote", f"{result.flash_bytes:,} bytes"))
    rows.append(("erased", f"{result.erases:,} blocks"))
    low, mean, high = (result.ended[f"{word}_erase_count"] for word in ("min", "mean", "max"))
    rows.append(("wear of a block", f"{low:,} to {high:,} erases in its life, mean {mean:.4g}"))
    if result.has_partial_pages:
        rows.append(("WA per host byte", f"{result.wa_bytes:.4f}  (what SMART shows)"))
        factor = result.partial_page_factor
        rows.append(("", f"= WA per page × {factor:.4f}, as pages are written in part"))
    name = "WA per page" if result.has_partial_pages else "write amplification"
    return [*rows, (name, _wa(result))]


def _before(result: ServeResult) -> str:
    return "kept from an earlier run" if result.is_kept else result.precondition


def _since(result: ServeResult) -> str:
    if result.settings.counts_from_start or result.run is None:
        return "start"
    return "command's start"


def _wa(result: ServeResult) -> str:
    if math.isnan(result.wa):
        return "none: the host wrote nothing"
    unknown = "no interval: nothing was collected"
    if result.has_collected:
        unknown = "too little for an interval"
    return with_interval(result.wa, result.ci, unknown=unknown)


def _rows(layers: Layers) -> list[list[str]]:
    factors = layers.factors()
    rows = [
        [_LAYER_WORDS[name], f"{size:,}", _factor(factors.get(name), is_first=name not in factors)]
        for name, size in layers.bytes_by_layer().items()
    ]
    if layers.unknown is not None:
        size = "unknown" if layers.application is None else f"{layers.application:,}"
        where = "" if layers.application is None else ", pipes too"
        rows.insert(0, [_LAYER_WORDS["application"] + where, size, ""])
    return [*rows, ["in all", "", _factor(layers.whole(), is_first=False)]]


def _factor(factor: float | None, *, is_first: bool) -> str:
    if is_first:
        return ""
    return "–" if factor is None else f"× {factor:.4g}"


def _latencies(result: ServeResult) -> list[list[str]]:
    return [
        [direction, *(shown_duration(us / 1e6) for us in found.values())]
        for direction, found in (result.latency_us or {}).items()
        if found is not None
    ]
