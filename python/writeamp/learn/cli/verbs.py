"""List of the commands for models learnt from measurements."""

from writeamp.cli.verbs import HelpPanel, Verb

BLACKBOX = Verb(
    "writeamp.learn.cli.blackbox",
    "Learn a drive's latency, bandwidth, throughput and write amplification (WA) from "
    "measurements, and predict them for other workloads: collect, train, evaluate, predict, "
    "explain, choose.",
    HelpPanel.LEARN,
)
TWIN = Verb(
    "writeamp.learn.cli.twin",
    "Learn a drive's hidden parameters (over-provisioning, erase unit, policies) from its write "
    "amplification (WA): plan, measure, fit.",
    HelpPanel.LEARN,
)
