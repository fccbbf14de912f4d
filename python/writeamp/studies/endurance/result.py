"""Result of an endurance run: lives of drives for readers, programs and pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from writeamp._engine import __version__
from writeamp.plots.figures.endurance import LifeCurve, erases_of_blocks, life_over_w
from writeamp.plots.output import save
from writeamp.plots.spec import LineChart, PanelChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card, Spark
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import fitting_form, interval_in_words, json_number, with_interval
from writeamp.runs.daily_writes import WARRANTY_YEARS, check_positive
from writeamp.runs.words import shape_in_words
from writeamp.studies.endurance.found import FoundLives
from writeamp.text import printable
from writeamp.units.ratios import space_in_words


@dataclass(frozen=True, repr=False, eq=False)
class Endurance(OneLine, FoundLives, Drawn):
    """Lives of drives that differ by their seed, in numbers, words and pictures."""

    def to_dict(
        self,
        *,
        curve: bool = False,
        daily_bytes: float | None = None,
        capacity_bytes: float | None = None,
        warranty_years: float = WARRANTY_YEARS,
    ) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp endurance --json`.

        Args:
            curve: add the `curve`, a list for each column.
            daily_bytes: add the `years` that the drive lives if the host writes so much a day.
            capacity_bytes: of the drive that these are written to, as in `years`.
            warranty_years: over which `dwpd` are counted.
        """
        plan = self.plan
        if capacity_bytes is not None:
            # Checked here, since it decides more than the years.
            check_positive("capacity_bytes", capacity_bytes)
            meant = replace(self, plan=replace(plan, capacity_bytes=capacity_bytes))
            return meant.to_dict(
                curve=curve, daily_bytes=daily_bytes, warranty_years=warranty_years
            )
        found: dict[str, Any] = {
            "pe_fairness": self.pe_fairness,
            "pe_fairness_ci95": _numbers(self.pe_fairness_ci95),
            "endurance_full_drive_writes": self.endurance_full_drive_writes,
            "endurance_ci95": _numbers(self.endurance_ci95),
            "endurance_logical_drive_writes": self.endurance_logical_drive_writes,
            "wa": json_number(self.wa),
            "wa_ci95": _numbers(self.ci),
            "host_pages": self.host_pages,
            "host_bytes": self.host_bytes,
            "tbw": self.tbw,
            "tbw_ci95": _numbers(self.tbw_ci95),
            "dwpd": self.dwpd(warranty_years),
            "dwpd_ci95": _numbers(self.dwpd_ci95(warranty_years)),
            "warranty_years": warranty_years,
            "causes": self.causes,
            "erases": float(self.end.erases.mean()),
        }
        if self.unfinished:
            found |= {"interrupted": True, "replicas_asked": plan.replicas}
        if daily_bytes is not None:
            years = self.years(daily_bytes)
            found |= {"daily_bytes": daily_bytes, "years": years}
        found |= {
            "erase_histogram": self.erase_histogram.to_dicts(),
            "w_max": plan.w_max,
            "replicas": self.replicas,
            **(self.kept.to_dict() if self.kept else {}),
            "seed": plan.seed,
            "spare_share": plan.run.spare_share,
            "spare_blocks": plan.spare_blocks,
            **plan.device.facts(),
            # Of the drive that is meant, where this one stands for a larger one.
            "capacity_bytes": self.capacity_bytes,
            **(self.scaling.facts() if self.scaling else {}),
            "utilization": plan.host.utilization,
            "precondition": plan.host.precondition,
            "device": plan.device.name,
            "workload": plan.load_name,
            **plan.policy.facts(),
            "version": __version__,
            "elapsed_s": self.elapsed_s,
            "threads": plan.threads,
            "notes": self.notes,
        }
        if curve:
            columns = self.curve.to_dict(as_series=False)
            found["curve"] = {name: _numbers(values) for name, values in columns.items()}
        return found

    def figure(self) -> PanelChart:
        """Describe PE fairness and endurance against W."""
        title = f"PE fairness and endurance: {self.plan.load_name}"
        interval = " · thin: 95% confidence" if self.replicas > 1 else ""
        return life_over_w([self.life_curve()], title=title, subtitle=self._subtitle() + interval)

    def life_curve(self, label: str | None = None) -> LifeCurve:
        """Return the two functions of W, named by what the drives worked by unless by a label."""
        curve = self.curve
        fairness, endurance = "pe_fairness", "endurance_full_drive_writes"
        return LifeCurve(
            label or str(self.plan.policy),
            curve["w"].to_numpy(),
            *(curve[f"{fairness}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
            *(curve[f"{endurance}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
        )

    def erases_figure(self) -> LineChart:
        """Describe how often the blocks were erased by the end of life."""
        bins = self.erase_histogram
        return erases_of_blocks(
            bins["erases_from"].to_list(),
            bins["blocks"].to_list(),
            width=bins["erases_to"][0] + 1,
            label=str(self.plan.policy),
            title=f"Wear at the end of life: {self.plan.load_name}",
            subtitle=f"{self._subtitle()} · PE fairness {self.pe_fairness:.4f}",
        )

    @property
    def finished(self) -> str:
        """Number of replicas that came to their end of life, in words."""
        return f"{self.replicas} of {self.plan.replicas} replicas came to their end of life"

    def card(
        self, daily_bytes: float | None = None, warranty_years: float = WARRANTY_YEARS
    ) -> Card:
        """Return the main facts in words, with the endurance over W as a line.

        Args:
            daily_bytes: add the years that the drive lives if the host writes so much a day.
            warranty_years: over which `dwpd` are counted.
        """
        curve = self.curve
        spark = Spark(
            curve["w"], curve["endurance_full_drive_writes"], "endurance by erases of a block"
        )
        rows = facts_of(self, daily_bytes, warranty_years)
        if self.unfinished:
            rows.insert(0, ("INTERRUPTED", self.finished))
        return Card("Endurance", rows, notes=self.notes, spark=spark)

    def plot_erases(self, path: str | Path) -> None:
        """Draw the erase histogram to a .png, .svg, .pdf or .html file."""
        save(self.erases_figure(), path)

    def _subtitle(self) -> str:
        device, plan = self.plan.device, self.plan
        return (
            f"op = (T-U)/U = {device.op:.4g} · device {printable(device.name)}: "
            f"{device.geometry.blocks:,} blocks of {device.geometry.pages_per_block:,} pages · "
            f"W_max {plan.w_max:,} · {self.replicas} replicas from seed {plan.seed}"
        )

    def __str__(self) -> str:
        """Return the result in a line."""
        within = interval_in_words(*self.endurance_ci95, ".2f")
        return (
            f"endurance {self.endurance_full_drive_writes:.2f} full drive writes "
            f"{f'({within}) ' if within else ''}at PE fairness {self.pe_fairness:.4f}, "
            f"W_max {self.plan.w_max}, of {self.plan.load_name} under {self.plan.policy} at op "
            f"{self.plan.device.op:.4g}"
        )


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [json_number(value) for value in values]


def facts_of(
    found: FoundLives,
    daily_bytes: float | None = None,
    warranty_years: float = WARRANTY_YEARS,
) -> list[tuple[str, str]]:
    """Return the names and values of what an endurance run found."""
    plan, device = found.plan, found.plan.device
    rows = [
        ("workload", plan.load_name),
        ("manager, victims", str(plan.policy)),
        ("drive", f"{shape_in_words(device)}; {plan.spare_blocks:,} blocks are spare"),
        ("space", space_in_words(device.op, device.fill, device.spare_factor)),
        (
            "run",
            f"{found.replicas} replicas to {plan.w_max:,} erases (W_max), seed {plan.seed}, "
            f"{found.elapsed_s:.1f} s"
            + ("" if plan.threads is None else f" on {plan.threads} thread(s)"),
        ),
        (
            "host wrote",
            f"{found.host_pages:,.0f} pages = {found.host_bytes / 1e12:,.4g} TB (10^12)",
        ),
    ]
    rows += [
        (f"programmed: {cause}", f"{pages:,.0f} pages")
        for cause, pages in found.causes.items()
        if cause != "host"
    ]
    full, logical = found.endurance_full_drive_writes, found.endurance_logical_drive_writes
    low, high = found.endurance_ci95
    rows += [
        ("erased", f"{float(found.end.erases.mean()):,.0f} blocks"),
        ("write amplification", with_interval(found.wa, found.ci)),
        ("PE fairness", with_interval(found.pe_fairness, found.pe_fairness_ci95)),
        ("endurance", _number(full, low, high, " writes of the physical capacity", ",.2f")),
        ("", f"{logical:,.2f} writes of the logical capacity"),
    ]
    low, high = found.tbw_ci95
    rows.append(("TBW", _number(found.tbw, low, high, " TB (10^12) written")))
    dwpd = found.dwpd(warranty_years)
    low, high = found.dwpd_ci95(warranty_years)
    rows.append(("DWPD", _number(dwpd, low, high, f" a day for {warranty_years:g} years")))
    if daily_bytes is not None:
        years = found.years(daily_bytes)
        rows.append(("life", f"{years:,.4g} years of 365 days at {daily_bytes:,.0f} bytes a day"))
    return rows + _capacity(found)


def _capacity(found: FoundLives) -> list[tuple[str, str]]:
    """Return table rows on the drive that is meant, if it is another than the simulated."""
    if found.plan.capacity_bytes is None:
        return []
    meant = f"of a drive of {found.capacity_bytes:,} bytes"
    if found.scaling is None:
        return [("", f"{meant} that wears as this one")]
    return found.scaling.rows(meant)


def _number(value: float, low: float, high: float, unit: str, form: str = ",.3f") -> str:
    """Return a number in the digits of its interval, if it has one of some width."""
    within = interval_in_words(low, high, form)
    shown = format(value, fitting_form(low, high, form) if high > low else ",.4g")
    return f"{shown}{unit}" + (f" ({within})" if within else "")
