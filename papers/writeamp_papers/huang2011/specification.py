"""Table I: datasheet values of the paper's devices beside the profiles.

Capacities and buffers were copied into the profiles. The profiles were also fitted to the printed
bandwidths and latencies, which are measured here. All these values are therefore inputs, not
results.
"""

from __future__ import annotations

from writeamp.devices.device import device, profile_op
from writeamp.devices.profile import profile
from writeamp.units.ratios import logical_of
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.huang2011.device_scores import DeviceScores, score_device
from writeamp_papers.huang2011.devices import DEVICES, FLASH, HOST_NS
from writeamp_papers.huang2011.readings import AGED, FRESH
from writeamp_papers.items import Item, at_most, compared, typed_in

_CAPACITIES_GB = {"HDD_S": 500, "SSD_I": 80, "SSD_A": 120, "SSD_S": 32}
_BUFFERS_MB = {"HDD_S": 8, "SSD_A": 64}
_READS_MB_S = {"SSD_I": 250, "SSD_A": 250, "SSD_S": 100}
_WRITES_MB_S = {"SSD_I": 70, "SSD_A": 100, "SSD_S": 80}
_MIB, _MB = 1 << 20, 1e6

# Relative tolerance. A datasheet's numbers come from loads that it does not describe, so equal
# values cannot be expected.
_TOLERANCE = 0.1


def profiles(bench: Bench) -> Findings:
    """Compare values of the profiles that need no measurement with Table I."""
    del bench
    items = [
        compared(
            f"Table I, {name}: capacity (GB)",
            printed,
            _capacity_bytes(DEVICES[name]) / 1e9,
            0.5,
            statement="P2-T1-1",
        )
        for name, printed in _CAPACITIES_GB.items()
    ]
    for name, printed in _BUFFERS_MB.items():
        times = device(DEVICES[name]).times or {}
        table = times.get("disk") or times.get("write_cache", {})
        buffer_bytes = table.get("cache_bytes", table.get("bytes", 0))
        items.append(
            compared(
                f"Table I, {name}: buffer (MB)",
                printed,
                buffer_bytes / _MIB,
                0.5,
                statement="P2-T1-2",
            )
        )
    rpm = (device(DEVICES["HDD_S"]).times or {})["disk"]["rpm"]
    items += [
        compared("Table I, HDD_S: latency (ms)", 5.6, 30e3 / rpm, 0.05, statement="P2-T1-5"),
        compared("Section II.B, HDD_S: rpm", 5400, rpm, 0.0, statement="P2-T1-8"),
    ]
    return Findings([typed_in(item) for item in items])


def speeds(bench: Bench) -> Findings:
    """Compare drives under a datasheet's loads with Table I."""
    items: list[Item] = []
    for name in FLASH:
        scores = score_device(bench, name)
        latency_ms, bandwidth = _measured(scores)
        for direction, printed, ours, statement in (
            ("reads", _READS_MB_S[name], bandwidth[0], "P2-T1-3"),
            ("writes", _WRITES_MB_S[name], bandwidth[1], "P2-T1-4"),
        ):
            items.append(
                compared(
                    f"Table I, {name}: {direction} in order (MB/s)",
                    printed,
                    ours,
                    _TOLERANCE * printed,
                    statement=statement,
                )
            )
        if name == "SSD_I":
            for direction, printed, ours in (
                ("read", 85, latency_ms[2]),
                ("write", 115, latency_ms[3]),
            ):
                items.append(
                    compared(
                        f"Table I, {name}: {direction} latency (µs)",
                        printed,
                        1e3 * ours,
                        _TOLERANCE * printed,
                        statement="P2-T1-6",
                    )
                )
        if name == "SSD_A":
            most_us = 1e3 * max(latency_ms[2:])
            items.append(
                at_most(f"Table I, {name}: latency (µs)", 100, most_us, statement="P2-T1-7")
            )
    return Findings([typed_in(item) for item in items])


def _capacity_bytes(name: str) -> float:
    """Return the capacity of a profile's device; `device` may reduce it to save memory."""
    profile_device = device(name)
    if profile_device.kind == "disk":
        return profile_device.capacity_bytes
    shape = profile(name).shape
    return logical_of(shape.physical_pages * shape.page_bytes, profile_op(name))


def _measured(scores: DeviceScores) -> tuple[list[float], list[float]]:
    """Return latency (ms) and bandwidth (10⁶ bytes per second) under the datasheet's loads.

    Reads access written data; writes go to a new drive. Latencies are the drive's own: with one
    request outstanding, the host's time is a summand.
    """
    latency_ms, bandwidth = (
        [
            scores.curve("specification", metric)[(FRESH if at % 2 else AGED).name][at]
            for at in range(4)
        ]
        for metric in ("latency", "bandwidth")
    )
    return [ms - HOST_NS / 1e6 for ms in latency_ms], [rate * _MIB / _MB for rate in bandwidth]
