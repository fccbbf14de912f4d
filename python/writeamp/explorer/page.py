"""Page of `writeamp explore` in one file: ten chapters, and the drives of the user."""

from __future__ import annotations

from collections.abc import Sequence

from writeamp.errors import WriteampError
from writeamp.explorer.chapters import Chapter, Scene, chapters, recordings, words
from writeamp.explorer.recording import Recording
from writeamp.pages.frame import page, source
from writeamp.text import html_text

_MOST_BYTES = 3_000_000
_SCRIPTS = ("reducer.js", "drawing.js", "player.js")
_STYLES = ("drive.css", "explore.css")
_OWN = "yours"
_TITLE = "A flash drive, step by step"


def explore_page(requested: Sequence[Recording]) -> bytes:
    """Return the page: the chapters, and recordings of one or two drives of the user.

    Raises:
        WriteampError: the recordings have so many events that the page would be too large.
    """
    recorded = recordings()
    chapter_list = chapters(recorded)
    own = {f"{_OWN}-{number}": recording for number, recording in enumerate(requested, 1)}
    scenes = {_anchor(number): chapter.scene for number, chapter in enumerate(chapter_list, 1)}
    scenes[_OWN] = Scene(tuple(own), "origin", requested[0].filled, 0, 0)
    html = page(
        _TITLE,
        _body(chapter_list, requested),
        styles=[source(__package__, name) for name in _STYLES],
        scripts=["\n".join(source(__package__, name) for name in _SCRIPTS)],
        data={
            "recordings": {
                name: recording.document() for name, recording in (recorded | own).items()
            },
            "scenes": {name: scene.document() for name, scene in scenes.items()},
        },
    )
    if len(html) > _MOST_BYTES:
        raise WriteampError(
            f"the page would have {len(html):,} bytes; the limit is {_MOST_BYTES:,}, so that it "
            "opens quickly; use fewer writes, fewer blocks, or one manager"
        )
    return html


def _anchor(number: int) -> str:
    return f"chapter-{number}"


def _body(chapter_list: Sequence[Chapter], requested: Sequence[Recording]) -> str:
    titles = [chapter.title for chapter in chapter_list]
    names = " against ".join(recording.name for recording in requested)
    own = f"Your drives: {names}" if len(requested) > 1 else f"Your drive: {names}"
    links = [
        f'<li><a href="#{_anchor(number)}">{html_text(chapter_title)}</a></li>'
        for number, chapter_title in enumerate(titles, 1)
    ]
    elements = [
        f"<main><h1>{_TITLE}</h1>",
        '<p class="answer">Why does a solid-state drive write more to its flash than you asked it '
        "to? Ten short chapters show it on a drive so small that every page is visible. All that "
        "moves here was recorded from a simulated drive.</p>",
        f'<nav aria-label="Chapters"><ol>{"".join(links)}</ol>'
        f'<p><a href="#{_OWN}">{html_text(own)}</a></p></nav>',
        *(_article(number, chapter, titles) for number, chapter in enumerate(chapter_list, 1)),
        f'<article id="{_OWN}" hidden><h2 tabindex="-1">{html_text(own)}</h2>'
        f'<p>{_own_text(requested)}</p><div class="slot"></div></article>',
        _PLAYER,
        _words(),
        "</main>",
    ]
    return "\n".join(elements)


def _article(number: int, chapter: Chapter, titles: Sequence[str]) -> str:
    previous_link = (
        number > 1 and f'<a href="#{_anchor(number - 1)}">← {html_text(titles[number - 2])}</a>'
    )
    has_next = number < len(titles)
    after, title = (_anchor(number + 1), titles[number]) if has_next else (_OWN, "Your own")
    return (
        f'<article id="{_anchor(number)}" hidden><h2 tabindex="-1">{number}. '
        f"{html_text(chapter.title)}</h2><p>{html_text(chapter.text)}</p>"
        f'<p class="look"><strong>Look:</strong> {html_text(chapter.look)}</p>'
        '<div class="slot"></div>'
        f"<h3>Question</h3><p>{html_text(chapter.question)}</p>"
        f"<details><summary>Answer</summary><p>{html_text(chapter.answer)}</p></details>"
        f"<h3>Try</h3><pre>{html_text(chapter.command)}</pre>"
        f'<p class="pages"><span>{previous_link or ""}</span>'
        f'<a href="#{after}">{html_text(title)} →</a></p></article>'
    )


def _own_text(requested: Sequence[Recording]) -> str:
    drive = requested[0].drive
    both = "Both drives get the same writes" if len(requested) > 1 else "The drive gets writes"
    return html_text(
        f"{both} of the workload {requested[0].workload}: each of the {drive.logical_pages} pages "
        f"once, in order, and then {requested[0].host_pages} more. "
        f"There are {drive.geometry.blocks} blocks "
        f"of {drive.geometry.pages_per_block} pages, op {drive.op:.3g}."
    )


def _words() -> str:
    listed = "".join(
        f"<dt>{html_text(term)}</dt><dd>{html_text(meaning)}</dd>"
        for term, meaning in words().items()
    )
    return f"<details><summary>Words used here</summary><dl>{listed}</dl></details>"


def _drive_box(which: int) -> str:
    return (
        f'<section class="drive-box" id="drive-{which}" aria-label="Drive {which + 1}"><h3></h3>'
        '<p class="policy"></p><p class="sentence"></p><div class="picture"></div>'
        '<div><div class="causes"></div><div class="choice"></div></div></section>'
    )


def _range(name: str, label: str, attributes: str) -> str:
    return (
        f'<span class="range"><label for="{name}">{label}</label><input type="range" id="{name}" '
        f'{attributes}><output id="{name}-text" for="{name}"></output></span>'
    )


_BUTTONS = (
    ("back", "◀ Back", "←"),
    ("play", "Play", "space"),
    ("forward", "Step ▶", "→"),
    ("write", "Next write", "w"),
    ("collection", "Next collection", "n"),
    ("restart", "Restart", "r"),
)
_PLAYER = (
    '<section id="player" aria-label="The drives in motion">'
    f'<div id="drives">{_drive_box(0)}{_drive_box(1)}</div>'
    '<div class="controls screen">'
    + "".join(
        f'<button type="button" id="{name}" title="key: {key}">{label}</button>'
        for name, label, key in _BUTTONS
    )
    + '</div><ul id="legend" aria-label="Legend"></ul><div class="settings screen">'
    + _range("place", "Host write", 'min="0" max="1" step="1" value="0"')
    + _range("speed", "Speed", 'min="0" max="9" step="1" value="2"')
    + '<span class="range"><label for="colouring">Colours</label><select id="colouring"></select>'
    "</span></div>"
    '<h3>Write amplification so far</h3><p class="muted"><span id="series-names"></span> '
    '(<span id="workload"></span>)</p>'
    '<div id="series"></div>'
    '<p class="muted screen">Keys: space plays and pauses, → and ← step, w goes to the next write, '
    "n to the next collection, r restarts the scene, + and − change the speed.</p></section>"
)
