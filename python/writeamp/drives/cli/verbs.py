"""Summaries of the commands for real drives, as `writeamp --help` prints them."""

from writeamp.cli.verbs import HelpPanel, Verb

MEASURE = Verb(
    "writeamp.drives.cli.measure",
    "Measure the write amplification (WA) of real drives, from counters or Ready/Busy pins.",
    HelpPanel.REAL,
)
LIVE = Verb(
    "writeamp.drives.cli.live",
    "Show the writers of a disk now, and their cost: WA, GB a day, years (Linux, root).",
    HelpPanel.REAL,
)
LIFETIME = Verb(
    "writeamp.drives.cli.lifetime",
    "Estimate the years until a drive is worn out, from its counters or from a load.",
    HelpPanel.REAL,
)
DOCTOR = Verb(
    "writeamp.drives.cli.doctor",
    "Find mistakes in a benchmark of write amplification, and estimate their effect on WA.",
    HelpPanel.REAL,
)
