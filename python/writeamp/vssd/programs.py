"""External programs that a virtual drive needs: found, run, started and stopped."""

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
from writeamp.vssd.signals import HeldSignals

# Programs of the system stand here also where a user's PATH does not say so.
_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
# The Debian package of each program.
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
# Long enough for a busy machine; nothing that works takes a tenth of it.
PATIENCE_S = 60.0
_BETWEEN_LOOKS_S = 0.02
_LAST_LINES = 3
# As programs of nbdkit's family say it, the parts of them that speak in between.
_COMPLAINT = re.compile(r"[\w-]+: (?:.*?: )?(?P<kind>error|warning): (?P<sentence>.*)")


def require(*names: str) -> None:
    """Refuse what cannot work before anything is begun.

    Raises:
        WriteampError: a program is not installed; the sentence names its Debian package.
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
        signals: end it when one of them comes; None where it must not be cut.
        name: a program of `_PACKAGES`.
        arguments: what it is given.
        inside: a command that ends by becoming the one that follows its own words.
        good: statuses that are no failure.

    Raises:
        WriteampError: it is not installed, or failed; the sentence has its last words.
        KeyboardInterrupt: a signal came.
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
    """A program in the background, in a session of its own, and the file of its messages."""

    name: str
    process: subprocess.Popen[bytes]
    messages: Path
    pidfd: int

    def wait_until(self, ready: Callable[[], bool], signals: HeldSignals) -> None:
        """Wait until it is ready.

        Raises:
            WriteampError: it ended before, or is not ready after a minute.
            KeyboardInterrupt: a signal came.
        """
        deadline = time.monotonic() + PATIENCE_S
        while not ready():
            signals.check()
            self.check()
            if time.monotonic() > deadline:
                raise WriteampError(f"{self.name} is not ready: {last_words(self._text())}")
            signals.wait([self.pidfd], _BETWEEN_LOOKS_S)

    def check(self) -> None:
        """Refuse to go on without it.

        Raises:
            WriteampError: it has ended; the sentence is its own, if it said one.
        """
        status = self.process.poll()
        if status is None:
            return
        errors = self.complaints("error")
        raise WriteampError(errors[0] if errors else self._how_it_ended(status))

    def complaints(self, *kinds: str) -> list[str]:
        """Return the complaints in its messages, each sentence once.

        Args:
            kinds: "error" or "warning"; both without one.
        """
        return list(dict.fromkeys(self._complaints(*kinds)))

    def failure(self) -> str | None:
        """Return the failure that it ended with; None if it ended well or runs."""
        status = self.process.poll()
        return self._how_it_ended(status) if status else None

    def last_error(self) -> str:
        """Return the last error in its messages."""
        return self._complaints("error")[-1]

    def _complaints(self, *kinds: str) -> list[str]:
        found = map(_COMPLAINT.fullmatch, self._text().splitlines())
        return [one["sentence"] for one in found if one and (not kinds or one["kind"] in kinds)]

    def _how_it_ended(self, status: int) -> str:
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{self.name} {how}: {last_words(self._text())}"

    def _text(self) -> str:
        return self.messages.read_text(errors="replace")


def start_daemon(undo: ExitStack, messages: Path, name: str, *arguments: str) -> Daemon:
    """Start a program in the background, out of reach of the terminal's Ctrl-C.

    Args:
        undo: what will stop it.
        messages: the file that its messages go to.
        name: a program of `_PACKAGES`.
        arguments: what it is given.

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
    """End a program, unless it has ended; what does not obey is killed after a minute."""
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def write_private(file: Path, content: bytes) -> None:
    """Write a file in a private folder.

    Raises:
        WriteampError: that is not possible; the sentence names the file.
    """
    try:
        file.write_bytes(content)
    except OSError as error:
        raise WriteampError(f"cannot write {file}: {error.strerror or error}") from None


def last_words(text: str) -> str:
    """Return the end of a program's messages on one line."""
    # The last line alone may be a mere detail of the error in the one before it.
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(lines[-_LAST_LINES:]) or "it said nothing"


def environment() -> dict[str, str]:
    """Return an environment in which programs speak the language that their output is read in."""
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
        raise WriteampError(f"{name} is not installed; install the Debian package {package}")
    return path
