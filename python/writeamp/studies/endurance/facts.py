"""Facts of lives of drives in words: the rows of their card."""

from __future__ import annotations

from writeamp.results.numbers import fitting_form, interval_in_words, with_interval
from writeamp.runs.daily_writes import WARRANTY_YEARS
from writeamp.runs.words import shape_in_words
from writeamp.studies.endurance.found import FoundLives
from writeamp.units.ratios import space_in_words


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
