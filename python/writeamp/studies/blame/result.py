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
from writeamp.runs.words import shape_in_words
from writeamp.traces.pages import PageTrace
from writeamp.traces.words import BEFORE, DRIVE, NO_WRITERS, UNKNOWN
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
        """Return WA, rounded and marked if it is not steady; a dash without WA."""
        if math.isnan(self.wa):
            return "–"
        return four_digits(self.wa) if self.is_steady else f"{self.wa:.2f}{_MARK}"

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
        flash_saved_share: share of all flash bytes that the drive does not write if the trace is
            without its requests; negative if the drive writes more, NaN without WA.
        without: the trace without its requests, on the same drive.
        own_stream: its pages in a stream of their own.
    """

    tag: str
    host_bytes: int
    host_share: float
    flash_bytes: int
    flash_share: float
    moved_pages: int
    flash_saved_share: float
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
            flash_saved_share=_saved_share(whole, without.wa, int(counts["host_pages"])),
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
            "flash_saved_share": json_number(self.flash_saved_share),
            **self.without.to_dict("wa_without"),
            **self.own_stream.to_dict("wa_own_stream"),
        }


def _saved_share(whole: DriveResult, wa_without: float, host_pages: int) -> float:
    """Return the share of the flash writes that a trace saves without `host_pages` of a tag."""
    if not whole.flash_pages:
        return math.nan
    return 1 - wa_without * (whole.host_pages - host_pages) / whole.flash_pages


@dataclass(frozen=True, repr=False, eq=False)
class Blame(OneLine, Drawn):
    """Flash writes of a trace, divided among its tags.

    Attributes:
        by: division of the requests, as in `BlameSettings`.
        whole: the run of the whole trace.
        tags: rows of the tags, most written bytes first. Rows `before the run` and `drive` follow
            if they have counts, so that all rows sum to the counts of `whole`.
        runs: number of runs.
        is_fitted: whether the size of the drive is that of the trace, because none was given.
    """

    by: str
    whole: DriveResult
    tags: tuple[TagRow, ...]
    runs: int
    is_fitted: bool
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
    def measured_passes(self) -> float:
        """Number of passes over the trace that all counts cover; below 1 for a part of one."""
        return self.whole.host_pages / self._pages.host_pages

    @property
    def most(self) -> TagRow:
        """The process, file, folder, device or range with the most flash writes.

        If there are only other rows, such as `before the run`, the largest of those.
        """
        writers = [row for row in self.tags if row.tag not in NO_WRITERS]
        return max(writers or self.tags, key=lambda row: row.flash_bytes)

    @property
    def _pages(self) -> PageTrace:
        load = self.whole.load
        assert isinstance(load, PageTrace)
        return load

    @property
    def warnings(self) -> list[str]:
        """Warnings of the run of the whole trace."""
        return self.whole.warnings

    @property
    def notes(self) -> list[str]:
        """Notes of the run of the whole trace, start of the counts, and reasons of missing WA."""
        reasons: dict[str, list[str]] = {}
        for row in self.tags:
            effects = (("without it", row.without), ("with a stream of its own", row.own_stream))
            for how, effect in effects:
                if math.isnan(effect.wa) and effect.was_run:
                    reasons.setdefault(f"no WA {how}, because {effect.reason}", []).append(row.tag)
        missing = [f"{', '.join(tags)}: {reason}" for reason, tags in reasons.items()]
        return [*self.whole.notes, self._counted(), *missing]

    def _counted(self) -> str:
        """Return a sentence on the part of the trace that all counts cover."""
        writes, warmup = self.whole.writes, self.whole.warmup_pages
        passes, rest = divmod(warmup, self._pages.host_pages)
        if not warmup:
            return "all counts begin at the start of the trace"
        if not rest:
            return f"all counts begin with pass {passes + 1} of {writes // self._pages.host_pages}"
        return (
            f"all counts begin after {warmup / writes:.0%} of the host's writes; with --warmup 0, "
            "they begin at the start of the trace"
        )

    def _records(self) -> list[dict[str, Any]]:
        ends = [json_number(end) for end in self.ci]
        of_run = {"measured_passes": self.measured_passes, "wa": json_number(self.wa)}
        return [row.to_dict() | of_run | {"wa_ci95": ends} for row in self.tags]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp blame --json`."""
        return {
            "by": self.by,
            "tags": [row.to_dict() for row in self.tags],
            "unknown_share": json_number(self.unknown_share),
            "measured_passes": self.measured_passes,
            "fitted_to_trace": self.is_fitted,
            "runs": self.runs,
            **self.whole.to_dict(theory=False),
            "elapsed_s": self.elapsed_s,
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def figure(self) -> BarChart:
        """Return bars of the host and flash bytes of each tag, in a pass if there are several."""
        plan, device = self.whole.plan, self.whole.device
        bars = [(row.tag, row.host_bytes, row.flash_bytes) for row in self.tags]
        return bytes_by_tag(
            [TagBytes(tag, self._of_pass(host), self._of_pass(flash)) for tag, host, flash in bars],
            title=f"Flash writes of {plan.load_name} by {self.by.partition(':')[0]}",
            subtitle=f"{plan.policy} · {device.name} · op {device.op:.4g} · WA {self.wa:.3f}",
            period="one pass" if self._has_passes else "",
        )

    @property
    def _has_passes(self) -> bool:
        return self.measured_passes > 1

    def _of_pass(self, count: int) -> int:
        """Return the mean of a count over the measured passes, if there are several."""
        return round(count / self.measured_passes) if self._has_passes else count

    def card(self) -> Card:
        """Return one row for each tag."""
        rows = [
            (
                row.tag,
                f"{row.host_share:.1%}",
                f"{row.flash_share:.1%}",
                shown_bytes(self._of_pass(row.flash_bytes)),
                _percent(row),
                str(row.without),
                str(row.own_stream),
            )
            for row in self.tags
        ]
        flash_bytes = ">flash/pass" if self._has_passes else ">flash bytes"
        columns = (self.by.partition(":")[0], ">host", ">flash", flash_bytes, ">saved")
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
        device, policy = self.whole.device, self.whole.plan.policy
        fitted = ", fitted to the trace" if self.is_fitted else ""
        passes = f"{self.measured_passes:.4g} passes over the trace"
        return [
            f"drive: {shape_in_words(device)}, {shown_bytes(device.capacity_bytes)} for the host, "
            f"op {device.op:.4g}{fitted}; {policy}",
            "host, flash: share of the bytes that the host writes, and of the flash bytes",
            *([f"flash/pass: flash bytes of a pass, mean of {passes}"] if self._has_passes else []),
            "saved: share of all flash bytes that the drive does not write without the row",
            "without, own stream: WA without the requests of the row, and with a stream for them",
            *([f"{_MARK}: not steady, may change in a longer run"] if is_marked else []),
        ]

    def __str__(self) -> str:
        """Return the tag with the most flash writes in one line."""
        most = self.most
        return (
            f"WA {self.wa:.4f} of {self.whole.plan.load_name}; {most.tag} has "
            f"{most.host_share:.1%} of the host's writes and {most.flash_share:.1%} of the flash "
            "writes"
        )


def _percent(row: TagRow) -> str:
    """Return the saved share of a row, marked if it is not steady; a dash without WA."""
    if math.isnan(row.flash_saved_share):
        return "–"
    return f"{row.flash_saved_share:.0%}{'' if row.without.is_steady else _MARK}"
