"""Four corners of data sheets beside those of the profiles that are held against them.

Sustained random writes stand there twice: with shorter blocks, and with fewer of full length.

`.venv/bin/python benches/corners.py [PROFILE]...` prints a table, and writes it to
benches/results/ when no profile is named.
"""

from __future__ import annotations

import argparse
import datetime
import time

from run import HERE, machine

from writeamp.devices.profile import profile, profile_names
from writeamp.testing.corners import MOST_PAGES, measured_corners, random_writes_of_whole_blocks

HEAD = (
    "| profile | product | corner | data sheet | measured | ratio | computing, s |\n"
    "|---|---|---|---|---|---|---|"
)


def rows(name: str, most_pages: int) -> list[str]:
    """Return a row for each corner; the time is that of all of them."""
    sheet = profile(name).data_sheet
    assert sheet is not None
    began = time.process_time()
    found = [(one.name, one) for one in measured_corners(name, most_pages=most_pages)]
    if sheet.state == "sustained":
        whole = random_writes_of_whole_blocks(name)
        found.append((f"{whole.name}, whole blocks", whole))
    seconds = time.process_time() - began
    return [
        f"| `{name}` | {sheet.product}, {sheet.state} | {words} | {one.promised:,.0f} | "
        f"{one.measured:,.0f} | {one.ratio:.2f} | {seconds:.0f} |"
        for words, one in found
    ]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("profiles", nargs="*", metavar="PROFILE")
    asked.add_argument("--most-pages", type=int, default=MOST_PAGES)
    given = asked.parse_args()
    held = [name for name in profile_names() if profile(name).data_sheet is not None]
    lines = [HEAD]
    for name in given.profiles or held:
        lines += rows(name, given.most_pages)
    table = "\n".join(lines)
    print(table)
    if not given.profiles:
        today = datetime.date.today()
        title = f"# Four corners of data sheets, {today}\n{machine()}\n\n"
        (HERE / "results" / f"{today}-corners.md").write_text(f"{title}{table}\n", "utf-8")


if __name__ == "__main__":
    main()
