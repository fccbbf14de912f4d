"""Verbs of the core; `pyproject.toml` has an entry point for each."""

from writeamp.cli.verbs import HelpPanel, Verb

ANSWER = Verb(
    "writeamp.cli.answer",
    "Answer by every way how much a drive amplifies writes (WA), and why the answers differ.",
    HelpPanel.START,
)
EXPLORE = Verb(
    "writeamp.cli.explore",
    "Show small drives step by step in the browser, and ten chapters on why flash amplifies.",
    HelpPanel.START,
)
LIST = Verb(
    "writeamp.cli.listing",
    "List what is registered: managers, victim policies, workloads, models, formats, devices….",
    HelpPanel.START,
)
SIMULATE = Verb(
    "writeamp.cli.simulate",
    "Simulate a drive and measure its write amplification (WA).",
    HelpPanel.SIMULATE,
)
COMPARE = Verb(
    "writeamp.cli.compare",
    "Compare block managers and victim policies: WA by cause, wear, memory, speed.",
    HelpPanel.SIMULATE,
)
SWEEP = Verb(
    "writeamp.cli.sweep",
    "Run many points, each once, and look at their results: `writeamp sweep FILE.toml --keep "
    "DIR`, then `writeamp sweep show DIR`.",
    HelpPanel.SIMULATE,
)
VOLUMES = Verb(
    "writeamp.cli.volumes",
    "Simulate the volumes of one trace: make, split, look at, run, and find the op that they need.",
    HelpPanel.SIMULATE,
)
ENDURANCE = Verb(
    "writeamp.cli.endurance",
    "Run drives until they are worn out: PE fairness, endurance, TBW, DWPD, years of life.",
    HelpPanel.SIMULATE,
)
PREDICT = Verb(
    "writeamp.cli.predict",
    "Predict write amplification (WA) under uniform random writes, or the op that a WA needs.",
    HelpPanel.SIMULATE,
)
MEANFIELD = Verb(
    "writeamp.cli.meanfield",
    "Compute the write amplification (WA) of hot/cold write frontiers on a large drive.",
    HelpPanel.SIMULATE,
)
ALLOCATE = Verb(
    "writeamp.cli.allocate",
    "Divide over-provisioned space between groups, and predict the write amplification (WA).",
    HelpPanel.SIMULATE,
)
SERVE = Verb(
    "writeamp.cli.serve",
    "Serve a virtual SSD to real programs over NBD, and tell its write amplification (WA).",
    HelpPanel.VIRTUAL,
)
TOP = Verb(
    "writeamp.cli.top",
    "Watch a virtual SSD: its write amplification (WA), what its blocks hold, and their wear.",
    HelpPanel.VIRTUAL,
)
TRACE = Verb(
    "writeamp.cli.trace",
    "Look into block traces, and convert them.",
    HelpPanel.PAPERS,
)
DIFF = Verb(
    "writeamp.cli.diff",
    "Compare two results of one verb: settings and numbers that differ, and which are noise.",
    HelpPanel.PAPERS,
)
REPORT = Verb(
    "writeamp.cli.report",
    "Read back the result in a page that --report wrote, and print it as Markdown or JSON.",
    HelpPanel.PAPERS,
)
