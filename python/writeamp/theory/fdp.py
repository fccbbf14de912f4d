"""WA of a flash cache whose two parts have a placement handle each, beside printed figures.

Source: Allison et al., "Towards Efficient Flash Caches with Emerging NVMe Flexible Data Placement
SSDs" (EuroSys '25), Theorem 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from writeamp.errors import WriteampError
from writeamp.fields.domains import as_ratio, shown
from writeamp.models._effective_op import effective_op
from writeamp.models._expected_value import expected_value, op_of_amplification
from writeamp.registry.specs import Spec
from writeamp.results.card import Card, Presented
from writeamp.results.equality import ComparedByValue
from writeamp.text import Detail
from writeamp.units.ratios import RATIOS, RatioLike, all_ratios, op_of, space_in_words

_SOURCE = "Allison et al., EuroSys '25"

# WA of the log: its reclaim units become invalid as a whole, so collection moves no page of it.
_WA_OF_LOG = 1.0


@dataclass(frozen=True)
class PrintedFigure:
    """Device WA that a paper prints for a cache, rounded to `decimals` decimals.

    `soc` is the share of the logical space that the small-object cache has, and `utilization` the
    share of the drive that the whole cache has.
    """

    soc: float
    utilization: float
    has_fdp: bool
    wa: float
    decimals: int

    @property
    def rounded_from(self) -> tuple[float, float]:
        """Lowest and highest WA that is rounded to the printed one."""
        half = 0.5 * 10.0**-self.decimals
        return self.wa - half, self.wa + half


# The drive has 8 initially isolated handles and reclaim units of about 6 GB. Its op is not printed.
PRINTED = (
    PrintedFigure(0.04, 0.5, has_fdp=True, wa=1.03, decimals=2),
    PrintedFigure(0.04, 1.0, has_fdp=True, wa=1.03, decimals=2),
    PrintedFigure(0.64, 1.0, has_fdp=True, wa=2.5, decimals=1),
    PrintedFigure(0.04, 0.5, has_fdp=False, wa=1.3, decimals=1),
    PrintedFigure(0.04, 1.0, has_fdp=False, wa=3.5, decimals=1),
)


@dataclass(frozen=True, eq=False)
class CachePrediction(Presented, ComparedByValue):
    """Predicted WA of a flash cache with a placement handle for each of its parts.

    `wa` is that of all writes, `wa_of_soc` that of the small-object handle. `printed` has the
    figures of the paper as dictionaries, each with the prediction for its cache.

    Attributes:
        soc: share of the cache's logical space that the small-object cache has.
        soc_writes: share of the written pages that go to the small-object cache.
        op: over-provisioning ratio of the drive.
        utilization: share of the drive's logical space that the cache has.
    """

    soc: float
    soc_writes: float
    op: float
    utilization: float = 1.0

    @property
    def op_of_soc(self) -> float:
        """Op of the small-object handle: all spare space of the drive serves it."""
        written_fraction = self.utilization * self.soc
        return float(effective_op(self.op, self.utilization, written_fraction))

    @property
    def wa_of_soc(self) -> float:
        """WA of the small-object handle (Theorem 1).

        The theorem is the Expected Value model with S_p, the small-object cache and all spare
        space, as physical size, and S_soc, the small-object cache, as logical size.
        """
        return float(expected_value(self.op_of_soc))

    @property
    def wa(self) -> float:
        """WA of all writes of the cache."""
        return _WA_OF_LOG + self.soc_writes * (self.wa_of_soc - _WA_OF_LOG)

    def op_for(self, wa_of_soc: float) -> float | None:
        """Return the op of the drive at which the small-object handle has a WA.

        Returns:
            The op; None if even a drive without spare space has a lower WA, because of its unused
            logical space.
        """
        op_of_soc = float(op_of_amplification(np.asarray(wa_of_soc)))
        op = op_of_soc * self.utilization * self.soc - (1 - self.utilization)
        return op if op > 0 else None

    @property
    def warnings(self) -> list[str]:
        """Sentences on what may be wrong: none."""
        return []

    @property
    def notes(self) -> list[str]:
        """Assumptions of the prediction, which docs/models.md states as well."""
        return [
            Detail(
                "The formula assumes that all spare space serves the small-object handle, and that "
                "its victims are collected in order of age."
            ),
            Detail(
                f"The share of the writes, {self.soc_writes:.4g}, is an assumption: the paper does "
                "not print it."
            ),
        ]

    @property
    def printed(self) -> list[dict[str, Any]]:
        """Printed figures with the prediction at this op, and the op that would agree.

        `op_if_wa_of_cache` compares the printed WA, that of the whole device, with the WA of all
        writes, and `op_if_wa_of_soc` with the formula alone. Both are [low, high], because the
        figure is rounded, or None if no op above 0 agrees.
        """
        return [self._beside(figure) for figure in PRINTED]

    def _beside(self, figure: PrintedFigure) -> dict[str, Any]:
        cache = CachePrediction(figure.soc, self.soc_writes, self.op, figure.utilization)
        row: dict[str, Any] = {
            "source": _SOURCE,
            "soc": figure.soc,
            "utilization": figure.utilization,
            "fdp": figure.has_fdp,
            "printed_wa": figure.wa,
        }
        names = ("wa_of_soc", "wa", "op_if_wa_of_cache", "op_if_wa_of_soc")
        if not figure.has_fdp:
            return row | dict.fromkeys(names)
        return row | {
            "wa_of_soc": cache.wa_of_soc,
            "wa": cache.wa,
            "op_if_wa_of_cache": _agreeing(cache, figure, cache.soc_writes),
            "op_if_wa_of_soc": _agreeing(cache, figure, 1.0),
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            all_ratios(self.op)
            | {
                "utilization": self.utilization,
                "soc": self.soc,
                "soc_writes": self.soc_writes,
                "op_of_soc": self.op_of_soc,
                "wa_of_soc": self.wa_of_soc,
                "wa_of_log": _WA_OF_LOG,
                "wa": self.wa,
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction and the printed figures as JSON types."""
        [record] = self._records()
        return record | {"printed": self.printed, "warnings": self.warnings, "notes": self.notes}

    def card(self) -> Card:
        """Return the prediction, and a table of the printed figures."""
        title = (
            f"With FDP, the cache has a WA of {self.wa:.4f}: its small-object cache has "
            f"{self.wa_of_soc:.4f}, its log {_WA_OF_LOG:g}\n"
            f"{space_in_words(**all_ratios(self.op))}"
        )
        rows = [
            ("small-object cache, share of the space (soc)", f"{self.soc:.4g}"),
            ("its share of the writes (soc_writes)", f"{self.soc_writes:.4g}"),
            ("utilization", f"{self.utilization:.4g}"),
            ("op of its placement handle", f"{self.op_of_soc:.4g}"),
        ]
        return Card(title, (), notes=self.notes, parts=[Card("", rows), self._printed_card()])

    def _printed_card(self) -> Card:
        rows = [
            (
                f"{row['soc']:.0%}",
                f"{row['utilization']:.0%}",
                "yes" if row["fdp"] else "no",
                f"{row['printed_wa']:g}",
                *(_number(row[name]) for name in ("wa", "wa_of_soc")),
                *(_range(row[name]) for name in ("op_if_wa_of_cache", "op_if_wa_of_soc")),
            )
            for row in self.printed
        ]
        columns = (
            *(">soc", ">used", "FDP", ">printed WA", ">cache", ">handle"),
            *(">op, by cache", ">op, by handle"),
        )
        title = (
            f"WA printed by {_SOURCE}; WA predicted for the cache and its small-object handle; op "
            "at which each agrees"
        )
        return Card(title, rows, columns)


def predict_fdp(
    fdp: str,
    *,
    op: RatioLike | None = None,
    fill: RatioLike | None = None,
    spare_factor: RatioLike | None = None,
    utilization: RatioLike | None = None,
) -> CachePrediction:
    """Predict the WA of a flash cache with a placement handle for each of its two parts.

    Args:
        fdp: parameters of the workload `cachelib`, such as "soc=4%,soc_writes=33%".
        op: over-provisioning ratio of the drive; or `fill`, or `spare_factor`.
        fill: alternative to `op`.
        spare_factor: alternative to `op`.
        utilization: share of the drive's logical space that the cache has (default: all of it).

    Returns:
        `CachePrediction`: `wa` of all writes, `wa_of_soc` of the small-object handle, and
        `printed`, the figures of the paper with the op that would agree with each.

    Raises:
        WriteampError: no ratio of spare space, two ratios, or an invalid value.

    >>> import writeamp as wa
    >>> prediction = wa.predict_fdp("soc=4%", op=0.07)
    >>> round(prediction.wa_of_soc, 4), round(prediction.wa, 4)
    (1.0864, 1.0285)
    """
    soc, soc_writes = _shares_of(fdp)
    drive_op = op_of(op=op, fill=fill, spare_factor=spare_factor)
    if drive_op is None:
        raise WriteampError(f"over-provisioning is missing; give one of {', '.join(RATIOS)}")
    used = as_ratio("utilization", 1.0 if utilization is None else utilization)
    if not isinstance(used, float | int) or not 0 < used <= 1:
        raise WriteampError(f"utilization is {shown(used)}; it must be above 0 and at most 1")
    return CachePrediction(soc, soc_writes, float(drive_op), float(used))


def _shares_of(text: str) -> tuple[float, float]:
    """Return the two shares of a cache from the parameters of the workload `cachelib`."""
    if not isinstance(text, str) or not text.strip():
        raise WriteampError(f"fdp is {shown(text)}; it must be text such as 'soc=4%'")
    params: Mapping[str, str] = Spec.of("workloads", f"cachelib:{text}").params
    if "trim" in params:
        raise WriteampError("fdp has trim=, which the formula does not include; leave it out")
    return float(params["soc"]), float(params["soc_writes"])


def _agreeing(
    cache: CachePrediction, figure: PrintedFigure, share_of_writes: float
) -> tuple[float, float] | None:
    """Return the lowest and highest op at which the printed WA agrees, or None.

    `share_of_writes` is that of the small-object handle among the writes that the WA counts.
    """
    if share_of_writes == 0:
        return None
    low_wa, high_wa = (1 + (wa - 1) / share_of_writes for wa in figure.rounded_from)
    low, high = cache.op_for(high_wa), cache.op_for(low_wa)
    return None if high is None else (low or 0.0, high)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _range(values: tuple[float, float] | None) -> str:
    return "-" if values is None else f"{values[0]:.3f} to {values[1]:.3f}"
