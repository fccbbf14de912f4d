"""Finding, running and stopping the programs of a capture, whatever interrupts it."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE_S = 30.0


class CaptureError(RuntimeError):
    """The capture cannot start or go on: one sentence."""


@dataclass(frozen=True)
class Daemon:
    """A background program and the file that has its messages."""

    name: str
    process: subprocess.Popen[bytes]
    messages: Path


def find_program(name: str) -> str | None:
    """Path of a program: from PostgreSQL's own directory, from PATH, or from an sbin directory."""
    # Debian's wrappers on PATH pick a cluster of the machine's; the programs are kept elsewhere.
    homes = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    newest = max(homes, default=None, key=lambda home: int(re.sub(r"\D", "", str(home)) or 0))
    if newest is not None and (newest / name).exists():
        return str(newest / name)
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin")


def run(name: str, *arguments: str, user: str | None = None) -> str:
    """Run a program to its end and return its output; a failure is a CaptureError."""
    process = subprocess.run(
        [_program(name), *arguments],
        env=_environment(),
        user=user,
        group=_group_of(user),
        extra_groups=None if user is None else [],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        check=False,
    )
    if process.returncode != 0:
        raise CaptureError(
            f"{name} failed with status {process.returncode}: {_last_words(process.stdout)}"
        )
    return process.stdout


def start_daemon(
    undo: contextlib.ExitStack,
    messages: Path,
    name: str,
    *arguments: str,
    user: str | None = None,
    stop_signal: signal.Signals = signal.SIGTERM,
) -> Daemon:
    """Start a background program that `undo` will stop, out of reach of the terminal's Ctrl-C."""
    with interrupts_held(), messages.open("wb") as sink:
        process = subprocess.Popen(
            [_program(name), *arguments],
            env=_environment(),
            user=user,
            group=_group_of(user),
            extra_groups=None if user is None else [],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        undo.callback(_stop, process, stop_signal)
    return Daemon(name, process, messages)


def wait_until(ready: Callable[[], bool], daemon: Daemon) -> None:
    """Wait for a daemon to be ready; its end or too long a wait is a CaptureError."""
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        status = daemon.process.poll()
        if status is not None or time.monotonic() > deadline:
            outcome = "is not ready" if status is None else f"ended with status {status}"
            last_words = _last_words(daemon.messages.read_text(errors="replace"))
            raise CaptureError(f"{daemon.name} {outcome}: {last_words}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes], stop_signal: signal.Signals) -> None:
    process.send_signal(stop_signal)
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def take_interrupts() -> None:
    """Let SIGTERM and SIGHUP unwind the program as Ctrl-C does."""
    for number in INTERRUPTS:
        signal.signal(number, _interrupt)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Put off Ctrl-C, SIGTERM and SIGHUP to the end of the block."""
    held: list[int] = []
    handlers = {
        number: signal.signal(number, lambda caught, _frame: held.append(caught))
        for number in INTERRUPTS
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if held:
        raise KeyboardInterrupt


def _interrupt(number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt(signal.Signals(number).name)


def _program(name: str) -> str:
    path = find_program(name)
    if path is None:
        raise CaptureError(f"program {name} is not installed")
    return path


def _environment() -> dict[str, str]:
    # nbdkit logs local time, and only UTC has no jumps; a PGHOST of the user's must not count.
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _group_of(user: str | None) -> int | None:
    return None if user is None else pwd.getpwnam(user).pw_gid


def _last_words(text: str) -> str:
    # The last line alone may be a mere detail of the error in the one before it.
    return "; ".join(text.strip().splitlines()[-3:]) or "no message"
