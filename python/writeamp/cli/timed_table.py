"""Table of a run in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.results.numbers import with_interval
from writeamp.runs.words import steady_in_words
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import shown_duration

if TYPE_CHECKING:
    from writeamp.runs.timed.found import Served
    from writeamp.runs.timed.result import TimedResult

_COLUMNS = ("", ">mean", ">p50", ">p99", ">p99.9", ">p99.99", ">max", ">IOPS", ">MB/s")


def print_timed(result: TimedResult) -> None:
    """Print latencies by direction, and what else was found."""
    stdout.print(options.facts(_facts(result)))
    stdout.print(options.table("Latency, throughput and bandwidth", _COLUMNS, _rows(result)))


def _facts(result: TimedResult) -> list[tuple[str, str]]:
    device, virtual_s = result.device, result.virtual_time_s
    rows = [
        ("workload", result.plan.load_name),
        ("manager, victims", str(result.plan.policy)),
        ("device", f"{device.name}: {device.kind}, {shown_bytes(device.capacity_bytes)}"),
        ("before the run", result.plan.host.precondition),
        ("run", f"{shown_duration(virtual_s)} of virtual time, seed {result.plan.seed}"),
        (
            "measured",
            f"{shown_duration(result.measured_s)} from {shown_duration(result.measured_from_s)} on",
        ),
    ]
    rows += [(f"busy: {level}", f"{share:.1%}") for level, share in result.utilization.items()]
    return rows + _facts_of_flash(result) if result.has_flash else rows


def _facts_of_flash(result: TimedResult) -> list[tuple[str, str]]:
    found = result.found
    rows = [
        (
            "flash operations",
            f"{found.program_operations:,} programs, {found.read_operations:,} page reads, "
            f"{found.end['erases']:,} erases",
        )
    ]
    retries = result.read_retries
    if retries is not None and any(retries.values()):
        by_purpose = ", ".join(f"{count:,} {name}" for name, count in retries.items() if count)
        rows.append(("further tries of reads", by_purpose))
    capture = result.capture
    if capture is not None and capture.path is not None:
        rows.append(("capture", f"{capture.path}: {capture.pins} pins, {capture.edges:,} edges"))
    if not result.host_pages:
        return [*rows, ("write amplification", "none: the host wrote nothing")]
    rows += [
        ("counted", f"{result.host_pages:,} host pages after a warm-up of {result.warmup_pages:,}"),
        ("steady", steady_in_words(result.steady, result.steady_state.reason)),
    ]
    rows += [(f"programmed: {cause}", f"{pages:,} pages") for cause, pages in result.causes.items()]
    rows.append(("erased", f"{result.erases:,} blocks"))
    if result.percentage_used is not None:
        rows.append(("percentage used", f"{result.percentage_used:.3g}% by the whole run"))
    if result.has_partial_pages:
        rows.append(("WA per host byte", f"{result.wa_bytes:.4f}  (what SMART shows)"))
    name = "WA per page" if result.has_partial_pages else "write amplification"
    return [*rows, (name, _wa(result))]


def _wa(result: TimedResult) -> str:
    return with_interval(result.wa, result.ci, unknown="too short for an interval")


def _rows(result: TimedResult) -> list[list[str]]:
    directions = {"read": result.reads, "write": result.writes_served}
    rows = [
        [name, *_latencies(served), _rate(result.iops[name]), _rate(result.bandwidth_mb_s[name])]
        for name, served in directions.items()
        if served.requests
    ]
    total = ["all", *[""] * 6, _rate(result.iops["all"]), _rate(result.bandwidth_mb_s["all"])]
    return [*rows, total]


def _latencies(served: Served) -> list[str]:
    found = served.latency_us() or {}
    return [shown_duration((us or 0.0) / 1e6) for us in found.values()]


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
