"""Verb of the papers."""

from writeamp.cli.verbs import Panel, Verb

REPRODUCE = Verb(
    "writeamp_papers.cli",
    "Compute a paper's published values anew; the status is 1 if one differs unexplained.",
    Panel.PAPERS,
)
