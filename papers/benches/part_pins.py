"""Pins of the parts of papers 2 and 5 that `make test` runs.

Run `.venv/bin/python papers/benches/part_pins.py PAPER`, with huang2011 or four-level, to print the
verdicts of the part's items, as comments, and the pins of those that differ, for the group of form
"part" in `known.toml`. It takes half a minute.
"""

from __future__ import annotations

import sys

from writeamp_papers import PAPERS, Bench, Findings
from writeamp_papers.four_level import part
from writeamp_papers.four_level.choices import CHOICES
from writeamp_papers.huang2011 import campaign

# A pinned value may change by this share.
_TOLERANCES = {"huang2011": 0.03, "four-level": 0.02}


def main() -> None:
    """Compute the part, and print its verdicts and pins."""
    (paper,) = sys.argv[1:]
    for item in _found(paper).items:
        if item.verdict == "differs":
            print(f'"{item.item}" = [{item.ours:.6g}, {_TOLERANCES[paper] * abs(item.ours):.2g}]')
        else:
            print(f"# {item.verdict}: {item.item} {item.ours:.6g}")


def _found(paper: str) -> Findings:
    if paper == "huang2011":
        campaign.FORMS["short"] = campaign.PART
        return PAPERS[paper].run(Bench())
    for reading in part.LEFT_OUT:
        del CHOICES[reading]
    for module, name, value in part.REPLACED:
        setattr(module, name, value)
    return part.PAPER.run(Bench())


if __name__ == "__main__":
    main()
