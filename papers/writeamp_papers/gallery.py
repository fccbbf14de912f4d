"""Gallery of reproduced papers: printed and computed numbers, verdicts and figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from writeamp.errors import WriteampError
from writeamp.files.inputs import read_bytes
from writeamp.files.output import replacing
from writeamp.pages.frame import page, source
from writeamp.reports.html import block_html
from writeamp.reports.report import Paragraph, Rows
from writeamp.reports.values import number, rows, texts, words
from writeamp.text import html_text
from writeamp_papers import PAPERS
from writeamp_papers.items import VERDICTS
from writeamp_papers.known import known_differences

_MOST_BYTES = 64 << 20
_NAME = "index.html"
_TITLE = "Papers on write amplification, reproduced"
# Each of these verdicts has a table of its items under this heading, before the table of all items.
_SHOWN = {
    "differs": "Differs from the print under every reading (interpretation of the text)",
    "match-if": "Matches under another reading of the text",
    "erratum": "Errata: the print is wrong, the computed value is right",
    "not-comparable": "Not comparable: a program cannot compute the number",
}
_STYLE = """
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); }
.figures figure { margin: 0; }
.figures img { background: white; border: 1px solid var(--grid); display: block; max-width: 100%; }
"""


def write_gallery(folder: Path) -> Path:
    """Write the gallery of the papers with results in a folder, and return its path.

    Args:
        folder: folder with a file PAPER.json for each paper, as `writeamp reproduce PAPER --json`
            prints it, and with the figures of `--plots` in PAPER/.

    Raises:
        WriteampError: the folder has no result, a result is damaged, or the page cannot be written.
    """
    documents = {
        name: _document(folder / f"{name}.json")
        for name in PAPERS
        if (folder / f"{name}.json").is_file()
    }
    if not documents:
        raise WriteampError(
            f"{str(folder)!r} has no result of a paper; create results with `make reproduce` or "
            "`writeamp reproduce PAPER --json`"
        )
    target = folder / _NAME
    with replacing(target, "gallery") as file:
        file.write(gallery_page(documents, folder))
    return target


def gallery_page(documents: Mapping[str, Mapping[str, Any]], folder: Path) -> bytes:
    """Return the page of some papers' documents, with the figures in a folder."""
    return page(
        _TITLE,
        "\n".join(_body(documents, folder)),
        styles=[source("writeamp.reports", "report.css"), _STYLE],
        has_images_beside=True,
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_bytes(path, _MOST_BYTES, "result"))
    except (OSError, ValueError) as error:
        raise WriteampError(f"{path} is not a result of `reproduce --json`: {error}") from None
    if not (isinstance(document, dict) and rows(document, "items")):
        raise WriteampError(f"{path} is not a result of `reproduce --json`: it has no items")
    return document


def _body(documents: Mapping[str, Mapping[str, Any]], folder: Path) -> Iterator[str]:
    yield f"<header><h1>{html_text(_TITLE)}</h1>"
    items = [item for document in documents.values() for item in rows(document, "items")]
    count = Counter(words(item, "verdict") for item in items)
    yield block_html(
        Paragraph(f"{len(items)} numbers of {len(documents)} papers: {_counted(count)}.", "answer")
    )
    yield "</header><main>"
    yield block_html(_overview(documents))
    for name, document in documents.items():
        yield from _paper(name, document, folder)
    yield (
        "</main><footer><p>Made by <code>make reproduce</code> of writeamp. A verdict follows from "
        "the numbers alone: papers/docs/reproduce.md.</p></footer>"
    )


def _counted(count: Mapping[str, int]) -> str:
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS if count.get(verdict))


def _overview(documents: Mapping[str, Mapping[str, Any]]) -> Rows:
    lines = []
    for name, document in documents.items():
        count = Counter(words(item, "verdict") for item in rows(document, "items"))
        default = next(
            (reading for reading in rows(document, "readings") if reading.get("default")), {}
        )
        of = f"{number(default, 'matches') or 0:.0f} of {number(default, 'comparable') or 0:.0f}"
        lines.append([name, of, *(str(count[verdict]) for verdict in VERDICTS)])
    columns = [
        "paper",
        ">match under the default reading",
        *(f">{verdict}" for verdict in VERDICTS),
    ]
    return Rows(columns, lines)


def _paper(name: str, document: Mapping[str, Any], folder: Path) -> Iterator[str]:
    heading = html_text(name)
    yield f'<section id="{heading}" aria-label="{heading}"><h2>{heading}</h2>'
    yield block_html(Paragraph(PAPERS[name].citation))
    for sentence in texts(document, "unexpected"):
        yield block_html(Paragraph(f"Unexpected: {sentence}", "bad"))
    for sentence in texts(document, "skipped"):
        yield block_html(Paragraph(f"Skipped: {sentence}", "warning"))
    yield from _figures(folder, name)
    items = rows(document, "items")
    for verdict, title in _SHOWN.items():
        of_it = [item for item in items if item.get("verdict") == verdict]
        if of_it:
            yield f"<h3>{html_text(title)}</h3>"
            yield block_html(_table(name, of_it))
    yield f"<details><summary>All {len(items)} numbers</summary>"
    yield block_html(_table(name, items))
    yield "</details></section>"


def _table(name: str, items: list[Mapping[str, Any]]) -> Rows:
    reasons = {
        item: difference.reason
        for form in ("short", "full")
        for item, difference in known_differences(name, form).items()
    }
    return Rows(
        ["item", ">published", ">computed", "verdict", "remark"],
        [
            [
                words(item, "item"),
                f"{_sign(item)}{_shown(number(item, 'published'))}",
                _shown(number(item, "ours")),
                words(item, "verdict"),
                _remark(item, reasons),
            ]
            for item in items
        ],
    )


def _remark(item: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    is_pinned = item.get("verdict") == "differs"
    reason = reasons.get(words(item, "item"), "") if is_pinned else ""
    return "; ".join(sentence.rstrip(".") for sentence in (reason, words(item, "note")) if sentence)


def _sign(item: Mapping[str, Any]) -> str:
    if item.get("kind") == "ordering":
        return "< "
    return "≤ " if item.get("bound") is True else ""


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _figures(folder: Path, name: str) -> Iterator[str]:
    pictures = sorted((folder / name).glob("*.png"))
    if not pictures:
        return
    yield '<div class="figures">'
    for picture in pictures:
        where = html_text(quote(f"{name}/{picture.name}"))
        title = html_text(picture.stem.replace("_", " "))
        yield (
            f'<figure><a href="{where}"><img src="{where}" alt="Figure: {title}" loading="lazy">'
            f"</a><figcaption>{title}</figcaption></figure>"
        )
    yield "</div>"
