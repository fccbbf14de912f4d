"""fio: its command line, and its report."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Any

from writeamp.errors import WriteampError

# Arguments of a single job that is described by the command line.
ONE_JOB = (
    "--name=point",
    "--thread",
    "--output-format=json",
    "--unified_rw_reporting=both",
    "--lat_percentiles=1",
    "--clat_percentiles=0",
    "--percentile_list=50:99",
)
# Time that fio may take beyond its runtime to write out its queue, in seconds.
_PATIENCE_S = 120
# Command prefix of util-linux that ends fio when this process ends, even if it is killed.
_ENDING = ("setpriv", "--pdeathsig", "KILL")


def check_fio() -> None:
    """Check that fio is installed.

    Raises:
        WriteampError: fio is not installed.
    """
    if shutil.which("fio") is None:
        raise WriteampError("fio is not installed. Install it to run real targets")


def seeded(seed: int) -> list[str]:
    """Return the options that seed fio's random numbers.

    Without randrepeat=0, fio 3.33 writes to the same addresses for any seed (its issue 1502).
    """
    return ["--randrepeat=0", f"--randseed={seed}"]


@cache
def _ending() -> tuple[str, ...]:
    """Return the command prefix that ends fio with this process; empty if it is not available."""
    has_it = (
        shutil.which(_ENDING[0])
        and not subprocess.run([*_ENDING, "true"], capture_output=True, check=False).returncode
    )
    return _ENDING if has_it else ()


def reported(
    arguments: Sequence[str], name: str, *, timeout_s: float, handles: Sequence[int]
) -> dict[str, Any]:
    """Run fio, and return its report of the only job or group.

    Args:
        arguments: arguments; the output format must be JSON.
        name: name of the target, for errors.
        timeout_s: expected runtime in seconds; fio is killed two minutes later.
        handles: file descriptors that fio keeps open while it runs.

    Raises:
        WriteampError: fio fails, or does not end.
    """
    try:
        process = subprocess.run(
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
    report = _report(process.stdout)
    if process.returncode or report is None or report["error"]:
        raise WriteampError(f"fio failed on {name}: {_why(process)}")
    return report


def _report(text: str) -> dict[str, Any] | None:
    """Return the report of the only job; fio may print messages before it."""
    try:
        document = json.loads(text[text.index("{") :])
        job: dict[str, Any] = document["jobs"][0]
    except (ValueError, LookupError):
        return None
    return job


def _why(process: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (*process.stderr.splitlines(), *process.stdout.splitlines())]
    errors = [line for line in lines if "error" in line.lower() or line.startswith("fio:")]
    return errors[0] if errors else f"it ended with status {process.returncode}"
