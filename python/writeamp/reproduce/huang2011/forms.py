"""How much of the paper's measurements a form of the reproduction makes."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.blackbox.targets.simulated import SimulatedSettings


@dataclass(frozen=True)
class Form:
    """What is measured of each device.

    Attributes:
        cells: of the paper's grid (`workloads.cells`).
        sizes, steps: of the workload-specific models' grid (`workloads.specific`).
        specific_settings: how precisely these are measured. With one request outstanding it takes
            long until random writes have come to the end of a rested drive's free blocks.
        settings: how precisely all others are measured.
        rested_cells: cells of the grid that are measured on a rested flash drive too.
        window_s, windows: length and number of the windows of a generated trace.
    """

    cells: int
    sizes: int
    steps: int
    specific_settings: SimulatedSettings
    settings: SimulatedSettings
    rested_cells: int
    window_s: float
    windows: int


# So short that a drive which was left alone has not come to the end of its free blocks.
RESTED = SimulatedSettings(precision=0.05, most_s=0.5)

# Section IV.A: a minute each; 12,500 cells are of 7780 workloads.
_A_MINUTE = SimulatedSettings(precision=0.01, most_s=60)
FULL = Form(12_500, 32, 9, _A_MINUTE, _A_MINUTE, 1000, 60.0, 180)
SHORT = Form(
    cells=300,
    # 36 of them differ: few enough to be quick, and more than the features of a kind by far.
    sizes=40,
    steps=2,
    specific_settings=SimulatedSettings(precision=0.05, most_s=40),
    settings=SimulatedSettings(precision=0.05, most_s=10),
    rested_cells=60,
    window_s=1.0,
    windows=180,
)


def form_of(*, full: bool) -> Form:
    """Return the long form or the short one."""
    return FULL if full else SHORT
