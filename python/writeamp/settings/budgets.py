"""Budgets of writes: bytes, TB a year, years of rated endurance, and a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.errors import WriteampError
from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteSize, Terabytes
from writeamp.units.durations import DURATION

_FAILS = "exit with status 3 if "
_PANEL: dict[str, Any] = {"panel": "budgets"}


@dataclass(frozen=True)
class HostBudgetSettings(Settings):
    """Budgets of the bytes that the host writes."""

    title: ClassVar[str] = "budgets"
    names_options: ClassVar[bool] = True

    max_host_bytes: int | None = setting(
        None,
        ByteSize(),
        f"{_FAILS}the host writes more than this, such as 10MiB",
        number="bytes",
        **_PANEL,
    )
    max_tb_year: float | None = setting(
        None,
        Terabytes(),
        f"{_FAILS}the host writes more than this many TB (10^12 bytes) a year; see --repeat-every",
        metavar="TB",
        **_PANEL,
    )
    min_years: float | None = setting(
        None,
        Number("be above 0", lambda value: value > 0),
        f"{_FAILS}the rated endurance lasts fewer years than this; see --repeat-every and "
        "--rated-tbw",
        number="number",
        metavar="YEARS",
        **_PANEL,
    )
    repeat_every: float | None = setting(
        None,
        DURATION,
        "how often the command runs, such as 1h, for --max-tb-year and --min-years",
        metavar="TIME",
        takes="float | str",
        **_PANEL,
    )
    rated_tbw: float | None = setting(
        None,
        Terabytes(),
        "rated endurance of the real drive for --min-years: TB (10^12 bytes) that its host may "
        "write",
        metavar="TB",
        **_PANEL,
    )

    def __post_init__(self) -> None:
        """Check every field, and that rates have a period."""
        super().__post_init__()
        if self.needs_rate:
            return
        for option, value in (
            ("--repeat-every", self.repeat_every),
            ("--rated-tbw", None if self.min_years else self.rated_tbw),
        ):
            if value is not None:
                raise WriteampError(
                    f"{option} belongs to a budget per year; give --max-tb-year or --min-years, too"
                )

    @property
    def needs_rate(self) -> bool:
        """Whether a budget is one of a year."""
        return self.max_tb_year is not None or self.min_years is not None

    def require_period(self) -> None:
        """Check that a year's runs of a command can be counted.

        Raises:
            WriteampError: `repeat_every` is missing.
        """
        if self.needs_rate and self.repeat_every is None:
            option = "--max-tb-year" if self.max_tb_year is not None else "--min-years"
            raise WriteampError(
                f"{option} needs --repeat-every: how often the command runs, such as 1h"
            )

    def require_rating(self, of_model: float | None = None, model: str | None = None) -> None:
        """Check that the drive has a rated endurance.

        Args:
            of_model: rated TBW of the drive's model, if it has one.
            model: name of the model.

        Raises:
            WriteampError: `rated_tbw` is missing.
        """
        if self.min_years is not None and self.rated_tbw is None and of_model is None:
            unrated = f" (there is no rating for {model})" if model else ""
            raise WriteampError(
                f"--min-years needs --rated-tbw: TB that the host may write, such as 600{unrated}"
            )


@dataclass(frozen=True)
class BudgetSettings(HostBudgetSettings):
    """Budgets of the bytes that host and flash write, and a baseline of both."""

    max_flash_bytes: int | None = setting(
        None,
        ByteSize(),
        f"{_FAILS}the flash writes more than this, such as 1GiB. Without --precondition, a new "
        "drive is then in the state random, as with --max-wa",
        number="bytes",
        **_PANEL,
    )
    baseline: str | None = setting(
        None,
        None,
        "JSON result that the first run writes; later runs exit with status 3 if host or flash "
        "write more by --tolerance. A new drive is then in the state random, too",
        number="path",
        metavar="FILE",
        **_PANEL,
    )
    tolerance: float | None = setting(
        None,
        Number("be from 0 to 10", lambda value: 0 <= value <= 10, is_ratio=True),
        "allowed excess over --baseline as a share, such as 5% (default 5%)",
        number="ratio",
        **_PANEL,
    )

    def __post_init__(self) -> None:
        """Check every field, and that the tolerance has a baseline."""
        super().__post_init__()
        if self.tolerance is not None and self.baseline is None:
            raise WriteampError("--tolerance belongs to --baseline; give that, too")
        self.require_period()
        self.require_rating()

    @property
    def needs_aged_drive(self) -> bool:
        """Whether a budget is one of flash bytes, which a new drive hardly amplifies."""
        return self.max_flash_bytes is not None or self.baseline is not None
