"""Verbs of real drives."""

from writeamp.cli.verbs import HelpPanel, Verb

MEASURE = Verb(
    "writeamp.drives.cli.measure",
    "Measure real drives.",
    HelpPanel.REAL,
)
LIFETIME = Verb(
    "writeamp.drives.cli.lifetime",
    "Tell how many years a drive lives: a real one by its snapshots, or a profile under a load.",
    HelpPanel.REAL,
)
DOCTOR = Verb(
    "writeamp.drives.cli.doctor",
    "Find mistakes in a benchmark of write amplification, and what the number would have been.",
    HelpPanel.REAL,
)
