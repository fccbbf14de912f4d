"""fio: its command, and what it reports."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Any

from writeamp.errors import WriteampError

# Arguments of one job that the command line describes.
ONE_JOB = (
    "--name=point",
    "--thread",
    "--output-format=json",
    "--unified_rw_reporting=both",
    "--lat_percentiles=1",
    "--clat_percentiles=0",
    "--percentile_list=50:99",
)
# How much longer than asked for fio may take, to write out what is queued.
_PATIENCE_S = 120
# fio ends with this process, also if that is killed, where util-linux is.
_ENDING = ("setpriv", "--pdeathsig", "KILL")


def check_fio() -> None:
    """Refuse to go on without fio.

    Raises:
        WriteampError: it is not installed.
    """
    if shutil.which("fio") is None:
        raise WriteampError("fio is not installed; install it, for real targets are run by it")


def seeded(seed: int) -> list[str]:
    """Return the options that make fio draw by a seed.

    Without randrepeat=0, fio 3.33 writes to the same addresses whatever the seed is (its
    issue 1502).
    """
    return ["--randrepeat=0", f"--randseed={seed}"]


@cache
def _ending() -> tuple[str, ...]:
    """Return what makes fio end with this process; BusyBox has a setpriv without the option."""
    has_it = (
        shutil.which(_ENDING[0])
        and not subprocess.run([*_ENDING, "true"], capture_output=True, check=False).returncode
    )
    return _ENDING if has_it else ()


def reported(
    arguments: Sequence[str], name: str, *, timeout_s: float, handles: Sequence[int]
) -> dict[str, Any]:
    """Run fio, and return what it reports of its only job or group.

    Args:
        arguments: with JSON as its output's format.
        name: of what it writes to, for errors.
        timeout_s: that it needs at most.
        handles: file descriptors that it keeps open as long as it runs.

    Raises:
        WriteampError: fio fails, or does not end.
    """
    try:
        done = subprocess.run(
            [*_ending(), "fio", *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s + _PATIENCE_S,
            check=False,
            pass_fds=handles,
        )
    except subprocess.TimeoutExpired:
        raise WriteampError(
            f"fio did not end within {timeout_s + _PATIENCE_S:.0f} s on {name}"
        ) from None
    except OSError as error:
        raise WriteampError(f"fio cannot be run: {error.strerror}") from None
    report = _report(done.stdout)
    if done.returncode or report is None or report["error"]:
        raise WriteampError(f"fio failed on {name}: {_why(done)}")
    return report


def _report(text: str) -> dict[str, Any] | None:
    """Return the only job's report; fio may say something before the document."""
    try:
        document = json.loads(text[text.index("{") :])
        job: dict[str, Any] = document["jobs"][0]
    except (ValueError, LookupError):
        return None
    return job


def _why(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (*done.stderr.splitlines(), *done.stdout.splitlines())]
    said = [line for line in lines if "error" in line.lower() or line.startswith("fio:")]
    return said[0] if said else f"it ended with status {done.returncode}"
