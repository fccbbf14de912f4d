"""Errors, warnings and notes that a user gets, held to the words of docs/STYLE.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from places import ROOT
from writeamp.cli import boundary
from writeamp.errors import WriteampError

sys.path.insert(0, str(ROOT / "scripts"))
from check_words import flagged

# What a message quotes is not ours, nor are names of arguments, paths and the value None.
_QUOTED = re.compile(r"^\w+(?= is )|'[^']*'|`[^`]*`|\"[^\"]*\"|\bNone\b|\S*/\S*|[\w-]+\.[a-z]\w*")


def faults_of(message: str) -> list[str]:
    """Return the flagged constructions in our own words of a message."""
    return flagged(_QUOTED.sub("X", message))


@contextmanager
def collected() -> Iterator[set[str]]:
    """Collect every error that is made, and every line that the command prints on stderr."""
    messages: set[str] = set()
    make, say = WriteampError.__init__, boundary.say

    def made(error: WriteampError, *arguments: Any) -> None:
        messages.update(str(one) for one in arguments)
        make(error, *arguments)

    def said(sentence: str) -> None:
        messages.add(sentence)
        say(sentence)

    with patch.object(WriteampError, "__init__", made), patch.object(boundary, "say", said):
        yield messages
