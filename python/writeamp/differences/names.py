"""Names and units of a result's settings and metrics, from their keys in the JSON document."""

from __future__ import annotations

import re

from writeamp.results.numbers import four_digits
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import shown_duration

# A key with the name of its row, if it is in a table: "rows[uniform, single]".
_SEGMENT = re.compile(r"([^.\[]+)(?:\[(.*?)\](?=\.|$))?(?:\.|$)")
_US_PER_S = 1e6
# Names by key; for a key in an object, the name of the object's key is tried first.
_NAMES = {
    "flash_bytes_per_application_byte": "flash bytes per application byte",
    "wa": "WA",
    "wa_bytes": "WA per byte",
    "partial_page_factor": "bytes of written pages per host byte",
    "host_pages": "pages written by the host",
    "host_bytes": "written by the host",
    "flash_pages": "pages programmed",
    "flash_bytes": "programmed",
    "media_bytes": "programmed",
    "erases": "blocks erased",
    "warmup_pages": "warm-up, pages",
    "writes": "length, page writes",
    "drive_writes": "length, drive writes",
    "capacity_bytes": "capacity",
    "op": "op",
    "spare_factor": "spare factor",
    "held_pages": "pages that hold data",
    "page_bytes": "page size",
    "run": "command",
    "manager": "block manager",
    "victims": "victim policy",
    "wear_leveling": "wear leveller",
    "precondition": "initial state",
    "count_from": "counted from",
    "pe_fairness": "P/E fairness",
    "w_max": "erases that a block endures",
    "tbw": "TBW, TB",
    "dwpd": "DWPD",
    "theory.wa": "WA by theory",
    "theory.op": "op of the theory",
    "theory.model": "model of the theory",
    "theory_wa": "WA by theory",
    "application.written_bytes": "written by the application",
    "application.host_bytes_per_application_byte": "host bytes per application byte",
    "application.flash_bytes_per_application_byte": "flash bytes per application byte",
    "application.steady": "application bytes steady",
    "host.written_pages": "pages written by the host",
    "host.written_bytes": "written by the host",
    "host.read_pages": "pages read by the host",
    "host.read_bytes": "read by the host",
    "host.trimmed_pages": "pages trimmed",
    "host.trimmed_bytes": "trimmed",
    "host.flushes": "flushes",
    "layers.application_bytes": "passed to write()",
    "layers.file_system_bytes": "written by the file system",
    "layers.device_bytes": "written to the drive",
    "layers.flash_bytes": "programmed",
    "factors.file_system": "file-system bytes per application byte",
    "factors.device": "drive bytes per file-system byte",
    "factors.flash": "flash bytes per drive byte",
    "causes.host": "programmed for the host",
    "causes.gc": "moved by garbage collection",
    "causes.wear_leveling": "moved by wear levelling",
    "causes.padding": "programmed as padding",
    "causes.read_modify_write": "programmed for read-modify-write",
    "causes.mapping": "programmed for the mapping table",
    "causes.refresh": "programmed for refresh",
    "causes.slc": "programmed into the SLC cache",
    "causes.folding": "folded out of the SLC cache",
    "write.p99_9": "write latency, p99.9",
    "read.p99_9": "read latency, p99.9",
    "write.p99_99": "write latency, p99.99",
    "read.p99_99": "read latency, p99.99",
}
# Ends of keys whose values are in bytes.
_ENDS_OF_BYTES = ("_bytes", "moved_in", "moved_out")
# Objects whose values are named by their place in it.
_OBJECTS = {
    "write": "write latency, {}",
    "read": "read latency, {}",
    "iops": "IOPS, {}",
    "bandwidth_mb_s": "MB/s, {}",
    "utilization": "utilization of the {}",
}


def name_of(key: str) -> str:
    """Return the name of a setting or metric; a metric of a table's row begins with the row.

    >>> name_of("causes.gc"), name_of("rows[zipf:s=0.99, single].wa")
    ('moved by garbage collection', 'zipf:s=0.99, single: WA')
    >>> name_of("latency_us.read.p99")
    'read latency, p99'
    """
    segments = _SEGMENT.findall(key)
    rows = [row for _, row in segments if row]
    names = [segment for segment, _ in segments]
    if segments and segments[-1][1]:  # a value of a row without a name of its own
        names.append("value")
    parent, last = (names[-2] if len(names) > 1 else "", names[-1] if names else key)
    words = _NAMES.get(f"{parent}.{last}") or (
        _OBJECTS[parent].format(last.replace("_", " "))
        if parent in _OBJECTS
        else _NAMES.get(last, last.replace("_", " "))
    )
    return ": ".join([*rows, words])


def value_in_words(key: str, value: float) -> str:
    """Return a number with the unit of its key.

    >>> value_in_words("flash_bytes", 65536), value_in_words("latency_us.write.p99", 1500.0)
    ('64 KiB', '1.5 ms')
    """
    sign, size = ("-" if value < 0 else ""), abs(value)
    last = key.rpartition(".")[2]
    if last.endswith(_ENDS_OF_BYTES) and last != "wa_bytes":
        return sign + shown_bytes(round(size))
    if last.endswith("_us") or "latency_us." in key:
        return sign + shown_duration(size / _US_PER_S)
    if last.endswith("_s") and not last.endswith("_per_s"):
        return sign + shown_duration(size)
    return four_digits(value)
