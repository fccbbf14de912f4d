"""Processor time of starts of the command, in units of the import of Polars and NumPy.

Run `python benches/start.py`. Runs of all commands take turns. To compare with another checkout,
set PYTHONPATH to its folders `python` and `papers`.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from pathlib import Path

COMMANDS = ("--version", "--help", "simulat", "simulate --help")
IMPORT = [sys.executable, "-c", "import polars, numpy"]
WRITEAMP = Path(sys.executable).with_name("writeamp")


def processor_s(command: list[str]) -> float:
    """Return the processor time of a command, in user and kernel mode."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the medians and their ratios as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=15, help="runs of each command")
    turns = parser.parse_args().turns
    commands = {"import polars, numpy": IMPORT} | {
        line: [sys.executable, str(WRITEAMP), *line.split()] for line in COMMANDS
    }
    for command in commands.values():  # the first run reads files and may write bytecode
        processor_s(command)
    times_s: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(turns):
        for name, command in commands.items():
            times_s[name].append(processor_s(command))
    medians_s = {name: statistics.median(times) for name, times in times_s.items()}
    unit_s, *_ = medians_s.values()
    for name, time_s in medians_s.items():
        print(f"{name:20} {1000 * time_s:5.0f} ms  {time_s / unit_s:.2f}")


if __name__ == "__main__":
    main()
