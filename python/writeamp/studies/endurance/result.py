"""Result of an endurance run: lives of drives as text, JSON and charts."""

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
from writeamp.results.numbers import (
    fitting_form,
    interval_in_words,
    json_number,
    plural,
    with_interval,
)
from writeamp.runs.daily_writes import WARRANTY_YEARS, check_positive
from writeamp.runs.partial_pages import differs
from writeamp.runs.words import shape_in_words
from writeamp.studies.endurance.lives import LifeStatistics
from writeamp.text import printable
from writeamp.units.ratios import space_in_words


@dataclass(frozen=True, repr=False, eq=False)
class Endurance(OneLine, LifeStatistics, Drawn):
    """Lives of drives with different seeds, as text, JSON and charts."""

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
            daily_bytes: add the `years` of life if the host writes this many bytes a day.
            capacity_bytes: logical capacity of the real drive in bytes, as for `years`.
            warranty_years: length of the warranty for `dwpd`.
        """
        plan = self.plan
        if capacity_bytes is not None:
            # Checked also without `daily_bytes`, because the capacity affects more than the years.
            check_positive("capacity_bytes", capacity_bytes)
            for_capacity = replace(self, plan=replace(plan, capacity_bytes=capacity_bytes))
            return for_capacity.to_dict(
                curve=curve, daily_bytes=daily_bytes, warranty_years=warranty_years
            )
        document: dict[str, Any] = {
            "pe_fairness": self.pe_fairness,
            "pe_fairness_ci95": _numbers(self.pe_fairness_ci95),
            "endurance_full_drive_writes": self.endurance_full_drive_writes,
            "endurance_ci95": _numbers(self.endurance_ci95),
            "endurance_logical_drive_writes": self.endurance_logical_drive_writes,
            "wa": json_number(self.wa),
            "wa_ci95": _numbers(self.ci),
            "wa_bytes": json_number(self.wa_bytes),
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
        rated = self.under_jesd219
        document["jesd219"] = rated and {
            "wa_bytes": rated.wa_bytes,
            "tbw": rated.tbw,
            "tbw_ci95": _numbers(rated.tbw_ci95),
            "dwpd": rated.dwpd(warranty_years),
            "replicas": rated.replicas,
        }
        if self.unfinished:
            document |= {"interrupted": True, "replicas_asked": plan.replicas}
        if daily_bytes is not None:
            years = self.years(daily_bytes)
            document |= {"daily_bytes": daily_bytes, "years": years}
        document |= {
            "erase_histogram": self.erase_histogram.to_dicts(),
            "w_max": plan.w_max,
            "replicas": self.replicas,
            **(self.store_stats.to_dict() if self.store_stats else {}),
            "seed": plan.seed,
            "spare_share": plan.run.spare_share,
            "spare_blocks": plan.spare_blocks,
            **plan.device.facts(),
            # Logical capacity of the requested drive, even if the simulated drive is smaller.
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
            document["curve"] = {name: _numbers(values) for name, values in columns.items()}
        return document

    def figure(self) -> PanelChart:
        """Return a chart of PE fairness and endurance by W, the erases that a block endures."""
        title = f"PE fairness and endurance: {self.plan.load_name}"
        interval = " · thin: 95% confidence" if self.replicas > 1 else ""
        return life_over_w([self.life_curve()], title=title, subtitle=self._subtitle() + interval)

    def life_curve(self, label: str | None = None) -> LifeCurve:
        """Return fairness and endurance by W, with the policy as the default label."""
        curve = self.curve
        fairness, endurance = "pe_fairness", "endurance_full_drive_writes"
        return LifeCurve(
            label or str(self.plan.policy),
            curve["w"].to_numpy(),
            *(curve[f"{fairness}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
            *(curve[f"{endurance}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
        )

    def erases_figure(self) -> LineChart:
        """Return a chart of the histogram of erases per block at the end of life."""
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
        """Number of replicas that reached their end of life, as text."""
        return f"{self.replicas} of {self.plan.replicas} replicas reached their end of life"

    def card(
        self, daily_bytes: float | None = None, warranty_years: float = WARRANTY_YEARS
    ) -> Card:
        """Return the main facts as a table, with a small plot of endurance by W.

        Args:
            daily_bytes: add the years of life if the host writes this many bytes a day.
            warranty_years: length of the warranty for `dwpd`.
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
        """Return the result in one line."""
        within = interval_in_words(*self.endurance_ci95, ".2f")
        return (
            f"endurance {self.endurance_full_drive_writes:.2f} writes of the physical capacity "
            f"{f'({within}) ' if within else ''}at PE fairness {self.pe_fairness:.4f}, "
            f"W_max {self.plan.w_max}, of {self.plan.load_name} under {self.plan.policy} at op "
            f"{self.plan.device.op:.4g}"
        )


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [json_number(value) for value in values]


def facts_of(
    lives: LifeStatistics,
    daily_bytes: float | None = None,
    warranty_years: float = WARRANTY_YEARS,
) -> list[tuple[str, str]]:
    """Return names and values of the results of an endurance run, as text."""
    plan, device = lives.plan, lives.plan.device
    unit = device.page_noun
    rows = [
        ("workload", plan.load_name),
        ("manager, victims", str(plan.policy)),
        ("drive", f"{shape_in_words(device)}; {plan.spare_blocks:,} blocks are spare"),
        ("space", space_in_words(device.op, device.fill, device.spare_factor)),
        (
            "run",
            f"{lives.replicas} replicas to {plan.w_max:,} erases (W_max), seed {plan.seed}, "
            f"{lives.elapsed_s:.1f} s"
            + ("" if plan.threads is None else f" on {plural(plan.threads, 'thread')}"),
        ),
        (
            "host wrote",
            f"{lives.host_bytes / 1e12:,.4g} TB (10^12), in {lives.host_pages:,.0f} {unit}s",
        ),
    ]
    rows += [
        (f"programmed: {cause.replace('_', ' ')}", f"{pages:,.0f} {unit}s")
        for cause, pages in lives.causes.items()
        if cause != "host" and pages
    ]
    full, logical = lives.endurance_full_drive_writes, lives.endurance_logical_drive_writes
    low, high = lives.endurance_ci95
    rows += [
        ("erased", f"{float(lives.end.erases.mean()):,.0f} blocks"),
        ("write amplification", with_interval(lives.wa, lives.ci)),
        *_per_byte(lives),
        ("PE fairness", with_interval(lives.pe_fairness, lives.pe_fairness_ci95)),
        ("endurance", _number(full, low, high, " writes of the physical capacity", ",.2f")),
        ("", f"{logical:,.2f} writes of the logical capacity"),
    ]
    low, high = lives.tbw_ci95
    rows.append(("TBW", _number(lives.tbw, low, high, " TB (10^12) written")))
    dwpd = lives.dwpd(warranty_years)
    low, high = lives.dwpd_ci95(warranty_years)
    rows.append(("DWPD", _number(dwpd, low, high, f" a day for {warranty_years:g} years")))
    rows += _rating(lives, warranty_years)
    if daily_bytes is not None:
        years = lives.years(daily_bytes)
        rows.append(("life", f"{years:,.4g} years of 365 days at {daily_bytes:,.0f} bytes a day"))
    return rows + _capacity(lives)


def _per_byte(lives: LifeStatistics) -> list[tuple[str, str]]:
    """Return a table row on WA per host byte, if it differs from WA per page."""
    factor, unit = lives.partial_page_factor, lives.plan.device.page_noun
    text = f"{lives.wa_bytes:.4f} = WA × {factor:.4f}, because requests cover some {unit}s in part"
    return [("WA per host byte", text)] if differs(factor) else []


def _rating(lives: LifeStatistics, warranty_years: float) -> list[tuple[str, str]]:
    """Return table rows on the life under JESD219, if this is another load."""
    rated = lives.rated
    if rated is None:
        return []
    low, high = rated.tbw_ci95
    return [
        ("under JESD219", f"TBW {_number(rated.tbw, low, high, ' TB')}"),
        (
            "",
            f"DWPD {rated.dwpd(warranty_years):.4g}, WA per host byte {rated.wa_bytes:.4g}; "
            "ratings of data-centre drives are under this load",
        ),
    ]


def _capacity(lives: LifeStatistics) -> list[tuple[str, str]]:
    """Return table rows on the requested drive, if it differs from the simulated one."""
    if lives.plan.capacity_bytes is None:
        return []
    requested = f"of a drive of {lives.capacity_bytes:,} bytes"
    if lives.scaling is None:
        return [("", f"{requested}, if it endures as many drive writes as the simulated drive")]
    return lives.scaling.rows(requested)


def _number(value: float, low: float, high: float, unit: str, form: str = ",.3f") -> str:
    """Return a number with as many digits as its confidence interval justifies."""
    within = interval_in_words(low, high, form)
    shown = format(value, fitting_form(low, high, form) if high > low else ",.4g")
    return f"{shown}{unit}" + (f" ({within})" if within else "")
