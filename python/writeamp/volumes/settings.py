"""Settings of fleets, from which options are generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import POSITIVE_COUNT, Flag, Number, OneOf, Text, Whole
from writeamp.fields.setting import Places, Settings, places_in, setting
from writeamp.registry.specs import SpecLike, SpecOf
from writeamp.settings.experiment import setting_places
from writeamp.traces.settings import action_setting, format_setting
from writeamp.units.byte_sizes import ByteSize
from writeamp.units.durations import DurationIn

# Trace formats in which one file can hold many volumes. Synthetic fleets are written in these
# formats.
MADE_FORMATS = ("alibaba", "tencent")

_MOST_VOLUMES = 1_000_000
_SIGMA = Number("lie between 0 and 4", lambda value: 0 <= value <= 4)
_SKEW = Number("lie between 0 and 3", lambda value: 0 <= value <= 3)
_DRIFT = Number("lie between 0 and 1000", lambda value: 0 <= value <= 1000)
_BELOW_ONE = Number("be at least 0 and below 1", lambda value: 0 <= value < 1, is_ratio=True)
_REQUEST_PAGES = Number("lie between 1 and 64", lambda value: 1 <= value <= 64)


@dataclass(frozen=True)
class FleetSettings(Settings):
    """Synthetic fleet: number of volumes, and distributions of their parameters."""

    title: ClassVar[str] = "fleet"

    volumes: int = setting(
        100, Whole(1, _MOST_VOLUMES), "number of volumes", number="count", panel="fleet"
    )
    requests: int = setting(
        1_000_000, POSITIVE_COUNT, "total number of requests", number="count", panel="fleet"
    )
    seed: int = setting(
        1,
        Whole(0),
        "seed of all random numbers; equal seeds give equal fleets",
        number="count",
        panel="fleet",
    )
    trace_format: str = setting(
        "alibaba",
        OneOf(MADE_FORMATS),
        f"format of the trace: {' or '.join(MADE_FORMATS)}",
        flag="--format",
        choices=MADE_FORMATS,
        panel="fleet",
    )
    size: int = setting(
        64 << 20,
        ByteSize(most=8 << 40),
        "median size of a volume in bytes, or such as 64MiB; sizes are log-normal",
        number="bytes",
        panel="fleet",
    )
    size_sigma: float = setting(
        1.0,
        _SIGMA,
        "standard deviation of the natural logarithm of volume sizes",
        number="number",
        panel="fleet",
    )
    traffic_sigma: float = setting(
        0.7,
        _SIGMA,
        "standard deviation of the natural logarithm of a volume's requests per page",
        number="number",
        panel="fleet",
    )
    skew_low: float = setting(
        0.0,
        _SKEW,
        "smallest exponent s: a volume's r-th hottest page gets requests in proportion to about "
        "r^-s; 0 is uniform",
        number="number",
        panel="fleet",
    )
    skew_high: float = setting(
        1.2,
        _SKEW,
        "largest exponent s; each volume draws its exponent uniformly from the smallest to the "
        "largest",
        number="number",
        panel="fleet",
    )
    sequential: float = setting(
        0.2,
        _BELOW_ONE,
        "mean share of requests that begin where the volume's previous request ended",
        number="ratio",
        panel="fleet",
    )
    reads: float = setting(
        0.3, _BELOW_ONE, "mean share of reads in a volume's requests", number="ratio", panel="fleet"
    )
    drift: float = setting(
        0.1,
        _DRIFT,
        "mean distance that the hot pages move during the trace, as a multiple of the volume's "
        "size",
        number="number",
        panel="fleet",
    )
    request_pages: float = setting(
        2.0,
        _REQUEST_PAGES,
        "mean length of a request in pages of 4 KiB; lengths have a geometric distribution",
        number="number",
        panel="fleet",
    )
    duration: float = setting(
        86400.0,
        DurationIn(Number("be above 0", lambda value: value > 0)),
        "time span of the trace, such as 12h or 7d (default 1d)",
        metavar="TIME",
        panel="fleet",
    )

    def __post_init__(self) -> None:
        """Check every field, and the order of the exponents."""
        super().__post_init__()
        if self.skew_low > self.skew_high:
            raise WriteampError(
                f"skew_low is {self.skew_low:g}, above skew_high {self.skew_high:g}; give skew_low "
                "at most skew_high"
            )


@dataclass(frozen=True)
class SplitSettings(Settings):
    """Options for reading the trace files of a fleet."""

    title: ClassVar[str] = "split"

    trace_format: str | None = format_setting("the files")
    action: str | None = action_setting()
    by_file: bool | None = setting(
        None,
        Flag(),
        "treat each file as one volume, even if it names several devices; by default only files "
        "whose format has no device names are one volume",
        number="flag",
    )
    threads: int | None = setting(
        None,
        POSITIVE_COUNT,
        "number of threads that read and write; by default one per processor",
        number="count",
        is_speed=True,
        for_runner=True,
    )


@dataclass(frozen=True)
class Preset:
    """Preset: rule of a paper that selects volumes."""

    where: str
    source: str


PRESETS = {
    "sepbit": Preset(
        "written_set_bytes > 10 * 1073741824 AND drive_writes > 2",
        "SepBIT (FAST 2022): written pages above 10 GiB, each written more than twice on average",
    ),
    "updated": Preset(
        "drive_writes > 2",
        "the SepBIT rule without its minimum size, so that it also fits small traces",
    ),
}


@dataclass(frozen=True)
class SelectionSettings(Settings):
    """Volumes of a fleet to show or run."""

    title: ClassVar[str] = "selection"

    where: str | None = setting(
        None,
        Text(),
        "SQL condition that volumes must meet, such as 'drive_writes > 2'",
        metavar="CONDITION",
        panel="which volumes",
    )
    preset: str | None = setting(
        None,
        OneOf(tuple(PRESETS)),
        "only volumes that meet the rule of a paper: "
        + "; ".join(f"{name}: {rule.where}" for name, rule in PRESETS.items()),
        choices=tuple(PRESETS),
        panel="which volumes",
    )
    sample: int | None = setting(
        None,
        POSITIVE_COUNT,
        "number of volumes to select at random, spread evenly over page writes and drive writes; "
        "by default all",
        number="count",
        panel="which volumes",
    )
    sample_seed: int = setting(
        1,
        Whole(0),
        "seed of the random choice of the sample",
        number="count",
        panel="which volumes",
    )

    @property
    def words(self) -> str:
        """The selecting conditions, as text for a message."""
        preset = None if self.preset is None else PRESETS[self.preset].where
        return " and ".join(
            f"({condition})" for condition in (preset, self.where) if condition is not None
        )


# Settings of `simulate` that also apply to the runs of a fleet, with the same defaults.
RUN_OPTIONS = (
    "op",
    "fill",
    "spare_factor",
    "pages_per_block",
    "page_bytes",
    "layout",
    "precondition",
    "repeat",
    "seed",
    "writes",
    "warmup",
)

SPARE_OPTIONS = ("op", "fill", "spare_factor")


def run_places(names: Sequence[str] = RUN_OPTIONS) -> Places:
    """Return group and field of each setting of a fleet's runs, by keyword argument."""
    all_places = setting_places("simulate")
    return {name: all_places[name] for name in names}


@dataclass(frozen=True)
class DrivesSettings(Settings):
    """Settings of the drives that the volumes of a fleet run on."""

    title: ClassVar[str] = "drives"

    together: bool | None = setting(
        None,
        Flag(),
        "run all volumes on one shared drive, not each on a drive of its own; managers that use "
        "group hints get the volume of each write as its hint",
        number="flag",
    )


@dataclass(frozen=True)
class ComparedSettings(Settings):
    """Settings of the comparison of policies over the volumes."""

    title: ClassVar[str] = "compared"

    baseline: str | None = setting(
        None,
        Text(),
        "manager with which the other managers are compared; by default the first",
        metavar="SPEC",
    )
    resamples: int = setting(
        2000,
        Whole(100, 1_000_000),
        "number of resampled fleets for the confidence intervals, each with as many volumes as the "
        "compared fleet, drawn with replacement",
        number="count",
    )

    def check_baseline(self, labels: Sequence[str]) -> None:
        """Reject a baseline that is not among the policies.

        Raises:
            WriteampError: the baseline is not one of `labels`.
        """
        if self.baseline is not None and self.baseline not in labels:
            raise unknown("baseline", self.baseline, labels)


@dataclass(frozen=True)
class NeedSettings(Settings):
    """Target overall WA of a fleet, and the policy."""

    title: ClassVar[str] = "need"

    target_wa: float = setting(
        None,
        Number("be a finite number above 1", lambda value: value > 1),
        "requested overall WA of the fleet: flash pages programmed / host pages written, over all "
        "volumes",
        number="number",
        metavar="WA",
        required=True,
    )
    manager: SpecLike = setting("single", SpecOf("managers"), "block manager", kind="managers")
    victims: SpecLike | None = setting(
        None, SpecOf("victims"), "victim policy (default the manager's)", kind="victims"
    )


# Group and field of the keyword arguments of `need`, and of `run` and `together`.
NEED_PLACES = places_in((SelectionSettings,), "need") | run_places(
    [name for name in RUN_OPTIONS if name not in SPARE_OPTIONS]
)
RUN_PLACES = places_in((SelectionSettings, ComparedSettings), "run") | run_places()
