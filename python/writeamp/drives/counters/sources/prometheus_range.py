"""Prometheus' answers to queries: samples of several drives at several moments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from writeamp.drives.counters.document import Document, number, objects, within
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.prometheus_series import Sample, facts_of_samples
from writeamp.drives.counters.source import Source

_NAME = "Prometheus query_range"


def _matches(document: Document) -> bool:
    return within(document.json, "data", "resultType") in ("matrix", "vector")


def _value(printed: Any) -> float | None:
    try:
        return number(float(printed)) if isinstance(printed, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def _samples(log: Any) -> Iterator[Sample]:
    for series in objects(within(log, "data", "result")):
        labels = series.get("metric")
        if not isinstance(labels, dict):
            continue
        texts = {key: text for key, text in labels.items() if isinstance(text, str)}
        points = series.get("values", [series.get("value")])
        for point in points if isinstance(points, list) else []:
            if not isinstance(point, list) or len(point) != 2:
                continue
            at_s, value = number(point[0]), _value(point[1])
            if at_s is not None and value is not None:
                yield Sample(texts.get("__name__", ""), texts, value, at_s)


def _read(document: Document) -> Iterator[Facts]:
    yield from facts_of_samples(_samples(document.json), _NAME, document.stated)


SOURCE = Source(_NAME, _matches, _read, specificity=58)
