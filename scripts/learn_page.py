"""Generate docs/learn.md and its pictures from the chapters of `writeamp explore`.

Page and pictures depend on chapters.toml, the drawings and the policies. `make generate` writes
them. The scripts of the explorer draw the pictures under Node.js.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from writeamp.explorer.chapters import Chapter, chapters, recordings
from writeamp.pages.frame import source

DOCS = Path(__file__).resolve().parent.parent / "docs"
DRAWING = Path(__file__).with_name("learn_pictures.js")

_HEAD = """# Learn: why flash writes more than its host

<!-- written by `make generate` from the chapters of `writeamp explore`; change them there -->
Ten chapters, from one overwritten page to Wolf's groups and the swap of HCWF. Each has a picture of
a small drive with all of its pages, a command to try, and a question with its answer. The
[glossary](glossary.md) explains the words. In the browser, the same chapters run step by step,
beside two drives of your own:

```
writeamp explore --workload hot-cold:f=0.1,r=0.9 --managers single,hcwf-swap --out explore.html
```

That page is one file and needs no network ([how to use it](explore.md)). In the pictures:

- a square is a page, and a number is its block;
- hatched pages are invalid, empty ones free;
- the drives have 320 logical pages and 24 blocks of 16 pages, an over-provisioning op of 0.2,
  unless a chapter has other sizes;
- WA is that of the 3,000 host writes after the first filling.
"""
_OF_PICTURE = """
svg.drive { width: auto; }
.ground { fill: var(--background); }
svg.drive .name { font-size: 12px; font-weight: 600; }
"""


def pictures() -> dict[Path, str]:
    """Return the scenes as SVG, drawn by the scripts of the explorer under Node.js."""
    recorded = recordings()
    drawn_chapters = chapters(recorded)
    colours = source("writeamp.pages", "style.css").split("\n* {")[0]
    styles = colours + "\n" + source("writeamp.explorer", "drive.css") + _OF_PICTURE
    scripts = [source("writeamp.explorer", name) for name in ("reducer.js", "drawing.js")]
    program = "\n".join([*scripts, DRAWING.read_text("utf-8")])
    request = {
        "recordings": {name: recording.document() for name, recording in recorded.items()},
        "scenes": [chapter.scene.document() for chapter in drawn_chapters],
        "styles": styles,
    }
    done = subprocess.run(
        ["node", "-e", program],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    drawn: list[str] = json.loads(done.stdout)
    return {DOCS / _image(number): picture for number, picture in enumerate(drawn, 1)}


def page() -> dict[Path, str]:
    """Return docs/learn.md with its text."""
    all_chapters = chapters(recordings())
    text = "\n".join(
        [_HEAD, *(_chapter(number, chapter) for number, chapter in enumerate(all_chapters, 1))]
    )
    return {DOCS / "learn.md": text}


def _image(number: int) -> str:
    return f"images/learn-{number}.svg"


def _chapter(number: int, chapter: Chapter) -> str:
    return f"""## {number}. {chapter.title}
{chapter.text}

![{chapter.title}]({_image(number)})

Look: {chapter.look}

```
{chapter.command}
```

**{chapter.question}**

<details><summary>Answer</summary>{chapter.answer}</details>
"""
