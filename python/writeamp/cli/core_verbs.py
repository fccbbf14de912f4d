"""Subcommands of the core package; `pyproject.toml` has an entry point for each."""

from writeamp.cli.verbs import HelpPanel, Verb

ANSWER = Verb(
    "writeamp.cli.answer",
    "Compare the WA from theory, simulation, virtual and real drives, and explain differences.",
    HelpPanel.START,
)
EXAMPLES = Verb(
    "writeamp.cli.examples",
    "Copy the shipped traces, fio jobs, notebooks and scripts to a folder.",
    HelpPanel.START,
)
EXPLORE = Verb(
    "writeamp.cli.explore",
    "Show small drives step by step on a page, with ten chapters on write amplification.",
    HelpPanel.START,
)
LIST = Verb(
    "writeamp.cli.listing",
    "List all block managers, victim policies, workloads, models, trace formats, devices….",
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
BLAME = Verb(
    "writeamp.cli.blame",
    "Divide the flash writes of a trace among processes, files, folders, devices or addresses.",
    HelpPanel.SIMULATE,
)
SWEEP = Verb(
    "writeamp.cli.sweep",
    "Run an experiment at many points and show the results: `writeamp sweep FILE.toml --keep "
    "DIR`, then `writeamp sweep show DIR`.",
    HelpPanel.SIMULATE,
)
VOLUMES = Verb(
    "writeamp.cli.volumes",
    "Simulate all volumes of a cloud trace: make, split, info, run, need.",
    HelpPanel.SIMULATE,
)
ENDURANCE = Verb(
    "writeamp.cli.endurance",
    "Simulate drives until they are worn out: PE fairness, endurance, TBW, DWPD, years.",
    HelpPanel.SIMULATE,
)
PREDICT = Verb(
    "writeamp.cli.predict",
    "Predict write amplification (WA) for uniform random writes, or the op for a given WA.",
    HelpPanel.SIMULATE,
)
MEANFIELD = Verb(
    "writeamp.cli.meanfield",
    "Compute the write amplification (WA) of hot/cold write frontiers, without a simulation.",
    HelpPanel.SIMULATE,
)
ALLOCATE = Verb(
    "writeamp.cli.allocate",
    "Divide over-provisioned space between groups of pages, and predict WA.",
    HelpPanel.SIMULATE,
)
SERVE = Verb(
    "writeamp.cli.serve",
    "Serve a virtual SSD to real programs over NBD, and report its write amplification (WA).",
    HelpPanel.VIRTUAL,
)
TOP = Verb(
    "writeamp.cli.top",
    "Watch a virtual SSD: write amplification (WA), traffic, valid pages and block wear.",
    HelpPanel.VIRTUAL,
)
TRACE = Verb(
    "writeamp.cli.trace",
    "Describe, convert, record and download block traces.",
    HelpPanel.PAPERS,
)
DIFF = Verb(
    "writeamp.cli.diff",
    "Compare two results: settings and numbers that differ, and which differences are noise.",
    HelpPanel.PAPERS,
)
REPORT = Verb(
    "writeamp.cli.report",
    "Print the result that a page of --report stores, as Markdown or JSON.",
    HelpPanel.PAPERS,
)
