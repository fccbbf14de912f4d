"""A paper that can be reproduced: its parts, and the readings of its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

from writeamp.errors import Interrupted
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.finished import FinishedParts
from writeamp_papers.known import without_comparison
from writeamp_papers.readings import AS_PRINTED, Reading


def late_part(module: str, function: str = "run", *arguments: str) -> Callable[[Bench], Findings]:
    """Return a part of a paper whose module is imported only when the part runs.

    So the list of papers can be shown without these modules and their optional packages.

    Args:
        module: full name of the module.
        function: called with the bench and `arguments`; it returns findings.
        arguments: further arguments.
    """

    def run(bench: Bench) -> Findings:
        findings: Findings = getattr(import_module(module), function)(bench, *arguments)
        return findings

    return run


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced; its `parts` run one after another and compute all numbers.

    `readings` are interpretations of the paper's text. The first is the default, which decides
    the verdicts.
    """

    name: str
    citation: str
    summary: str
    parts: tuple[Callable[[Bench], Findings], ...]
    readings: tuple[Reading, ...] = (AS_PRINTED,)
    # Whether the paper uses `Bench.traces`.
    uses_traces: bool = False

    def run(self, bench: Bench) -> Findings:
        """Return the findings of all parts, every item with its value under each joint reading.

        Raises:
            Interrupted: Ctrl-C, with the findings of the finished parts.
        """
        findings, done = Findings(), 0
        finished = FinishedParts(self.name, bench)
        try:
            for number, compute in enumerate(self.parts, 1):
                items = finished.items(number)
                if items is None:
                    computed = self._under_readings(compute(self._of_part(bench, number)))
                    finished.put(number, computed)
                else:
                    computed = Findings(items)
                findings, done = findings + self._with_reasons(computed), number
        except KeyboardInterrupt:
            left = tuple(range(done + 1, len(self.parts) + 1))
            raise Interrupted(replace(findings, unfinished=left)) from None
        return findings

    def _of_part(self, bench: Bench, number: int) -> Bench:
        """Return a bench whose steps begin with the number of the part."""
        if len(self.parts) == 1:
            return bench
        return replace(
            bench, step=lambda text: bench.step(f"part {number} of {len(self.parts)}: {text}")
        )

    def _under_readings(self, findings: Findings) -> Findings:
        names = [reading.name for reading in self.readings]
        return replace(findings, items=[item.under(names) for item in findings.items])

    def _with_reasons(self, findings: Findings) -> Findings:
        """Return the findings with the reasons of `known.toml`, which are not kept with a part."""
        return replace(findings, items=without_comparison(self.name, findings.items))
