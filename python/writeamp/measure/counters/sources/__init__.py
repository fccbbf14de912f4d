"""Sources of counters: one module for each, with its `SOURCE`; the first that matches reads."""

from __future__ import annotations

from writeamp.measure.counters.source import Source
from writeamp.measure.counters.sources import (
    endurance_group_json,
    fdp_json,
    ocp_json,
    ocp_page,
    smart_log_json,
    smartctl_json,
    smartctl_text,
)

SOURCES: tuple[Source, ...] = (
    ocp_page.SOURCE,
    smartctl_json.SOURCE,
    smartctl_text.SOURCE,
    ocp_json.SOURCE,
    fdp_json.SOURCE,
    endurance_group_json.SOURCE,
    smart_log_json.SOURCE,
)
