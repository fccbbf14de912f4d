"""Result of `blame`: host and flash writes of each tag, and WA after each change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from writeamp.plots.figures.tags import TagBytes, bytes_by_tag
from writeamp.plots.spec import BarChart
from writeamp.plots.style import with_error
from writeamp.results.any_result import AnyResult, OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import four_digits, json_number
from writeamp.runs.drive_result import DriveResult
from writeamp.studies.blame.tagging import BEFORE, DRIVE, UNKNOWN
from writeamp.traces.pages import PageTrace
from writeamp.units.byte_sizes import shown_bytes

# Programs that move data which the flash already holds.
_MOVES = ("gc", "wear_leveling", "refresh", "folding")
_MARK = "*"


@dataclass(frozen=True)
class Effect(AnyResult):
    """WA of a changed run with its 95% interval; NaN if it has none.

    `reason` states why it has none, or why it is not steady.
    """

    wa: float = math.nan
    ci: tuple[float, float] = (math.nan, math.nan)
    is_steady: bool = True
    reason: str | None = None
    was_run: bool = True

    def __str__(self) -> str:
        """Return WA, marked if it is not steady; a dash without WA."""
        if math.isnan(self.wa):
            return "–"
        return four_digits(self.wa) + ("" if self.is_steady else _MARK)

    def to_dict(self, name: str = "wa") -> dict[str, Any]:
        """Return WA, its interval and the reason as JSON types; keys begin with `name`."""
        has_wa = not math.isnan(self.wa)
        return {
            name: json_number(self.wa),
            f"{name}_ci95": [json_number(end) for end in self.ci],
            f"{name}_steady": self.is_steady if has_wa else None,
            f"{name}_reason": self.reason,
        }


@dataclass(frozen=True)
class TagRow:
    """Writes of one tag in the measured interval.

    Attributes:
        tag: name of the process, file, folder, device or range.
        host_bytes: bytes that its requests wrote.
        host_share: share of the host's bytes.
        flash_bytes: bytes of the flash pages programmed for its data, moved ones included.
        moved_pages: pages of its data that the drive moved.
        without: the trace without its requests, on the same drive.
        own_stream: its pages in a stream of their own.
    """

    tag: str
    host_bytes: int
    host_share: float
    flash_bytes: int
    flash_share: float
    moved_pages: int
    without: Effect
    own_stream: Effect

    @staticmethod
    def of(
        counts: Mapping[str, Any], whole: DriveResult, without: Effect, own_stream: Effect
    ) -> TagRow:
        """Return the row of the counts of `DriveResult.by_tag`."""
        host_bytes, flash_pages = int(counts["host_bytes"]), int(counts["flash_pages"])
        all_bytes = whole.host["written_bytes"]
        moves = [f"{cause}_programs" for cause in whole.cause_names if cause in _MOVES]
        return TagRow(
            tag=counts["tag"] or (DRIVE if counts["is_drive"] else BEFORE),
            host_bytes=host_bytes,
            host_share=host_bytes / all_bytes if all_bytes else math.nan,
            flash_bytes=flash_pages * whole.page_bytes,
            flash_share=flash_pages / whole.flash_pages if whole.flash_pages else math.nan,
            moved_pages=sum(int(counts[name]) for name in moves),
            without=without,
            own_stream=own_stream,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        return {
            "tag": self.tag,
            "host_bytes": self.host_bytes,
            "host_share": json_number(self.host_share),
            "flash_bytes": self.flash_bytes,
            "flash_share": json_number(self.flash_share),
            "moved_pages": self.moved_pages,
            **self.without.to_dict("wa_without"),
            **self.own_stream.to_dict("wa_own_stream"),
        }


@dataclass(frozen=True, repr=False, eq=False)
class Blame(OneLine, Drawn):
    """Flash writes of a trace, divided among its tags.

    Attributes:
        by: division of the requests, as in `BlameSettings`.
        whole: the run of the whole trace.
        tags: rows of the tags, most written bytes first. Rows `before the run` and `drive` follow
            if they have counts, so that all rows sum to the counts of `whole`.
        runs: number of runs.
    """

    by: str
    whole: DriveResult
    tags: tuple[TagRow, ...]
    runs: int
    elapsed_s: float = field(compare=False)

    @property
    def wa(self) -> float:
        """Write amplification of the whole trace."""
        return self.whole.wa

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `wa`; NaN if the run is too short."""
        return self.whole.ci

    @property
    def unknown_share(self) -> float:
        """Share of the host's bytes whose process or file is unknown."""
        return sum((row.host_share for row in self.tags if row.tag == UNKNOWN), 0.0)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the run of the whole trace."""
        return self.whole.warnings

    @property
    def notes(self) -> list[str]:
        """Notes of the run of the whole trace, start of the counts, and reasons of missing WA."""
        reasons: dict[str, list[str]] = {}
        for row in self.tags:
            for name, effect in (("without", row.without), ("own stream", row.own_stream)):
                if math.isnan(effect.wa) and effect.was_run:
                    reasons.setdefault(f"no WA {name}: {effect.reason}", []).append(row.tag)
        missing = [f"{', '.join(tags)}: {reason}" for reason, tags in reasons.items()]
        return [*self.whole.notes, self._counted(), *missing]

    def _counted(self) -> str:
        """Return a sentence on the part of the trace that all counts cover."""
        load, writes, warmup = self.whole.load, self.whole.writes, self.whole.warmup_pages
        assert isinstance(load, PageTrace)
        passes, rest = divmod(warmup, load.host_pages)
        if not warmup:
            return "all counts begin at the start of the trace"
        if not rest:
            return f"all counts begin with pass {passes + 1} of {writes // load.host_pages}"
        return (
            f"all counts begin after {warmup / writes:.0%} of the host's writes; with --warmup 0, "
            "they begin at the start of the trace"
        )

    def _records(self) -> list[dict[str, Any]]:
        ends = [json_number(end) for end in self.ci]
        return [row.to_dict() | {"wa": json_number(self.wa), "wa_ci95": ends} for row in self.tags]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp blame --json`."""
        return {
            "by": self.by,
            "tags": [row.to_dict() for row in self.tags],
            "unknown_share": json_number(self.unknown_share),
            "runs": self.runs,
            **self.whole.to_dict(theory=False),
            "elapsed_s": self.elapsed_s,
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def figure(self) -> BarChart:
        """Return bars of the host and flash bytes of each tag."""
        plan, device = self.whole.plan, self.whole.device
        return bytes_by_tag(
            [TagBytes(row.tag, row.host_bytes, row.flash_bytes) for row in self.tags],
            title=f"Flash writes of {plan.load_name} by {self.by.partition(':')[0]}",
            subtitle=f"{plan.policy} · {device.name} · op {device.op:.4g} · WA {self.wa:.3f}",
        )

    def card(self) -> Card:
        """Return one row for each tag."""
        rows = [
            (
                row.tag,
                f"{row.host_share:.1%}",
                f"{row.flash_share:.1%}",
                shown_bytes(row.flash_bytes),
                str(row.without),
                str(row.own_stream),
            )
            for row in self.tags
        ]
        columns = (self.by.partition(":")[0], ">host", ">flash", ">flash bytes")
        plan = self.whole.plan
        return Card(
            f"{plan.load_name} under {plan.policy}: WA {with_error(self.wa, *self.ci)}",
            rows,
            (*columns, ">without", ">own stream"),
            legend=self._legend(),
            is_ruled=False,
            warnings=self.warnings,
            notes=self.notes,
        )

    def _legend(self) -> list[str]:
        effects = [effect for row in self.tags for effect in (row.without, row.own_stream)]
        is_marked = any(_MARK in str(effect) for effect in effects)
        return [
            "host, flash: share of the bytes that the host writes, and of the flash bytes",
            "without, own stream: WA without the requests of the row, and with a stream for them",
            *([f"{_MARK}: not steady, may change in a longer run"] if is_marked else []),
        ]

    def __str__(self) -> str:
        """Return the tag with the most flash writes in one line."""
        most = max(self.tags, key=lambda row: row.flash_bytes)
        return (
            f"WA {self.wa:.4f} of {self.whole.plan.load_name}; {most.tag} has "
            f"{most.host_share:.1%} of the host's writes and {most.flash_share:.1%} of the flash "
            "writes"
        )
