"""Prometheus sees the virtual SSD's counters, from this machine only."""

from __future__ import annotations

import http.client
import json
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from patience import PATIENCE_S
from places import ROOT
from vssd_documents import COUNTERS, HANDLES, PAGE_BYTES, counters
from writeamp.errors import WriteampError
from writeamp.vssd.metrics import Exporter

DASHBOARD = ROOT / "docs" / "vssd" / "grafana-dashboard.json"
OF_OPERATION = {
    "requests": 10,
    "mean_ns": 100_000,
    "p50_ns": 90_000,
    "p99_ns": 2_000_000,
    "p99_9_ns": 3_000_000,
    "max_ns": 3_100_000,
}
TIMED = counters(latency={"read": OF_OPERATION, "write": OF_OPERATION})


class UnixConnection(http.client.HTTPConnection):
    """A connection of HTTP over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def scraped(address: str) -> dict[str, dict[frozenset[tuple[str, str]], float]]:
    """Return the samples that Prometheus would read: by their names, then by their labels."""
    if address.startswith("unix:"):
        connection: http.client.HTTPConnection = UnixConnection(address.removeprefix("unix:"))
    else:
        host, _, port = address.rpartition(":")
        connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=PATIENCE_S)
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    assert answer.status == 200
    found: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for family in text_string_to_metric_families(answer.read().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    connection.close()
    return found


@pytest.fixture
def timed() -> Iterator[dict[str, dict[frozenset[tuple[str, str]], float]]]:
    with Exporter(lambda: TIMED, "127.0.0.1:0") as exporter:
        yield scraped(exporter.address)


def only(samples: dict[frozenset[tuple[str, str]], float]) -> float:
    """Return the value of the one sample, which has no labels."""
    assert set(samples) == {frozenset()}
    return samples[frozenset()]


def test_bytes_of_the_flash_are_counted_by_cause(timed: Any) -> None:
    assert timed["writeamp_flash_programmed_bytes_total"] == {
        frozenset({("cause", cause)}): pages * PAGE_BYTES
        for cause, pages in COUNTERS["programs"].items()
    }


def test_counts_of_the_host_and_of_wear_are_those_of_the_drive(timed: Any) -> None:
    host = COUNTERS["host"]
    assert only(timed["writeamp_host_written_bytes_total"]) == host["written_bytes"]
    assert only(timed["writeamp_host_read_bytes_total"]) == host["read_bytes"]
    assert only(timed["writeamp_host_trimmed_bytes_total"]) == host["trimmed_bytes"]
    assert only(timed["writeamp_host_write_requests_total"]) == host["write_requests"]
    assert only(timed["writeamp_host_flushes_total"]) == host["flushes"]
    assert only(timed["writeamp_erases_total"]) == 901
    assert only(timed["writeamp_mapped_pages"]) == 3990
    assert only(timed["writeamp_physical_pages"]) == 5000
    assert only(timed["writeamp_max_erase_count"]) == 14
    assert only(timed["writeamp_up"]) == 1


def test_latency_of_a_timed_drive_is_in_seconds(timed: Any) -> None:
    labels = frozenset({("op", "write"), ("quantile", "0.99")})
    assert timed["writeamp_latency_seconds"][labels] == 0.002


def test_erases_of_an_slc_cache_are_counted_apart(timed: Any) -> None:
    assert "writeamp_slc_erases_total" not in timed
    with Exporter(lambda: counters(slc={"erases": 30}), ":0") as exporter:
        found = scraped(exporter.address)
    assert only(found["writeamp_slc_erases_total"]) == 30
    assert only(found["writeamp_erases_total"]) == 901


def test_bytes_by_placement_handle_have_its_label(timed: Any) -> None:
    assert not any("handle" in name for name in timed)
    with Exporter(lambda: counters(handles=HANDLES), ":0") as exporter:
        found = scraped(exporter.address)
    for name, key in {
        "writeamp_handle_host_written_bytes_total": "host_pages",
        "writeamp_handle_flash_programmed_bytes_total": "media_pages",
        "writeamp_handle_moved_in_bytes_total": "moved_in_pages",
        "writeamp_handle_moved_out_bytes_total": "moved_out_pages",
    }.items():
        assert found[name] == {
            frozenset({("handle", label)}): row[key] * PAGE_BYTES
            for label, row in zip(("0", "2", "shared"), HANDLES, strict=True)
        }


def test_an_operation_that_never_came_has_no_latency() -> None:
    never = dict.fromkeys(OF_OPERATION)
    latency = {"read": never | {"requests": 0}, "write": OF_OPERATION}
    with Exporter(lambda: counters(latency=latency), ":0") as exporter:
        found = scraped(exporter.address)["writeamp_latency_seconds"]
    assert {dict(labels)["op"] for labels in found} == {"write"}


def test_wa_is_left_to_rates_of_counters(timed: Any) -> None:
    assert not any("wa" in name.split("_") or "ratio" in name for name in timed)


def test_each_collection_asks_anew() -> None:
    counted = iter([counters(erases=1), counters(erases=2)])
    with Exporter(lambda: next(counted), ":0") as exporter:
        for erases in (1, 2):
            assert only(scraped(exporter.address)["writeamp_erases_total"]) == erases


def test_a_drive_that_is_gone_is_down_and_has_no_counters() -> None:
    def ask() -> Any:
        raise WriteampError("the server has ended")

    with Exporter(ask, "127.0.0.1:0") as exporter:
        found = scraped(exporter.address)
    assert only(found["writeamp_up"]) == 0
    assert set(found) == {"writeamp_up"}


def test_a_unix_socket_is_its_owners_and_goes_with_the_exporter(tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    with Exporter(lambda: COUNTERS, f"unix:{path}") as exporter:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert only(scraped(exporter.address)["writeamp_erases_total"]) == 901
    assert not path.exists()


def test_a_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with Exporter(lambda: COUNTERS, f"unix:{path}") as exporter:
        assert only(scraped(exporter.address)["writeamp_up"]) == 1


def test_an_address_that_another_server_has_is_refused(tmp_path: Path) -> None:
    with Exporter(lambda: COUNTERS, f"unix:{tmp_path}/metrics") as first:
        with pytest.raises(WriteampError, match="a server already listens"):
            Exporter(lambda: COUNTERS, first.address)
        assert only(scraped(first.address)["writeamp_up"]) == 1
    with (
        Exporter(lambda: COUNTERS, "127.0.0.1:0") as first,
        pytest.raises(WriteampError, match="in use"),
    ):
        Exporter(lambda: COUNTERS, first.address)


def test_a_file_is_not_replaced_by_a_socket(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("kept")
    with pytest.raises(WriteampError, match="not a socket"):
        Exporter(lambda: COUNTERS, f"unix:{path}")
    assert path.read_text() == "kept"


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:0", ":0", "127.0.0.2:0"])
def test_a_port_is_of_this_machine_alone(address: str) -> None:
    with Exporter(lambda: COUNTERS, address) as exporter:
        assert exporter.address.startswith("127.0.0.")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (f"unix:{'x' * 200}", "107 bytes"),
        ("unix:no/folder/metrics", "does not exist"),
        ("unix:a\0b", "NUL"),
        *(
            (address, "this machine only")
            for address in ("0.0.0.0:9105", "[::]:9105", "192.0.2.1:9105", "example.org:9105")
        ),
        ("10.0.0.1:0", "this machine only"),
        *(
            (address, r"must be 127\.0\.0\.1:PORT")
            for address in ("", "9105", "127.0.0.1", "127.0.0.1:", ":65536", ":x", ":²")
        ),
    ],
)
def test_an_address_that_cannot_be_or_that_others_reach_is_refused(
    address: str, words: str
) -> None:
    with pytest.raises(WriteampError, match=words):
        Exporter(lambda: COUNTERS, address)


def test_every_metric_of_the_dashboard_is_exported(timed: Any) -> None:
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(expressions) > len(panels)
    for expression in expressions:
        names = re.findall(r"writeamp_\w+", expression)
        assert names
        assert set(names) <= set(timed), expression


def test_wa_of_the_dashboard_is_a_rate_over_a_rate() -> None:
    first = json.loads(DASHBOARD.read_text("utf-8"))["panels"][0]
    (target,) = first["targets"]
    flash, host = target["expr"].split(" / ")
    assert "rate(writeamp_flash_programmed_bytes_total" in flash
    assert "rate(writeamp_host_written_bytes_total" in host
