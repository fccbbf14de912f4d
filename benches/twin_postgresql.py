"""PostgreSQL on hidden drives: what twins of them, measured by fio and counters, foretell.

Each hidden drive is a virtual one. As new, it is served by NBD, fio writes the chain to it, its
SMART and OCP logs are read, and `twin fit` learns it. Then the same kind of drive, full and aged by
random writes, gets ext4 and PostgreSQL under pgbench; every request is recorded, and its counters
say WA. The twin is asked for WA of the recordings: that of this drive, and that of the first one,
whose requests came at other times. As root, with nbdkit, fio and PostgreSQL:

    .venv/bin/python benches/twin_postgresql.py --folder /var/tmp/pg --transactions 150000
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

DRIVES = (
    "--op 0.12 --pages-per-block 64 --manager sepgc --victims greedy",
    "--op 0.2 --pages-per-block 128 --manager single --victims cost-benefit",
    "--op 0.09 --pages-per-block 256 --manager dac:regions=4 --victims cost-benefit",
)
WRITEAMP = f"{sys.executable} -m writeamp"
POSTGRES = Path(__file__).parents[1] / "examples" / "databases" / "postgres.sh"
# A counter that still reads 0 is taken for one that the drive does not have.
FIRST = "fio --name=f --ioengine=nbd --uri=$uri --rw=write --bs=64k --size=1M --output=/dev/null"


def main() -> None:
    """Measure, fit, run PostgreSQL, predict, and print a row for each drive and recording."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="a user postgres may enter it")
    parser.add_argument("--size", default="512MiB")
    parser.add_argument("--scale", type=int, default=17)
    parser.add_argument("--transactions", type=int, default=150_000)
    parser.add_argument("--chunks", action="store_true", help="measure with phases of chunks")
    parser.add_argument("--drives", type=int, default=len(DRIVES))
    asked = parser.parse_args()
    asked.folder.mkdir(exist_ok=True)
    os.chdir(asked.folder)
    recorded: list[float] = []
    for at, options in enumerate(DRIVES[: asked.drives]):
        learn(at, options, asked)
        fit = told(f"{WRITEAMP} twin fit {at}.windows --out {at}.toml --json")
        recorded.append(run_postgresql(at, options, asked))
        print(f"{options}: op {shown(fit, 'op')}, erase unit {shown(fit, 'erase_unit_pages')}")
        print(f"  {fit['classes'][0]}, misfit {fit['misfit']:.2f}, noise {fit['noise']:.2%}")
        own = foretold(f"{at}.toml", f"{at}.trace.parquet")
        print(f"  PostgreSQL {recorded[at]:.3f}, foretold {interval(own)}", flush=True)
        if at:
            other = foretold(f"{at}.toml", "0.trace.parquet")
            true = told(f"{WRITEAMP} simulate --trace 0.trace.parquet {options} --json")
            print(f"  the first drive's requests {true['wa']:.3f}, foretold {interval(other)}")


def learn(at: int, options: str, asked: argparse.Namespace) -> None:
    """Let fio measure a new drive of a kind, unless it did."""
    if Path(f"{at}.windows").exists():
        return
    measure = (
        f"{WRITEAMP} twin measure --target $uri --counters {at}.logs --out {at}.windows "
        f"{'--chunks' * asked.chunks} --json"
    )
    told(
        f"{WRITEAMP} serve --size {asked.size} {options} --counters {at}.logs --json --run "
        + shlex.quote(f"{FIRST} && {measure}")
    )


def run_postgresql(at: int, options: str, asked: argparse.Namespace) -> float:
    """Return WA of pgbench on an aged drive of a kind, by the drive's own counts; run once."""
    command = f"{POSTGRES.resolve()} {asked.scale} {asked.transactions}"
    serve = f"{WRITEAMP} serve --size {asked.size} {options} --precondition random --json"
    kept = Path(f"{at}.postgresql.json")
    found = (
        json.loads(kept.read_text())
        if kept.exists()
        else told(
            f"{serve} --mount {at}.mnt --record {at}.trace.parquet --run {shlex.quote(command)}"
        )
    )
    kept.write_text(json.dumps(found))
    print(
        f"drive {at}: {found['host_bytes'] / 1e9:.2f} GB of the host, "
        f"{found['host']['trimmed_bytes'] / 1e9:.2f} GB trimmed, {found['steady_reason']}"
    )
    return float(found["wa"])


def foretold(profile: str, trace: str) -> dict[str, Any]:
    """Return what the twin says of a recording."""
    return told(f"{WRITEAMP} simulate --device {profile} --trace {trace} --json")


def told(command: str) -> dict[str, Any]:
    """Return the document that a command prints."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}\n{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def shown(fit: dict[str, Any], key: str) -> str:
    """Return a parameter of a fit with its interval."""
    return f"{fit[key]:.4g} ({fit[f'{key}_low']:.4g} to {fit[f'{key}_high']:.4g})"


def interval(found: dict[str, Any]) -> str:
    """Return a prediction with its 90% interval."""
    low, high = found["wa_ci90"]
    return f"{found['wa']:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
