"""Tools that read drives, nvme-cli and smartctl: run, with a sentence for what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess

from writeamp.errors import WriteampError

# The package of each program, as most distributions call it.
_PACKAGES = {"nvme": "nvme-cli", "smartctl": "smartmontools"}
_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
_PATIENCE_S = 60.0
_MOST_BYTES = 64 << 20
# smartctl's status has a bit for each of its findings; these two mean that it read nothing.
_READ_NOTHING = 0b11
_NO_RIGHT = ("permission denied", "operation not permitted", "requires root", "eacces", "eperm")


class MissingRightError(WriteampError):
    """A tool may not read a device."""


def require(program: str) -> None:
    """Refuse what cannot work before anything is begun.

    Raises:
        WriteampError: a program is not installed; the sentence names its package.
    """
    if _path_of(program) is None:
        raise WriteampError(f"{program} is not installed (package {_PACKAGES[program]})")


def printed_by(program: str, arguments: tuple[str, ...]) -> bytes:
    """Return what a tool prints.

    Raises:
        WriteampError: it failed, printed nothing, or did not end within a minute.
        MissingRightError: it may not read the device.
    """
    require(program)
    try:
        done = subprocess.run(
            [_path_of(program) or program, *arguments],
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            # Ctrl-C is for the command that is measured, and not for what reads the drive.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise WriteampError(f"{program} did not end within {_PATIENCE_S:g} s") from None
    except OSError as error:
        raise WriteampError(f"{program} cannot be run: {error.strerror or error}") from None
    words = _last_words(done.stderr) or _last_words(done.stdout)
    if any(one in (done.stderr + done.stdout[:4096]).decode("utf-8", "replace").lower()
           for one in _NO_RIGHT) and _has_failed(program, done.returncode):  # fmt: skip
        raise MissingRightError(f"{program} may not read it: {words}")
    if _has_failed(program, done.returncode):
        raise WriteampError(f"{program} ended with status {done.returncode}: {words}")
    if not done.stdout.strip() or len(done.stdout) > _MOST_BYTES:
        raise WriteampError(f"{program} printed {len(done.stdout):,} bytes: {words}")
    return done.stdout


def _has_failed(program: str, status: int) -> bool:
    return status < 0 or bool(status & _READ_NOTHING if program == "smartctl" else status)


def _path_of(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_FOLDERS}")


def _last_words(text: bytes) -> str:
    lines = [one.strip() for one in text.decode("utf-8", "replace").splitlines() if one.strip()]
    return lines[-1][:300] if lines else "it said nothing"
