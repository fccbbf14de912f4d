"""Figures of written bytes by tag, process or file: of host and flash, or as recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from writeamp.plots.spec import BarChart, Layer
from writeamp.plots.style import HOST_COLOR, SERIES_COLORS

_MB = 1e6


class TagBytes(NamedTuple):
    """A tag, the bytes that its requests wrote, and the flash bytes programmed for them."""

    name: str
    host_bytes: int
    flash_bytes: int


def bytes_by_tag(tags: Sequence[TagBytes], *, title: str, subtitle: str, period: str) -> BarChart:
    """Describe the flash bytes of each tag as a bar: host bytes, and bytes added by the drive.

    Args:
        tags: the bars, from the top.
        title: of the figure.
        subtitle: the run.
        period: time that the bytes are written in; "" for the whole run.
    """
    # A write cache may merge writes, so that a tag has fewer flash bytes than host bytes.
    host = [min(tag.host_bytes, tag.flash_bytes) for tag in tags]
    added = [tag.flash_bytes - base for tag, base in zip(tags, host, strict=True)]
    return BarChart(
        title=title,
        subtitle=subtitle,
        x_label=f"bytes programmed to flash{period and f' in {period}'} (MB)",
        bars=tuple(tag.name for tag in tags),
        layers=(
            Layer("host writes", HOST_COLOR, tuple(value / _MB for value in host)),
            Layer("added by the drive", SERIES_COLORS[0], tuple(value / _MB for value in added)),
        ),
        texts=tuple(f"{tag.flash_bytes / _MB:.4g} MB" for tag in tags),
    )


def written_bytes(
    kinds: Mapping[str, Sequence[tuple[str, int]]], *, title: str, subtitle: str
) -> BarChart:
    """Describe the written bytes of each process or file as a bar.

    Args:
        kinds: for each kind of tags, their names and bytes, from the top.
        title: of the figure.
        subtitle: the recording.
    """
    rows = [(kind, name, count) for kind, tags in kinds.items() for name, count in tags]
    return BarChart(
        title=title,
        subtitle=subtitle,
        x_label="written bytes (MB)",
        bars=tuple(name for _, name, _ in rows),
        layers=(Layer("host writes", HOST_COLOR, tuple(count / _MB for _, _, count in rows)),),
        texts=tuple(f"{count / _MB:.4g} MB" for _, _, count in rows),
        sections=tuple(kind for kind, _, _ in rows),
    )


def wear_by_writer(
    kinds: Mapping[str, Sequence[tuple[str, float]]],
    flash: tuple[float, float, float] | None,
    *,
    title: str,
    subtitle: str,
) -> BarChart:
    """Describe the TB a year of each writer as a bar, and the flash writes on the first bar.

    Args:
        kinds: for each kind of writers, their names and TB a year, from the top.
        flash: TB a year that are written to the flash for the first bar, with their least and
            greatest value; None if unknown.
        title: of the figure.
        subtitle: the recording.
    """
    rows = [(kind, name, tb) for kind, writers in kinds.items() for name, tb in writers]
    others = len(rows) - 1
    layers = [Layer("host writes", HOST_COLOR, tuple(tb for _, _, tb in rows))]
    texts = [f"{tb:.4g} TB" for _, _, tb in rows]
    low = high = math.nan
    if flash is not None:
        middle, low, high = flash
        added = (max(middle - rows[0][2], 0.0), *(0.0,) * others)
        layers.append(Layer("added by the drive, estimated", SERIES_COLORS[0], added))
        texts[0] += f", flash {middle:.4g} TB ({low:.4g} to {high:.4g})"
    return BarChart(
        title=title,
        subtitle=subtitle,
        x_label="TB a year at this rate; flash: the range of the possible states of the drive",
        bars=tuple(name for _, name, _ in rows),
        layers=tuple(layers),
        texts=tuple(texts),
        low=(low, *(math.nan,) * others),
        high=(high, *(math.nan,) * others),
        sections=tuple(kind for kind, _, _ in rows),
    )
