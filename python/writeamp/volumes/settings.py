"""Settings of fleets, which options are made from."""

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

# Formats of one file with many volumes, which a fleet is made in.
MADE_FORMATS = ("alibaba", "tencent")

_MOST_VOLUMES = 1_000_000
_SIGMA = Number("lie between 0 and 4", lambda value: 0 <= value <= 4)
_SKEW = Number("lie between 0 and 3", lambda value: 0 <= value <= 3)
_DRIFT = Number("lie between 0 and 1000", lambda value: 0 <= value <= 1000)
_BELOW_ONE = Number("be at least 0 and below 1", lambda value: 0 <= value < 1, is_ratio=True)
_REQUEST_PAGES = Number("lie between 1 and 64", lambda value: 1 <= value <= 64)


@dataclass(frozen=True)
class FleetSettings(Settings):
    """Fleet that is made: how many volumes, and the distributions of what they are like."""

    title: ClassVar[str] = "fleet"

    volumes: int = setting(
        100, Whole(1, _MOST_VOLUMES), "volumes of the fleet", number="count", panel="fleet"
    )
    requests: int = setting(
        1_000_000, POSITIVE_COUNT, "requests of all of them", number="count", panel="fleet"
    )
    seed: int = setting(1, Whole(0), "decides every random draw", number="count", panel="fleet")
    trace_format: str = setting(
        "alibaba",
        OneOf(MADE_FORMATS),
        f"format of the file: {' or '.join(MADE_FORMATS)}",
        flag="--format",
        choices=MADE_FORMATS,
        panel="fleet",
    )
    size: int = setting(
        64 << 20,
        ByteSize(most=8 << 40),
        "median size of the volumes, which are log-normal",
        number="bytes",
        panel="fleet",
    )
    size_sigma: float = setting(
        1.0,
        _SIGMA,
        "standard deviation of the logarithm of the sizes",
        number="number",
        panel="fleet",
    )
    traffic_sigma: float = setting(
        0.7,
        _SIGMA,
        "the same of the requests a volume gets for each page that it has",
        number="number",
        panel="fleet",
    )
    skew_low: float = setting(
        0.0,
        _SKEW,
        "least exponent s of the power law by which pages are chosen; 0 is uniform",
        number="number",
        panel="fleet",
    )
    skew_high: float = setting(
        1.2,
        _SKEW,
        "greatest of these exponents; they are uniform between both",
        number="number",
        panel="fleet",
    )
    sequential: float = setting(
        0.2,
        _BELOW_ONE,
        "mean share of the requests that begin where the volume's last one ended",
        number="ratio",
        panel="fleet",
    )
    reads: float = setting(
        0.3, _BELOW_ONE, "mean share of the reads", number="ratio", panel="fleet"
    )
    drift: float = setting(
        0.1,
        _DRIFT,
        "mean of how far the hot pages move until the end, in sizes of the volume",
        number="number",
        panel="fleet",
    )
    request_pages: float = setting(
        2.0,
        _REQUEST_PAGES,
        "mean pages of 4 KiB of a request, whose number is geometric",
        number="number",
        panel="fleet",
    )
    duration: float = setting(
        86400.0,
        DurationIn(Number("be above 0", lambda value: value > 0)),
        "time that the trace spans, such as 12h or 7d",
        metavar="TIME",
        panel="fleet",
    )

    def __post_init__(self) -> None:
        """Check every field, and that the exponents are in their order."""
        super().__post_init__()
        if self.skew_low > self.skew_high:
            raise WriteampError(
                f"skew_low is {self.skew_low:g}, above skew_high, which is {self.skew_high:g}"
            )


@dataclass(frozen=True)
class SplitSettings(Settings):
    """Reading of the files of a fleet."""

    title: ClassVar[str] = "split"

    trace_format: str | None = format_setting("the files")
    action: str | None = action_setting()
    by_file: bool | None = setting(
        None,
        Flag(),
        "each file is a volume, whatever devices are in it; without it those are whose format "
        "names no device",
        number="flag",
    )
    threads: int | None = setting(
        None,
        POSITIVE_COUNT,
        "threads that read and write; by default one for each processor",
        number="count",
        is_speed=True,
        for_runner=True,
    )


@dataclass(frozen=True)
class Preset:
    """Rule by which a paper chooses volumes."""

    where: str
    source: str


PRESETS = {
    "sepbit": Preset(
        "written_set_bytes > 10 * 1073741824 AND drive_writes > 2",
        "SepBIT (FAST 2022): a write working set above 10 GiB, written more than twice",
    ),
    "updated": Preset(
        "drive_writes > 2", "the half of that rule that holds in traces of any size: updates"
    ),
}


@dataclass(frozen=True)
class SelectionSettings(Settings):
    """Volumes of a fleet that are looked at or run."""

    title: ClassVar[str] = "selection"

    where: str | None = setting(
        None,
        Text(),
        "only volumes for which this holds, such as 'drive_writes > 2', in words of SQL",
        metavar="CONDITION",
        panel="which volumes",
    )
    preset: str | None = setting(
        None,
        OneOf(tuple(PRESETS)),
        "only volumes that a paper's rule chooses: "
        + "; ".join(f"{name}: {one.where}" for name, one in PRESETS.items()),
        choices=tuple(PRESETS),
        panel="which volumes",
    )
    sample: int | None = setting(
        None,
        POSITIVE_COUNT,
        "so many of them, whose sizes and drive writes are distributed as those of all",
        number="count",
        panel="which volumes",
    )
    sample_seed: int = setting(
        1,
        Whole(0),
        "decides which volumes are in the sample",
        number="count",
        panel="which volumes",
    )

    @property
    def words(self) -> str:
        """Conditions, for a sentence."""
        preset = None if self.preset is None else PRESETS[self.preset].where
        return " and ".join(f"({one})" for one in (preset, self.where) if one is not None)


# Settings of `simulate` that the runs of a fleet take; each has the same default.
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
    """Return where settings of the runs of a fleet stand."""
    known = setting_places("simulate")
    return {name: known[name] for name in names}


@dataclass(frozen=True)
class DrivesSettings(Settings):
    """Drives that the volumes of a fleet run on."""

    title: ClassVar[str] = "drives"

    together: bool | None = setting(
        None,
        Flag(),
        "one drive for all volumes, side by side; managers that take hints hear the volume of "
        "each write",
        number="flag",
    )


@dataclass(frozen=True)
class ComparedSettings(Settings):
    """Comparison of the policies over the volumes."""

    title: ClassVar[str] = "compared"

    baseline: str | None = setting(
        None,
        Text(),
        "manager with which the others are compared; by default the first",
        metavar="SPEC",
    )
    resamples: int = setting(
        2000,
        Whole(100, 1_000_000),
        "fleets of as many volumes that are drawn anew from this one, for the intervals",
        number="count",
    )

    def check_baseline(self, labels: Sequence[str]) -> None:
        """Refuse a baseline that is not run.

        Raises:
            WriteampError: it is none of them.
        """
        if self.baseline is not None and self.baseline not in labels:
            raise unknown("baseline", self.baseline, labels)


@dataclass(frozen=True)
class NeedSettings(Settings):
    """Overall WA that a fleet shall have, and the policy."""

    title: ClassVar[str] = "need"

    target_wa: float = setting(
        None,
        Number("be a finite number above 1", lambda value: value > 1),
        "overall WA that the fleet shall have",
        number="number",
        metavar="WA",
        required=True,
    )
    manager: SpecLike = setting("single", SpecOf("managers"), "block manager", kind="managers")
    victims: SpecLike | None = setting(
        None, SpecOf("victims"), "victim policy (default the manager's)", kind="victims"
    )


# Settings that `need`, and those that `run` and `together` take by keyword.
NEED_PLACES = places_in((SelectionSettings,), "need") | run_places(
    [name for name in RUN_OPTIONS if name not in SPARE_OPTIONS]
)
RUN_PLACES = places_in((SelectionSettings, ComparedSettings), "run") | run_places()
