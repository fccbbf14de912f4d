"""External programs that a virtual drive needs: search, execution, and background processes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.machine.signals import HeldSignals

# Folders of system programs, which may be missing in a user's PATH.
_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
# Debian package of each program.
_PACKAGES = {
    "nbdkit": "nbdkit",
    "nbdfuse": "libnbd-bin",
    "fusermount3": "fuse3",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "blkid": "util-linux",
    "unshare": "util-linux",
    "sync": "coreutils",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
}
# Longest wait for a program, in seconds. It suffices on a busy machine: programs that work need
# less than a tenth of it.
PATIENCE_S = 60.0
_BETWEEN_LOOKS_S = 0.02
_LAST_LINES = 3
# Format of error messages of nbdkit and its plugins, with optional names of components.
_COMPLAINT = re.compile(r"[\w-]+: (?:.*?: )?(?P<kind>error|warning): (?P<sentence>.*)")


def require(*names: str) -> None:
    """Check that all required programs are installed.

    Raises:
        WriteampError: a program is not installed; the message names its Debian package.
    """
    for name in names:
        _path_of(name)


def run(
    signals: HeldSignals | None,
    name: str,
    *arguments: str,
    inside: tuple[str, ...] = (),
    good: tuple[int, ...] = (0,),
) -> str:
    """Run a program to its end and return its output.

    Args:
        signals: signals that end it; None if it must not be interrupted.
        name: a program of `_PACKAGES`.
        arguments: its arguments.
        inside: command prefix that executes the program at its end.
        good: exit statuses that are not failures.

    Raises:
        WriteampError: it is not installed, or failed; the message has its last output lines.
        KeyboardInterrupt: a signal was received.
    """
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            [*inside, _path_of(name), *arguments],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        if signals is None:
            process.wait()
        else:
            _wait_unless_stopped(process, signals)
        messages.seek(0)
        text = messages.read().decode(errors="replace")
    if process.returncode not in good:
        raise WriteampError(f"{name} failed: {last_words(text)}")
    return text


@dataclass(frozen=True)
class Daemon:
    """Background program in its own session, and the file of its messages."""

    name: str
    process: subprocess.Popen[bytes]
    messages: Path
    pidfd: int

    def wait_until(self, ready: Callable[[], bool], signals: HeldSignals) -> None:
        """Wait until the program is ready.

        Raises:
            WriteampError: it ended early, or is not ready after a minute.
            KeyboardInterrupt: a signal was received.
        """
        deadline = time.monotonic() + PATIENCE_S
        while not ready():
            signals.check()
            self.check()
            if time.monotonic() > deadline:
                raise WriteampError(f"{self.name} is not ready: {last_words(self._text())}")
            signals.wait([self.pidfd], _BETWEEN_LOOKS_S)

    def check(self) -> None:
        """Check that the program still runs.

        Raises:
            WriteampError: it has ended; the message is its own, if it printed one.
        """
        status = self.process.poll()
        if status is None:
            return
        errors = self.complaints("error")
        raise WriteampError(errors[0] if errors else self._how_it_ended(status))

    def complaints(self, *kinds: str) -> list[str]:
        """Return the errors and warnings in the program's messages, without duplicates.

        Args:
            kinds: "error" or "warning"; if empty, errors and warnings.
        """
        return list(dict.fromkeys(self._complaints(*kinds)))

    def failure(self) -> str | None:
        """Return how the program failed; None if it succeeded or still runs."""
        status = self.process.poll()
        return self._how_it_ended(status) if status else None

    def last_error(self) -> str:
        """Return the last error in the program's messages, which must have one."""
        return self._complaints("error")[-1]

    def _complaints(self, *kinds: str) -> list[str]:
        matches = map(_COMPLAINT.fullmatch, self._text().splitlines())
        return [
            match["sentence"]
            for match in matches
            if match and (not kinds or match["kind"] in kinds)
        ]

    def _how_it_ended(self, status: int) -> str:
        ending = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{self.name} {ending}: {last_words(self._text())}"

    def _text(self) -> str:
        return self.messages.read_text(errors="replace")


def start_daemon(undo: ExitStack, messages: Path, name: str, *arguments: str) -> Daemon:
    """Start a program in the background, shielded from the terminal's Ctrl-C.

    Args:
        undo: receives the step that stops it.
        messages: file for its messages.
        name: a program of `_PACKAGES`.
        arguments: its arguments.

    Raises:
        WriteampError: it is not installed.
    """
    with messages.open("wb") as sink:
        process = subprocess.Popen(
            [_path_of(name), *arguments],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    undo.callback(end, process)
    handle = os.pidfd_open(process.pid)
    undo.callback(os.close, handle)
    return Daemon(name, process, messages, handle)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program, unless it has ended; it is killed if it still runs after a minute."""
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def write_private(file: Path, content: bytes) -> None:
    """Write a file in a private folder.

    Raises:
        WriteampError: the write failed; the message names the file.
    """
    try:
        file.write_bytes(content)
    except OSError as error:
        raise WriteampError(f"cannot write {file}: {error.strerror or error}") from None


def last_words(text: str) -> str:
    """Return the end of a program's messages on one line."""
    # The last line may be only a detail of the error in the previous line.
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(lines[-_LAST_LINES:]) or "no message"


def environment() -> dict[str, str]:
    """Return an environment in which programs print parseable messages."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def _wait_unless_stopped(process: subprocess.Popen[bytes], signals: HeldSignals) -> None:
    handle = os.pidfd_open(process.pid)
    try:
        while process.poll() is None:
            signals.wait([handle], PATIENCE_S)
            if signals.came:
                process.kill()
                process.wait()
        signals.check()
    finally:
        os.close(handle)


def _path_of(name: str) -> str:
    path = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_FOLDERS}")
    if path is None:
        package = _PACKAGES[name]
        raise WriteampError(f"{name} is not installed. Install the Debian package {package}")
    return path
