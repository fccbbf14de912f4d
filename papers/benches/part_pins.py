"""Pins of the part of paper 2 (Huang et al. 2011) that `make test` runs.

Run `.venv/bin/python papers/benches/part_pins.py` to print the verdicts of the part's items, as
comments, and the pins of those that differ, for the group of form "part" in `known.toml`. It takes
half a minute.
"""

from __future__ import annotations

from writeamp_papers import PAPERS, Bench
from writeamp_papers.huang2011 import campaign

# A pinned value may change by 3%.
_TOLERANCE = 0.03


def main() -> None:
    """Compute the part, and print its verdicts and pins."""
    campaign.FORMS["short"] = campaign.PART
    findings = PAPERS["huang2011"].run(Bench())
    for item in findings.items:
        if item.verdict == "differs":
            print(f'"{item.item}" = [{item.ours:.6g}, {_TOLERANCE * abs(item.ours):.2g}]')
        else:
            print(f"# {item.verdict}: {item.item} {item.ours:.6g}")


if __name__ == "__main__":
    main()
