"""Headless Chromium that opens pages, and rules of a page: no error, nothing serious.

A module starts it once, by the fixture `chromium`:

    from browser import chromium, opened

    def test_page(chromium, tmp_path):
        with opened(chromium, path) as tab:
            tab.click("button")
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patience import PATIENCE_S
from places import ROOT

AXE = ROOT / "build" / "node" / "node_modules" / "axe-core" / "axe.min.js"
PHONE = {"width": 360, "height": 740}
_PATIENCE_MS = 1000 * PATIENCE_S


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start the browser once a module; where there is none, its tests say so and skip."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed; scripts/install_test_programs.sh does it")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as started:
        # Root's browser has no sandbox to start in; the pages are ours.
        browser = started.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=_PATIENCE_MS
        )
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, path: Path, **context: Any) -> Iterator[Any]:
    """Open a page from its file without a network; no error may have come up when it closes.

    Args:
        browser: what the fixture gives.
        path: the file.
        context: of Playwright's `new_context`, such as `color_scheme` or `viewport`.
    """
    where = browser.new_context(offline=True, **context)
    where.set_default_timeout(_PATIENCE_MS)
    tab = where.new_page()
    said: list[str] = []
    tab.on("console", lambda one: said.append(f"{one.type}: {one.text}"))
    tab.on("pageerror", lambda error: said.append(f"error: {error}"))
    asked: list[str] = []
    tab.on("request", lambda one: asked.append(one.url))
    try:
        tab.goto(path.as_uri())
        yield tab
        assert said == []
        assert asked == [path.as_uri()]
    finally:
        where.close()


def serious(tab: Any) -> list[str]:
    """Return what axe finds in a page of serious or critical impact, a sentence each."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed; scripts/install_test_programs.sh does it by npm")
    tab.evaluate(AXE.read_text("utf-8"))
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def overflow_px(tab: Any) -> int:
    """Return by how much a page is wider than its window."""
    found: int = tab.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return found
