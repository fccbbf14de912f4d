"""Prometheus' text of smartctl_exporter and nvme_metrics: drives of a machine at one moment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from writeamp.drives.counters.document import Document
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.prometheus_series import PREFIXES, Sample, facts_of_samples
from writeamp.drives.counters.source import Source

_NAME = "smartctl_exporter's text"
_LINE = re.compile(r"([a-zA-Z_:][\w:]*)\{([^{}]*)\}\s+([^\s]+)(?:\s+(-?\d+))?\s*$")
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
_MILLI = 1000
_HEAD = 1 << 20


def _matches(document: Document) -> bool:
    head = document.text[:_HEAD]
    return any(re.search(rf"^[ \t]*{prefix}\w*\{{", head, re.MULTILINE) for prefix in PREFIXES)


def _samples(text: str) -> Iterator[Sample]:
    for indented in text.splitlines():
        line = indented.lstrip()
        match = _LINE.match(line) if line.startswith(PREFIXES) else None
        if match is None:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        labels = dict(_LABEL.findall(match[2]))
        at_s = int(match[4][:18]) / _MILLI if match[4] else None
        yield Sample(match[1], labels, value, at_s)


def _read(document: Document) -> Iterator[Facts]:
    yield from facts_of_samples(_samples(document.text), _NAME, document.stated)


SOURCE = Source(_NAME, _matches, _read, specificity=56)
