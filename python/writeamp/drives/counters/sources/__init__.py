"""Sources of counters: documents of a tool each. The most specific one that matches reads."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from writeamp.drives.counters.source import Source
from writeamp.drives.counters.sources import (
    additional_smart_page,
    backblaze_csv,
    crystal_disk_info,
    endurance_group,
    fdp,
    id_ctrl,
    ocp,
    ocp_page,
    printed_logs,
    prometheus,
    samsung_page,
    saved_snapshot,
    smart_log,
    smartctl_json,
    smartctl_text,
    ssacli,
)

_OWN = (
    additional_smart_page.SOURCE,
    backblaze_csv.SOURCE,
    crystal_disk_info.SOURCE,
    endurance_group.SOURCE,
    fdp.SOURCE,
    id_ctrl.SOURCE,
    ocp.SOURCE,
    ocp_page.SOURCE,
    prometheus.RANGE,
    prometheus.TEXT,
    samsung_page.SOURCE,
    saved_snapshot.SOURCE,
    smart_log.SOURCE,
    smartctl_json.SOURCE,
    smartctl_text.SOURCE,
    ssacli.SOURCE,
)


@cache
def sources() -> tuple[Source, ...]:
    """Return all sources, the most specific first."""
    return by_specificity([*_OWN, *printed_logs.sources()])


def by_specificity(unordered: Iterable[Source]) -> tuple[Source, ...]:
    """Return sources in the order in which they are tried, whatever the order they are given in."""
    return tuple(sorted(unordered, key=lambda one: (-one.specificity, one.name)))
