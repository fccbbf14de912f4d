"""The command run in this process, which spares a second of imports each time."""

from __future__ import annotations

import io
import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import psutil
import pytest

import writeamp.cli.options  # noqa: F401 (its terminals keep the width of their first import)
from patience import PATIENCE_S
from writeamp.cli import main

WRITEAMP = Path(sys.executable).with_name("writeamp")
# Of processor time, which does not depend on how busy the machine is; the imports take one.
SECONDS_TO_START = 1.5


class Done(NamedTuple):
    """Status and output of a command."""

    status: int
    out: str
    err: str


def run(verb: str, arguments: str) -> Done:
    """Run a verb with arguments as a shell would read them."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with (
        patch.object(sys, "argv", ["writeamp", *verb.split(), *shlex.split(arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    for stream in (out, err):
        stream.seek(0)
    assert isinstance(ended.value.code, int)
    return Done(ended.value.code, out.read(), err.read())


def refusal(verb: str, arguments: str, *words: str) -> str:
    """Return the one sentence by which a verb refuses its arguments, and which has these words."""
    status, out, err = run(verb, arguments)
    assert (status, out, err.count("\n")) == (2, "", 1), (status, out, err)
    assert err.startswith("writeamp: ")
    assert [word for word in words if word not in err] == [], err
    return err


def document(verb: str, arguments: str = "") -> dict[str, Any]:
    """Return the one JSON document that a verb prints; beside it there may be notes."""
    status, out, err = run(verb, f"{arguments} --json")
    assert status == 0, err
    assert all(
        line.startswith(("writeamp: note: ", "writeamp: warning: ", "writeamp: progress: "))
        for line in err.splitlines()
    )
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def interrupted(
    arguments: list[str],
    folder: Path,
    *,
    after_s: float = SECONDS_TO_START,
    by: signal.Signals = signal.SIGINT,
    when: Callable[[], bool] | None = None,
) -> Done:
    """Run a command in a process of its own, and press Ctrl-C when it has worked for so long.

    With `when`, press it when that is true.
    """
    running = subprocess.Popen(
        [sys.executable, "-m", "writeamp", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    used = psutil.Process(running.pid)
    is_time = when or (lambda: sum(used.cpu_times()[:2]) >= after_s)
    while running.poll() is None and not is_time():
        time.sleep(0.02)
    assert running.poll() is None, "it ended before Ctrl-C came"
    running.send_signal(by)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in err
    return Done(running.returncode, out, err)


def interrupt(
    arguments: list[str], folder: Path, *, when: Callable[[], bool] | None = None
) -> None:
    """Press Ctrl-C in a process of its own: one sentence, status 130, and no file stays."""
    before = list(folder.iterdir())
    done = interrupted(arguments, folder, when=when)
    assert done == (130, "", "writeamp: interrupted; nothing was written\n")
    assert list(folder.iterdir()) == before
