"""Metrics of the virtual SSD for Prometheus.

The metrics include no ratios: Prometheus computes WA over any interval as a ratio of rates.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from writeamp.errors import WriteampError
from writeamp.results.handles import SHARED
from writeamp.vssd.control import Document
from writeamp.vssd.metrics_server import MetricsServer
from writeamp.vssd.placement_handles import by_handle

_NS_PER_S = 1e9

# Name of the metric without "_total", key in the host's counts, and description.
_OF_HOST = (
    ("writeamp_host_written_bytes", "written_bytes", "Bytes that the host wrote"),
    ("writeamp_host_read_bytes", "read_bytes", "Bytes that the host read"),
    ("writeamp_host_trimmed_bytes", "trimmed_bytes", "Bytes that the host trimmed"),
    ("writeamp_host_write_requests", "write_requests", "Requests to write"),
    ("writeamp_host_read_requests", "read_requests", "Requests to read"),
    ("writeamp_host_trim_requests", "trim_requests", "Requests to trim"),
    ("writeamp_host_flushes", "flushes", "Requests to flush"),
)
_OF_DRIVE = (
    ("writeamp_erases", "erases", "Blocks erased"),
    (
        "writeamp_read_modify_write_pages",
        "read_modify_write_pages",
        "Pages that the host wrote only partially, so that the drive first read the rest",
    ),
)
_GAUGES = (
    ("writeamp_capacity_bytes", "size_bytes", "User capacity in bytes"),
    ("writeamp_page_bytes", "page_bytes", "Bytes of a page"),
    ("writeamp_logical_pages", "logical_pages", "Logical pages"),
    ("writeamp_physical_pages", "physical_pages", "Pages of the flash"),
    ("writeamp_mapped_pages", "mapped_pages", "Logical pages that hold data"),
    ("writeamp_max_erase_count", "max_erase_count", "Erases of the most worn block"),
    ("writeamp_min_erase_count", "min_erase_count", "Erases of the least worn block"),
    ("writeamp_mean_erase_count", "mean_erase_count", "Mean erases of a block"),
)
# Name of the metric without "_total", key of `by_handle`, and description.
_OF_HANDLES = (
    ("writeamp_handle_host_written_bytes", "host_bytes", "Bytes of pages that the host wrote"),
    ("writeamp_handle_flash_programmed_bytes", "media_bytes", "Bytes programmed of their data"),
    ("writeamp_handle_moved_in_bytes", "moved_in", "Bytes collection moved into their blocks"),
    ("writeamp_handle_moved_out_bytes", "moved_out", "Bytes collection moved out of their blocks"),
)
_QUANTILES = (("0.5", "p50_ns"), ("0.99", "p99_ns"), ("0.999", "p99_9_ns"))


class Exporter(MetricsServer):
    """Serves the metrics of one virtual drive over HTTP during a `with` block."""

    def __init__(self, ask: Callable[[], Document], address: str) -> None:
        """Set the address.

        Args:
            ask: returns the response of the control socket to "counters".
            address: as for `MetricsServer`.

        Raises:
            WriteampError: the address is invalid, not local to this machine, or in use.
        """
        super().__init__(_DriveCollector(ask), address)


class _DriveCollector(Collector):
    """Prometheus collector that queries the drive on each collection."""

    def __init__(self, ask: Callable[[], Document]) -> None:
        self._ask = ask
        self._turn = threading.Lock()  # several collections may run at once

    def collect(self) -> Iterator[Metric]:
        try:
            with self._turn:
                counters = self._ask()
        except (OSError, WriteampError):
            yield _gauge("writeamp_up", "Whether the drive responds", 0)
            return
        yield _gauge("writeamp_up", "Whether the drive responds", 1)
        yield from _counted(counters)
        for name, key, help_text in _GAUGES:
            yield _gauge(name, help_text, counters[key])
        if counters["latency"] is not None:
            yield _latencies(counters["latency"])


def _counted(counters: Document) -> Iterator[Metric]:
    for name, key, help_text in _OF_HOST:
        yield CounterMetricFamily(name, help_text, value=counters["host"][key])
    for name, key, help_text in _OF_DRIVE:
        yield CounterMetricFamily(name, help_text, value=counters[key])
    if slc := counters.get("slc"):
        help_text = "Blocks of the SLC cache erased, not included in writeamp_erases"
        yield CounterMetricFamily("writeamp_slc_erases", help_text, value=slc["erases"])
    programmed = CounterMetricFamily(
        "writeamp_flash_programmed_bytes", "Bytes programmed to the flash", labels=["cause"]
    )
    for cause, pages in counters["programs"].items():
        programmed.add_metric([cause], pages * counters["page_bytes"])
    yield programmed
    if rows := by_handle(counters):
        yield from _of_handles(rows)


def _of_handles(rows: list[Document]) -> Iterator[Metric]:
    for name, key, help_text in _OF_HANDLES:
        family = CounterMetricFamily(name, f"{help_text}, by handle", labels=["handle"])
        for row in rows:
            label = SHARED if row["handle"] is None else str(row["handle"])
            family.add_metric([label], row[key])
        yield family


def _latencies(latency: Document) -> Metric:
    gauge = GaugeMetricFamily(
        "writeamp_latency_seconds",
        "Latency of requests since counting began, in the drive's time",
        labels=["op", "quantile"],
    )
    for op, facts in latency.items():
        for quantile, key in _QUANTILES if facts["requests"] else ():
            gauge.add_metric([op, quantile], facts[key] / _NS_PER_S)
    return gauge


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help_text, value=value)
