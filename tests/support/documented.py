"""Commands and code blocks of pages, and a shell script of them for scripts/check_wheel.sh."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return language and text of each fenced block of a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands_of(block: str) -> list[str]:
    """Return the commands of a block, without prompt, comment and redirection."""
    found = []
    for line in block.replace("\\\n", "").splitlines():
        command = line.removeprefix("$ ")
        # Other lines are outputs, whose quotes may be apostrophes.
        if command.startswith("writeamp "):
            words = shlex.split(command, comments=True)
            end = words.index(">") if ">" in words else None
            found.append(shlex.join(words[:end]))
    return found


def script_of(page: Path) -> str:
    """Return a page's commands, and its Python blocks, as lines of a shell script."""
    lines = []
    for language, text in blocks(page):
        if language == "python":
            lines.append(f"python - <<'END'\n{text}END")
        lines += commands_of(text)
    return "\n".join(lines)


if __name__ == "__main__":
    print(*(script_of(Path(name)) for name in sys.argv[1:]), sep="\n")
