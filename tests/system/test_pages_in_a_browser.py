"""Frame of pages in a browser: readable, printed, and deaf to text that was not escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser import PHONE, chromium, opened, overflow_px, serious
from writeamp.pages.frame import page

__all__ = ["chromium"]

BODY = """<main><h1>A page</h1><p class="answer">Text <a href="#x">link</a></p>
<p class="muted">muted</p><p class="good">good</p><p class="warning">warning</p>
<p class="bad">bad</p><pre tabindex="0">code</pre><button type="button">Press</button>
<div class="scroll" tabindex="0"><table><caption>Rows</caption><tr><th>name</th>
<th class="number">number</th></tr><tr><td>a</td><td class="number">1</td></tr></table></div>
</main>"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_frame_is_readable(chromium: Any, tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(page("A page", BODY, scripts=["document.title = 'ran';"]))
    with opened(chromium, path, color_scheme=scheme, viewport=PHONE) as tab:
        assert tab.title() == "ran"
        assert overflow_px(tab) == 0
        assert serious(tab) == []


def test_what_is_not_escaped_does_not_run(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(page("A page", "<img src='data:,' onerror=\"document.title='bad'\">"))
    where = chromium.new_context()
    tab = where.new_page()
    tab.goto(path.as_uri())
    tab.wait_for_timeout(100)
    assert tab.title() == "A page"
    where.close()
