"""Decoder of the kernel's binary trace pages (`trace_pipe_raw`) into arrays of events.

The layout of a page is that of `events/header_page`, the layout of an entry that of
`events/header_event`; the fields of an event are those of its `format` file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError

_FIELD = re.compile(
    r"field:\s*(?P<type>.*?)\s*(?P<name>\w+)(?:\[(?P<items>\d*)\])?;\s*"
    r"offset:(?P<offset>\d+);\s*size:(?P<size>\d+);(?:\s*signed:(?P<signed>[01]);)?"
)
_ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)
# Entry header: 5 bits of type, 27 bits of time since the previous entry. Types 1 to 28 are data of
# so many words; the length of data of type 0 is in the next word.
_TYPE_BITS, _TYPE_MASK, _DELTA_BITS = 5, 31, 27
_PADDING, _TIME_EXTEND, _TIME_STAMP = 29, 30, 31
# The upper bits of a page's length are flags of lost events.
_LENGTH_MASK = (1 << 27) - 1
# Bits of an absolute time; higher bits are those of the previous time.
_STAMP_BITS = 59


@dataclass(frozen=True)
class PageLayout:
    """Byte offsets and sizes of the fields of a page's header."""

    time: int
    commit: int
    commit_size: int
    data: int

    @staticmethod
    def of_text(text: str) -> PageLayout:
        """Return the layout that `events/header_page` describes.

        Raises:
            WriteampError: a field is missing.
        """
        fields = {match["name"]: match for match in _FIELD.finditer(text)}
        try:
            return PageLayout(
                time=int(fields["timestamp"]["offset"]),
                commit=int(fields["commit"]["offset"]),
                commit_size=int(fields["commit"]["size"]),
                data=int(fields["data"]["offset"]),
            )
        except KeyError as missing:
            raise WriteampError(f"the kernel's trace pages have no field {missing}") from None


@dataclass(frozen=True)
class EventLayout:
    """Number of an event, and the NumPy type of its record with the fields that are read."""

    number: int
    dtype: np.dtype[np.void]

    @staticmethod
    def of_text(text: str, fields: Sequence[str]) -> EventLayout:
        """Return the layout that the `format` file of an event describes.

        Args:
            text: content of the file.
            fields: names of the fields to read.

        Raises:
            WriteampError: the event has no number, or not one of these fields.
        """
        number = _ID.search(text)
        places = {match["name"]: match for match in _FIELD.finditer(text)}
        missing = [name for name in fields if name not in places]
        if number is None or missing:
            raise WriteampError(
                f"an event of this kernel has no {', '.join(missing) or 'number'}; it cannot be "
                "recorded"
            )
        kinds = [_kind(places[name]) for name in fields]
        offsets = [int(places[name]["offset"]) for name in fields]
        size = max(int(place["offset"]) + int(place["size"]) for place in places.values())
        layout: Any = {"names": list(fields), "formats": kinds, "offsets": offsets}
        return EventLayout(int(number[1]), np.dtype(layout | {"itemsize": size}))


def _kind(place: re.Match[str]) -> str:
    size = int(place["size"])
    if place["items"] is not None:
        return f"S{size}" if "char" in place["type"] else f"V{size}"
    return f"{'i' if place['signed'] == '1' else 'u'}{size}"


@dataclass(frozen=True)
class Events:
    """Events of one kind.

    Attributes:
        time_ns: time of each by the trace clock, shape (events,).
        fields: a record of each, shape (events,).
    """

    time_ns: npt.NDArray[np.int64]
    fields: npt.NDArray[np.void]

    def take(self, places: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> Events:
        """Return the events at these places."""
        return Events(self.time_ns[places], self.fields[places])

    @staticmethod
    def none(dtype: np.dtype[np.void]) -> Events:
        """Return no events of a kind."""
        return Events(np.empty(0, np.int64), np.empty(0, dtype))

    @staticmethod
    def joined(parts: Sequence[Events]) -> Events:
        """Return the events of all parts, in the order of time."""
        time_ns = np.concatenate([each.time_ns for each in parts])
        fields = np.concatenate([each.fields for each in parts])
        order = np.argsort(time_ns, kind="stable")
        return Events(time_ns[order], fields[order])


def decode(
    pages: Sequence[bytes], layout: PageLayout, kinds: Mapping[str, EventLayout]
) -> dict[str, Events]:
    """Return the events in the pages of one processor, in their order.

    Args:
        pages: content of the pages.
        layout: layout of a page's header.
        kinds: layouts of the events by name; other events are left out.

    Returns:
        The events by the names of `kinds`.
    """
    places: list[int] = []
    times: list[int] = []
    base = 0
    for page in pages:
        _walk(page, base, layout, places, times)
        base += len(page)
    at = np.array(places, np.int64)
    time_ns = np.array(times, np.int64)
    # Zeros behind the last page, as the last record may be shorter than its kind's fields.
    longest = max(kind.dtype.itemsize for kind in kinds.values())
    content = np.frombuffer(b"".join((*pages, bytes(longest))), np.uint8)
    numbers = content[at].astype(np.uint16) | content[at + 1].astype(np.uint16) << 8
    decoded = {}
    for name, kind in kinds.items():
        chosen = numbers == kind.number
        windows = np.lib.stride_tricks.sliding_window_view(content, kind.dtype.itemsize)
        records = windows[at[chosen]].view(kind.dtype).reshape(-1)
        decoded[name] = Events(time_ns[chosen], _with_clean_texts(records))
    return decoded


def _with_clean_texts(records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Clear the bytes behind the NUL of each text, which are those of earlier events."""
    for name, (kind, *_) in (records.dtype.fields or {}).items():
        if kind.kind == "S":
            texts = np.ascontiguousarray(records[name])
            letters = texts.view(np.uint8).reshape(len(texts), kind.itemsize)
            letters[~np.logical_and.accumulate(letters != 0, axis=1)] = 0
            records[name] = texts
    return records


def _walk(page: bytes, base: int, layout: PageLayout, places: list[int], times: list[int]) -> None:
    """Append the byte offset and the time of each record of a page."""
    if len(page) < layout.data:
        return
    time_ns = int.from_bytes(page[layout.time : layout.time + 8], "little")
    commit = page[layout.commit : layout.commit + layout.commit_size]
    length = int.from_bytes(commit, "little") & _LENGTH_MASK
    words = np.frombuffer(page, "<u4", count=len(page) // 4).tolist()
    at = layout.data // 4
    end = min(at + length // 4, len(words))
    base_of_data = base + 4
    while at < end:
        header = words[at]
        kind = header & _TYPE_MASK
        delta = header >> _TYPE_BITS
        if 0 < kind < _PADDING:
            time_ns += delta
            places.append(base_of_data + at * 4)
            times.append(time_ns)
            at += 1 + kind
            continue
        if at + 1 >= end:
            return
        following = words[at + 1]
        if kind == 0:
            time_ns += delta
            places.append(base_of_data + at * 4 + 4)
            times.append(time_ns)
            at += 1 + max(1, (following + 3) // 4)
        elif kind == _TIME_EXTEND:
            time_ns += delta | following << _DELTA_BITS
            at += 2
        elif kind == _TIME_STAMP:
            stamp = delta | following << _DELTA_BITS
            time_ns = _full_time(stamp, time_ns)
            at += 2
        elif delta == 0:  # the rest of the page is empty
            return
        else:  # a discarded entry
            at += 1 + max(1, (following + 3) // 4)


def _full_time(stamp: int, previous_ns: int) -> int:
    """Return an absolute time with the high bits of the previous time."""
    full = stamp | previous_ns >> _STAMP_BITS << _STAMP_BITS
    return full if full >= previous_ns else full + (1 << _STAMP_BITS)
