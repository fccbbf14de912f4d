#!/usr/bin/env python3
"""Add events to a log, each durable before the next, like a program that keeps its history.

    writeamp serve --device tlc-datacenter --size 512MiB --mount mnt --fs xfs \
        --max-flash-bytes 64MiB --run 'python3 examples/growing_log.py $mountpoint/log'

With `--rewrite`, each event rewrites the whole log, so the bytes written grow with the square of
the number of events.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

EVENT_BYTES = 1000


def main() -> None:
    """Add the events, and print a line about them."""
    settings = options()
    add = rewrite if settings.rewrite else append
    for number in range(settings.events):
        add(settings.log, f"{number:<{EVENT_BYTES - 1}}\n")
    print(f"{settings.events} events: {settings.log.stat().st_size / 1e6:.1f} MB")


def append(log: Path, event: str) -> None:
    """Write the event behind the earlier ones."""
    with log.open("a") as file:
        file.write(event)
        file.flush()
        os.fsync(file.fileno())


def rewrite(log: Path, event: str) -> None:
    """Replace the log by a new file with all events."""
    new = log.with_name(f"{log.name}.new")
    new.write_text(log.read_text() if log.exists() else "")
    append(new, event)
    new.replace(log)


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log", type=Path, help="file of the log; may exist")
    parser.add_argument("--events", type=int, default=500, help="default 500, of 1000 bytes each")
    parser.add_argument("--rewrite", action="store_true", help="rewrite the log for each event")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
