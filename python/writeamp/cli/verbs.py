"""Verbs by name, in the order of the help.

The file of a verb is imported when it is called.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from writeamp.cli.application import App


class Verb(NamedTuple):
    """Module of a verb, and the first paragraph of its help."""

    module: str
    summary: str


VERBS = {
    "answer": Verb(
        "answer",
        "Answer by every way how much a drive amplifies writes (WA), and why the answers differ.",
    ),
    "simulate": Verb("simulate", "Simulate a drive and measure its write amplification (WA)."),
    "compare": Verb(
        "compare",
        "Compare block managers and victim policies: WA by cause, wear, memory, speed.",
    ),
    "explore": Verb(
        "explore",
        "Show small drives step by step in the browser, and ten chapters on why flash amplifies.",
    ),
    "endurance": Verb(
        "endurance",
        "Run drives until they are worn out: PE fairness, endurance, TBW, DWPD, years of life.",
    ),
    "lifetime": Verb(
        "lifetime",
        "Tell how many years a drive lives: a real one by its snapshots, or a profile under a "
        "load.",
    ),
    "meanfield": Verb(
        "meanfield",
        "Compute the write amplification (WA) of hot/cold write frontiers on a large drive.",
    ),
    "predict": Verb(
        "predict",
        "Predict write amplification (WA) under uniform random writes, or the op that a WA needs.",
    ),
    "allocate": Verb(
        "allocate",
        "Divide over-provisioned space between groups, and predict the write amplification (WA).",
    ),
    "serve": Verb(
        "serve",
        "Serve a virtual SSD to real programs over NBD, and tell its write amplification (WA).",
    ),
    "top": Verb(
        "top",
        "Watch a virtual SSD: its write amplification (WA), what its blocks hold, and their wear.",
    ),
    "diff": Verb(
        "diff",
        "Tell what two results of one verb have set and found differently, and what noise "
        "explains.",
    ),
    "doctor": Verb(
        "doctor",
        "Find mistakes in a benchmark of write amplification, and what the number would have been.",
    ),
    "report": Verb(
        "report", "Read back the result that a page of --report holds, as Markdown or as JSON."
    ),
    "reproduce": Verb(
        "reproduce",
        "Compute a paper's published values anew; the status is 1 if one differs unexplained.",
    ),
    "list": Verb(
        "listing",
        "List what is registered: managers, victim policies, workloads, models, formats, devices….",
    ),
    "sweep": Verb(
        "sweep",
        "Run many points, each once, and look at their results: `writeamp sweep FILE.toml "
        "--out DIR`, then `writeamp sweep show DIR`.",
    ),
    "trace": Verb("trace", "Look into block traces, and convert them."),
    "volumes": Verb(
        "volumes",
        "Fleets of many volumes in one trace: make, split by volume, look at, run, and what they "
        "need.",
    ),
    "measure": Verb("measure", "Measure real drives."),
    "blackbox": Verb(
        "blackbox",
        "Learn a drive's latency, bandwidth, throughput and WA from measurements, and predict "
        "them for any workload: collect, train, evaluate, predict, explain, choose.",
    ),
    "twin": Verb(
        "twin",
        "Learn a drive's hidden parameters (op, erase unit, policies) from its write "
        "amplification (WA): plan, measure, fit.",
    ),
}


class Verbs(TyperGroup):
    """A group whose commands are summaries until one of them is called."""

    def __init__(self, **how: Any) -> None:
        """Name all verbs."""
        super().__init__(**how)
        for name, verb in VERBS.items():
            self.add_command(TyperCommand(name, help=verb.summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is called, with its options, and the arguments that follow it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest


@cache
def load(name: str) -> Any:
    """Return a verb with its options, or a group of verbs."""
    verb = VERBS[name]
    app = App()
    import_module(f"writeamp.cli.{verb.module}").register(app)
    command = get_group(app).commands[name]
    if isinstance(command, TyperGroup):
        command.help = verb.summary
    return command
