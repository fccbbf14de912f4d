"""All papers in the full form, one after another, and their gallery: `make reproduce`.

A second run continues after the parts that the first one finished.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from writeamp.cli.progress_bar import Bar, duration
from writeamp.errors import Interrupted, WriteampError
from writeamp.files.output import replacing
from writeamp_papers.gallery import write_gallery
from writeamp_papers.papers import PAPERS
from writeamp_papers.reproduction import reproduce

DIFFERS, INTERRUPTED = 1, 130

# Minutes of each paper in the full form on two quiet cores, from the processor time that was
# measured on 2026-11-30. Trees of huang2011 are fitted on one core.
MINUTES = {
    "park2017": 12.0,
    "huang2011": 80.0,
    "dayan2015": 4.0,
    "verschoren2019": 8.0,
    "four-level": 10.0,
    "desnoyers2012": 1.0,
    "fdp-cache": 2.0,
    "ssdiq2025": 2.0,
}


def reproduce_all(folder: Path) -> int:
    """Reproduce every paper, with figures, results as JSON and finished parts in a folder.

    Returns:
        the exit status: 1 if a difference of a paper is not known, 130 after Ctrl-C, 0 otherwise.
        A difference in one paper does not keep the others from being computed.
    """
    print(
        f"all papers take about {sum(MINUTES.values()) / 60:.1f} hours on two quiet cores; "
        "finished parts are kept, and the same command continues after them",
        flush=True,
    )
    status, started = 0, time.perf_counter()
    for number, name in enumerate(PAPERS):
        later = list(PAPERS)[number:]
        left = f"about {duration(60 * sum(MINUTES[paper] for paper in later))} left for all papers"
        try:
            with Bar(f"{name}, {left}", _runs, has_slow_steps=True) as bar:
                reproduction = reproduce(
                    name,
                    full=True,
                    plots=folder / name,
                    resume=folder / "finished",
                    step=lambda text, name=name, left=left, bar=bar: bar.describe(  # type: ignore[misc]
                        f"{name}, {left}; {text}"
                    ),
                    progress=bar.update,
                )
        except Interrupted:
            print(f"interrupted in {name}; the same command continues", file=sys.stderr)
            return INTERRUPTED
        with replacing(folder / f"{name}.json", "result") as file:
            file.write(json.dumps(reproduction.to_dict(), indent=1).encode())
        seconds = time.perf_counter() - started
        print(f"{name}: {reproduction.count_text()}; {duration(seconds)} so far", flush=True)
        for sentence in reproduction.skipped:
            print(f"{name}: skipped: {sentence}", file=sys.stderr)
        for sentence in reproduction.unexpected:
            status = DIFFERS
            print(f"{name}: unexpected: {sentence}", file=sys.stderr)
    print(f"the gallery is {write_gallery(folder)}")
    return status


def _runs(done: int, expected: int) -> str:
    return f"{done} of {expected} runs"


def main() -> None:
    """Reproduce all papers into the folder that the command line names, or build/reproduce."""
    try:
        sys.exit(reproduce_all(Path(*sys.argv[1:2] or ["build/reproduce"])))
    except WriteampError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
