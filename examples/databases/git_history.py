"""A made-up history for `git fast-import`, the same each time: git_history.py FILES COMMITS."""

from __future__ import annotations

import random
import sys

LINES = 200
CHANGED_FILES = 5
WHO = "A <a@example.org>"


def main() -> None:
    files, commits = map(int, sys.argv[1:])
    draw = random.Random(1)

    def line() -> str:
        return " ".join(f"{draw.getrandbits(32):x}" for _ in range(6)) + "\n"

    content = [[line() for _ in range(LINES)] for _ in range(files)]
    out = sys.stdout
    for commit in range(commits):
        out.write(f"commit refs/heads/master\ncommitter {WHO} {1_700_000_000 + commit} +0000\n")
        out.write(f"data {len(str(commit))}\n{commit}\n")
        changed = range(files) if commit == 0 else draw.sample(range(files), CHANGED_FILES)
        for file in changed:
            content[file][draw.randrange(LINES)] = line()
            text = "".join(content[file])
            out.write(f"M 644 inline file-{file}\ndata {len(text)}\n{text}\n")
    out.write("done\n")


if __name__ == "__main__":
    main()
