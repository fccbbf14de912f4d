"""`writeamp lifetime`: years until a drive's rated life is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.drives.cli.counters_table import print_result
from writeamp.drives.lifetime.result import UNKNOWN
from writeamp.drives.lifetime.settings import DriveLifetimeSettings
from writeamp.errors import WriteampError
from writeamp.results.numbers import bounds_in_words

if TYPE_CHECKING:
    from writeamp.drives.lifetime.result import DriveLifetime

# From here on four digits would be printed as a power of ten.
_FOUR_DIGITS_GB = 1e4


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("lifetime")(with_settings(lifetime))


def lifetime(
    snapshots: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Snapshots of a real drive, in any order; or give --db, or a load.",
            show_default=False,
            metavar="[SNAP]...",
        ),
    ] = None,
    *,
    asked: DriveLifetimeSettings,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Tell how many years a drive lives: a real one by its snapshots, or a profile under a load.

    A TBW rating already holds the WA of its test, and is never divided by WA here.

    Example: writeamp lifetime --trace trace.parquet --device tlc-datacenter --daily-writes 200GB
    """
    found = _of_load(asked) if asked.trace or asked.workload else _of_drive(snapshots or [], asked)
    for sentence in found.warnings:
        options.warn(sentence)
    print_result(found, lambda: _show(found), json=json, csv=csv)


def _of_load(asked: DriveLifetimeSettings) -> DriveLifetime:
    from writeamp.drives.lifetime.under_load import lifetime_under_load  # noqa: PLC0415 (slow)

    if asked.device is None or asked.daily_writes is None:
        raise WriteampError("a life under a load needs --device and --daily-writes")
    with Bar("wearing out", lambda done, whole: f"{done} of {whole} drives") as bar:
        return lifetime_under_load(
            asked.device,
            daily_bytes=asked.daily_writes,
            trace=None if asked.trace is None else str(asked.trace),
            workload=asked.workload,
            cycles=asked.cycles,
            seed=asked.seed,
            progress=bar.update,
        )


def _of_drive(paths: list[Path], asked: DriveLifetimeSettings) -> DriveLifetime:
    from writeamp.drives.counters.reading import read_snapshots  # noqa: PLC0415
    from writeamp.drives.counters.snapshot import by_drive, chosen_drive  # noqa: PLC0415
    from writeamp.drives.histories.result import history  # noqa: PLC0415
    from writeamp.drives.lifetime.of_history import lifetime_of_history  # noqa: PLC0415 (slow)

    if asked.db is None:
        if not paths:
            raise WriteampError(
                "give snapshots of a drive, its history (--db), or a load (--trace or --workload "
                "with --device and --daily-writes)"
            )
        with Bar("reading"):
            read = [one for path in paths for one in read_snapshots(path, asked.model)]
            return lifetime_of_history(chosen_drive(by_drive(read), asked.drive))
    with Bar("reading"):
        kept = {
            f"{one.life.facts.model or ''} {one.drive}".strip(): one.snapshots
            for one in history(asked.db).drives
        }
        return lifetime_of_history(chosen_drive(kept, asked.drive))


def _show(found: DriveLifetime) -> None:
    stdout.print(options.facts(_rows(found)))
    if found.what_if:
        rows = (
            (
                one.change,
                "" if one.wa is None else f"{one.wa:.4g}",
                "" if one.years is None else f"{one.years:.4g}",
                one.reason,
            )
            for one in found.what_if
        )
        stdout.print(options.bare_table(("what if", "WA", "years", ""), rows))


def _rows(found: DriveLifetime) -> list[tuple[str, str]]:
    rows = []
    years = "years" if found.is_of_load else "years left"
    if found.years is not None:
        within = f"{found.years_low:.4g} to {found.years_high:.4g}"
        interval = "" if found.is_of_load or not found.years_high else "90% interval: "
        rows.append((years, f"{found.years:.4g} ({interval}{within})"))
    if found.at_least_years is not None:
        rows.append((years, f"at least {found.at_least_years:.4g}"))
    if found.method == UNKNOWN:
        rows.append((years, UNKNOWN))
    rows.append(("by", found.method))
    rows += [("bounds depend most on", found.dominates)] if found.dominates else []
    if found.backtest is not None:
        past = found.backtest
        rows.append(
            (
                "backtest",
                f"{past.held} of {past.forecasts} earlier forecasts of when {past.percent:g}% was "
                "reached held",
            )
        )
    wa = "WA" if found.is_of_load else "WA since new"
    said = bounds_in_words(found.wa_low, found.wa_high) if found.wa is None else f"{found.wa:.4g}"
    rows += [(wa, said)] if said else []
    if found.wa_of_interval is not None:
        rows.append(("WA of the interval", f"{found.wa_of_interval:.4g}"))
    rows += [("TBW under this load", f"{found.tbw:,.4g} TB")] if found.tbw is not None else []
    rows += [("DWPD over five years", f"{found.dwpd:.4g}")] if found.dwpd is not None else []
    if found.percentage_used_a_year is not None:
        rows.append(("percentage used a year", f"{found.percentage_used_a_year:.3g}%"))
    if found.host_bytes_a_day is not None:
        of = "" if found.is_of_load else " of the interval"
        rows.append((f"host writes a day{of}", f"{_gigabytes(found.host_bytes_a_day)} GB"))
    return rows + [(f"assumed: {name}", what) for name, what in found.assumptions]


def _gigabytes(size_bytes: float) -> str:
    gigabytes = size_bytes / 1e9
    return f"{gigabytes:,.0f}" if gigabytes >= _FOUR_DIGITS_GB else f"{gigabytes:.4g}"
