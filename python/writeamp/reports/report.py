"""Report: a result's document, the command that found it, and what is drawn beside it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Report:
    """A result as a page tells it.

    Attributes:
        verb: that found it, such as "simulate" or "measure counters".
        command: arguments of the command line, without the name of the program.
        document: what the verb prints with `--json`.
        more: what is drawn and in no document, as `results/beside.py` has it.
        version: of writeamp.
    """

    verb: str
    command: tuple[str, ...]
    document: Mapping[str, Any]
    more: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    @property
    def command_line(self) -> str:
        """The command as a shell takes it."""
        return shlex.join(["writeamp", *self.command])

    def with_options(self, *options: str) -> str:
        """Return the command line with more options, those that it does not have yet."""
        # What follows `--` is of another command.
        end = self.command.index("--") if "--" in self.command else len(self.command)
        ours, others = self.command[:end], self.command[end:]
        more = [one for one in options if one not in ours]
        return shlex.join(["writeamp", *ours, *more, *others])
