"""Jobs for runners, which workers in other processes can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.runners import Stopped, stop_if_asked


def doubled(number: int) -> int:
    return 2 * number


def slowly(number: int) -> int:
    time.sleep(0.05)
    return number


def text_of(path: str) -> str:
    return inputs.local(path).read_text()


def slow_text_of(path: str) -> str:
    time.sleep(0.05)
    return text_of(path)


def until_stopped(folder: str) -> None:
    """Work until nobody wants it any more, and leave a file that says so."""
    Path(folder, "begun").touch()
    try:
        while True:
            time.sleep(0.01)
            stop_if_asked()
    except Stopped:
        Path(folder, "stopped").touch()
        raise


def either(job: str | int) -> int | None:
    """Work for ever in a folder, or give a number back at once."""
    return job if isinstance(job, int) else until_stopped(job)


def fatal_for_seven(number: int) -> int:
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refused_for_seven(number: int) -> int:
    if number == 7:
        raise WriteampError("seven is refused")
    return number
