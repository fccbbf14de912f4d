"""Axis labels of settings and results."""

from __future__ import annotations

from writeamp.plots.style import WA_LABEL, WA_UNIT

_DRIVE = "(T physical, U logical pages)"

_LABELS = {
    "op": f"op = (T-U)/U {_DRIVE}",
    "spare_factor": f"spare factor (T-U)/T {_DRIVE}",
    "fill": f"fill U/T {_DRIVE}",
    "pages_per_block": "pages per block",
    "wa": f"{WA_LABEL} ({WA_UNIT})",
    "target_wa": f"{WA_LABEL} ({WA_UNIT})",
    "manager": "block manager",
    "victims": "victim policy",
    "pe_fairness": "PE fairness (mean erases of a block / W)",
    "endurance_full_drive_writes": "endurance (writes of the physical capacity)",
}

_WITHOUT_DEFINITION = {"op": "op"}
_UPRIGHT_CHARACTERS = 32


def upright_label(name: str) -> str:
    """Return the label of a setting or metric for a y axis, with a line break if it is long.

    >>> upright_label("op")
    'op = (T-U)/U\\n(T physical, U logical pages)'
    """
    label = axis_label(name)
    head, bracket, tail = label.rpartition(" (")
    if not bracket or len(label) <= _UPRIGHT_CHARACTERS:
        return label
    return f"{head}\n({tail}".replace(" per ", "\nper ")


def title_word(name: str) -> str:
    """Return the label of a metric for a title: capitalized, without definition and unit.

    >>> title_word("wa")
    'Write amplification'
    """
    word = _WITHOUT_DEFINITION.get(name, axis_label(name)).partition(" (")[0]
    return word[:1].upper() + word[1:]


def axis_label(name: str) -> str:
    """Return the axis label of a setting or metric, or its name if it has no label.

    >>> axis_label("latency_us.read.p99")
    'read latency, p99 (µs)'
    >>> axis_label("workload.s")
    'workload.s'
    """
    if name in _LABELS:
        return _LABELS[name]
    parts = name.split(".")
    if len(parts) == 3 and parts[0] == "latency_us":
        return f"{parts[1]} latency, {parts[2]} (µs)"
    return name
