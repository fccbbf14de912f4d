"""Sources of counters, one per type of document; the most specific matching source reads it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from writeamp.drives.counters import saved_file
from writeamp.drives.counters.facts import CounterSource
from writeamp.drives.counters.sources import (
    backblaze_csv,
    crystal_disk_info,
    nvme_logs,
    ocp,
    printed_logs,
    prometheus,
    smartctl_json,
    smartctl_text,
    ssacli,
    vendor_pages,
)

_OWN = (
    backblaze_csv.SOURCE,
    crystal_disk_info.SOURCE,
    nvme_logs.IDENTITY,
    nvme_logs.ENDURANCE_GROUP,
    nvme_logs.FDP,
    nvme_logs.SMART,
    ocp.PAGE,
    ocp.SOURCE,
    prometheus.RANGE,
    prometheus.TEXT,
    saved_file.SOURCE,
    smartctl_json.SOURCE,
    smartctl_text.SOURCE,
    ssacli.SOURCE,
    vendor_pages.ADDITIONAL_SMART,
    vendor_pages.SAMSUNG,
)


@cache
def sources() -> tuple[CounterSource, ...]:
    """Return the sources of all document types, the most specific first."""
    return by_specificity([*_OWN, *printed_logs.sources()])


def by_specificity(unordered: Iterable[CounterSource]) -> tuple[CounterSource, ...]:
    """Return the sources in the order in which they are tried, the most specific first."""
    return tuple(sorted(unordered, key=lambda source: (-source.specificity, source.name)))
