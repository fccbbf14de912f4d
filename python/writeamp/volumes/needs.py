"""Requirements of a fleet: op for an overall WA, writes per day, and the costliest volumes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.shown_settings import with_settings_of
from writeamp.files.output import AnyPath
from writeamp.plots.spec import Line, LineChart, Mark
from writeamp.plots.style import INK, MUTED, WA_LABEL, series_color
from writeamp.registry.specs import SpecLike
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.runners import Progress, Runner
from writeamp.settings.compared import PoliciesSettings
from writeamp.units.ratios import logical_of
from writeamp.volumes.facts import PAGE_BYTES
from writeamp.volumes.fleet import Fleet
from writeamp.volumes.result import FleetRun
from writeamp.volumes.settings import NEED_PLACES, NeedSettings
from writeamp.volumes.study import in_groups, run_fleet

if TYPE_CHECKING:
    from writeamp.volumes.arguments import NeedArguments

# Op of the first two runs of the fleet, and the smallest and largest op that the search tries.
_FIRST_OPS = (0.1, 0.3)
_LEAST_OP, _MOST_OP = 0.01, 4.0
# A search ends when (overall WA − 1) differs from (target − 1) by at most this share of
# (target − 1), or after this many runs of the fleet.
_CLOSE = 0.002
_MOST_TRIES = 9
# If (overall WA − 1) differs from (target − 1) by more than this share of (target − 1), a note is
# shown.
_FAR = 0.02
_COSTLIEST = 10
_SECONDS_PER_DAY = 86400.0


@dataclass(frozen=True, eq=False)
class FleetNeed(Drawn):
    """Over-provisioning that a fleet needs under one policy.

    Attributes:
        target_wa: requested overall WA.
        op: (T−U)/U of every volume's drive at which the overall WA equals the target; T are
            physical and U logical pages.
        op_ci95: the two op at which one end of the overall WA's 95% interval equals the target.
        at: the run of the fleet whose overall WA is closest to the target.
        tried: op and overall WA of each run of the fleet, in order of op.
        days: time from the first to the last request of all volumes, in days.
    """

    target_wa: float
    op: float
    op_ci95: tuple[float, float]
    at: FleetRun
    tried: tuple[tuple[float, float], ...]
    days: float

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `op`."""
        return self.op_ci95

    @property
    def warnings(self) -> list[str]:
        """Warnings about the runs."""
        return self.at.warnings

    @property
    def notes(self) -> list[str]:
        """Notes on volumes left out and on the distance from the target."""
        overall_wa = self.at.managers[0]["overall_wa"]
        if abs(overall_wa - self.target_wa) <= _FAR * (self.target_wa - 1):
            return self.at.notes
        return [
            *self.at.notes,
            f"the closest overall WA to {self.target_wa:g} is {overall_wa:.4g}, because "
            "drives have whole blocks; a smaller --pages-per-block comes closer",
        ]

    @property
    def drive_writes_per_day(self) -> float | None:
        """Host writes per day and page of the volumes' written sets; None if no time passed."""
        volumes = self.at.common
        if not self.days:
            return None
        pages = int(volumes["written_set_bytes"].sum()) // PAGE_BYTES
        return int(volumes["page_writes"].sum()) / pages / self.days

    @property
    def costliest(self) -> list[dict[str, Any]]:
        """The ten volumes with the most extra page programs: (WA − 1) × page writes."""
        [label] = self.at.labels
        steady = self.at.rows.select("volume", "steady")
        extra = (pl.col(label) - 1) * pl.col("page_writes")
        rows = (
            self.at.common.with_columns(extra_page_programs=extra)
            .with_columns(share=pl.col("extra_page_programs") / pl.col("extra_page_programs").sum())
            .sort("extra_page_programs", descending=True)
            .head(_COSTLIEST)
            .join(steady, on="volume", how="left", maintain_order="left")
        )
        names = ("volume", "page_writes", "written_set_bytes", "drive_writes",
                 "hottest_10pct_share", "sequential_share")  # fmt: skip
        return rows.select(*names, wa=label, extra_page_programs="extra_page_programs",
                           share="share", steady="steady").to_dicts()  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the result with the keys of `writeamp volumes need --json`."""
        [row] = self.at.managers
        per_day = self.drive_writes_per_day
        return {
            "target_wa": self.target_wa,
            "manager": row["manager"],
            "op": self.op,
            "op_ci95": list(self.op_ci95),
            "overall_wa": row["overall_wa"],
            "overall_wa_ci95": row["overall_wa_ci95"],
            "volumes": self.at.common.height,
            "volumes_in_all": self.at.volumes.height,
            "days": self.days,
            "drive_writes_per_day": per_day,
            "flash_writes_per_day": None
            if per_day is None
            else logical_of(per_day * row["overall_wa"], self.op),
            "costliest": self.costliest,
            "tried": [{"op": op, "overall_wa": wa} for op, wa in self.tried],
            "out": None if self.at.store_stats is None else str(self.at.store_stats.out),
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def _records(self) -> Iterable[Mapping[str, Any]]:
        nested = ("costliest", "tried", "warnings", "notes")
        return [{name: value for name, value in self.to_dict().items() if name not in nested}]

    def figure(self) -> LineChart:
        """Describe the overall WA of the runs over their op."""
        ops, wa_at = zip(*self.tried, strict=True)
        return LineChart(
            title="Overall write amplification of a fleet by over-provisioning",
            subtitle=f"{self.at.common.height} volumes of {self.at.folder} under "
            f"{self.at.labels[0]}",
            x_label="op = (T-U)/U of every volume's drive",
            y_label=f"overall {WA_LABEL}",
            lines=(Line(ops, wa_at, series_color(0), marker="circle"),),
            levels=(Mark(self.target_wa, INK, "dash", f"target {self.target_wa:g}"),),
            instants=(Mark(self.op, MUTED, "dot", f"op {self.op:.4g}"),),
        )

    def card(self) -> Card:
        """Return the main facts, and a table of the costliest volumes."""
        document = self.to_dict()
        low, high = self.op_ci95
        per_day, flash = document["drive_writes_per_day"], document["flash_writes_per_day"]
        rows = [
            (
                f"op for an overall WA of {self.target_wa:g}",
                f"{self.op:.4f} = (T-U)/U (95% CI {low:.4f} to {high:.4f})",
            ),
            ("policy", document["manager"]),
            ("volumes", f"{document['volumes']:,} of {document['volumes_in_all']:,}"),
            ("host writes per page and day", "–" if per_day is None else f"{per_day:.4g}"),
            ("programs per flash page and day", "–" if flash is None else f"{flash:.4g}"),
        ]
        heading = [
            "volume",
            ">WA",
            ">share of the extra writes",
            ">drive writes",
            ">writes to hottest 10%",
        ]
        costliest = [
            [
                volume["volume"],
                f"{volume['wa']:.3f}" + ("" if volume["steady"] else ", not steady"),
                f"{volume['share']:.1%}",
                f"{volume['drive_writes']:.4g}",
                f"{volume['hottest_10pct_share']:.1%}",
            ]
            for volume in document["costliest"]
        ]
        return Card(
            f"Fleet {self.at.folder}",
            rows,
            warnings=self.warnings,
            notes=self.notes,
            parts=[Card("Costliest volumes", costliest, heading)],
        )


@with_settings_of(NEED_PLACES)
def need(
    target_wa: float,
    fleet: Fleet,
    manager: SpecLike,
    *,
    victims: SpecLike | None = None,
    keep: AnyPath | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
    **settings: Unpack[NeedArguments],
) -> FleetNeed:
    """Find the op of every volume's drive for an overall WA, by runs of the fleet.

    ln(WA − 1) is almost linear in ln(op). Each run uses the op at which a line meets the target.
    The line goes through the result with the WA closest to the target, and the result at the op
    nearest to that.

    Args:
        target_wa: overall WA, above 1.
        fleet: the volumes: `split(…).fleet`, or `Fleet.open(folder)` of what `split` made.
        manager: the block manager.
        victims: victim policy; by default the manager's own.
        keep: folder that stores each finished run; stored runs are not repeated.
        runner: runner of the runs; by default threads of this process.
        progress: called with the number of runs done and the total, for one op at a time.
        settings: choice of volumes, and settings of their runs; listed below.

    Returns:
        `FleetNeed`: `op`, `tried`, `costliest` volumes, `drive_writes_per_day`, `target_wa`.

    Raises:
        WriteampError: no op from 1% to 400% gives that WA, or a setting is invalid.
        Interrupted: Ctrl-C.

    >>> import tempfile
    >>> import writeamp as wa
    >>> small = {"volumes": 2, "requests": 9000, "size": "4MiB", "size_sigma": 0}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trace = wa.volumes.make(f"{folder}/fleet.csv", **small).path
    ...     fleet = wa.volumes.split(trace, f"{folder}/fleet", trace_format="alibaba").fleet
    ...     result = wa.volumes.need(2.0, fleet, "single", pages_per_block=4, repeat=3)
    ...     abs(result.to_dict()["overall_wa"] - 2) < 0.1
    True
    """
    target_wa = NeedSettings(target_wa=target_wa).target_wa
    policies = PoliciesSettings(managers=manager, victims=victims)  # type: ignore[arg-type]
    arguments = in_groups(settings)
    run_at_op: dict[float, FleetRun] = {}

    def run_at(op: float) -> float:
        run_at_op[op] = run_fleet(
            fleet,
            policies,
            keep=keep,
            runner=runner,
            progress=progress,
            **arguments,
            op=op,
        )
        if run_at_op[op].common.is_empty():
            failed = run_at_op[op]
            reasons = [*failed.warnings, *failed.card().legend, *failed.notes, "none was run"]
            raise WriteampError(f"no volume has a WA at op {op:.4g}: {reasons[0]}")
        return float(run_at_op[op].managers[0]["overall_wa"])

    wa_at = _search(run_at, target_wa)
    best = min(wa_at, key=lambda op: abs(math.log(_excess(wa_at[op]) / (target_wa - 1))))
    slope = _slope(wa_at, best)
    low_wa, high_wa = run_at_op[best].managers[0]["overall_wa_ci95"]

    def op_for(wa: float) -> float:
        """Return the op that gives the target WA, if WA is `wa` at the op closest to the target."""
        return float(best * (_excess(wa) / (target_wa - 1)) ** (-1 / slope))

    volumes = run_at_op[best].volumes
    span_ns = int(volumes["last_ns"].max()) - int(volumes["first_ns"].min())  # type: ignore[arg-type]
    return FleetNeed(
        target_wa,
        op_for(wa_at[best]),
        (op_for(low_wa), op_for(high_wa)),
        run_at_op[best],
        tuple(sorted(wa_at.items())),
        span_ns / 1e9 / _SECONDS_PER_DAY,
    )


def _search(run_at: Callable[[float], float], target_wa: float) -> dict[float, float]:
    """Return the overall WA at each op that was tried."""
    wa_at = {op: run_at(op) for op in _FIRST_OPS}
    while len(wa_at) < _MOST_TRIES:
        if min(abs(wa - target_wa) for wa in wa_at.values()) <= _CLOSE * (target_wa - 1):
            break
        op = _next_op(wa_at, target_wa)
        if op in wa_at and _LEAST_OP < op < _MOST_OP:
            break  # drives have whole blocks, so no op between those tried exists
        if op in wa_at:
            raise WriteampError(
                f"no op from {_LEAST_OP} to {_MOST_OP} gives an overall WA of {target_wa:g}: at "
                f"{op:g} it is {wa_at[op]:.4g}"
            )
        wa_at[op] = run_at(op)
    return wa_at


def _next_op(wa_at: Mapping[float, float], target_wa: float) -> float:
    """Return the next op to try: where the line that `need` describes meets the target."""
    slope_from = sorted(wa_at, key=lambda op: abs(math.log(_excess(wa_at[op]) / (target_wa - 1))))
    first = slope_from[0]
    op = first * ((target_wa - 1) / _excess(wa_at[first])) ** (1 / _slope(wa_at, first))
    return float(np.clip(float(f"{op:.4g}"), _LEAST_OP, _MOST_OP))


def _slope(wa_at: Mapping[float, float], near: float) -> float:
    """Return d ln(WA − 1) / d ln(op) between an op and the nearest other op."""
    other = min((op for op in wa_at if op != near), key=lambda op: abs(math.log(op / near)))
    rise = math.log(_excess(wa_at[other]) / _excess(wa_at[near]))
    return min(rise / math.log(other / near), -0.1)  # below 0, because noise can reverse the sign


def _excess(wa: float) -> float:
    return max(wa - 1, 1e-6)
