"""External programs that the benchmarks of Fig. 5 run."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.machine.programs import environment, last_words


def run(
    command: Sequence[str],
    *,
    user: str | None = None,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run a program to its end.

    Args:
        command: the program and its arguments.
        user: user that runs the program, with the user's group; by default the current user.
        variables: additions to its environment.

    Raises:
        WriteampError: it failed; the message has its last output.
    """
    # Not a pipe: a server that the program leaves behind would keep a pipe open.
    with tempfile.TemporaryFile() as messages:
        done = subprocess.run(
            command,
            env=environment() | dict(variables or {}),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=subprocess.STDOUT,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            check=False,
        )
        messages.seek(0)
        output = messages.read().decode(errors="replace")
    if done.returncode:
        raise WriteampError(f"{Path(command[0]).name} failed: {last_words(output)}")
