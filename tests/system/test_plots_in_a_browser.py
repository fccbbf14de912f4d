"""HTML figures in headless Chromium: values, series that hide, zoom, and what axe says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import PHONE, chromium, opened, overflow_px, serious
from writeamp.plots import save
from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
from writeamp.plots.figures.wa_over_time import WaSeries, wa_over_time

__all__ = ["chromium"]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Draw two runs over time."""
    x = np.arange(1, 81) / 8
    runs = [
        WaSeries("fast", x, 2 + np.sin(x), 2.0, 2.0, 1.9, 2.1),
        WaSeries("slow", x, 4 + np.sin(x), 2.0, 4.0, 3.9, 4.1),
    ]
    path = tmp_path_factory.mktemp("figure") / "lines.html"
    save(wa_over_time(runs, [("Markov", 3.0)], title="Two runs", subtitle="op = 0.1"), path)
    return path


def visible(tab: Any, series: int) -> int:
    """Return how many parts of a series are shown."""
    return tab.evaluate(
        """(at) => [...document.querySelectorAll(`[id^="series-${at}-"]`)]
            .filter((one) => !one.classList.contains("hidden")).length""",
        series,
    )


@pytest.mark.parametrize("how", [{"color_scheme": "dark"}, {"viewport": PHONE}])
def test_a_figure_is_readable(chromium: Any, lines: Path, how: dict[str, Any]) -> None:
    with opened(chromium, lines, **how) as tab:
        assert overflow_px(tab) == 0
        assert serious(tab) == []


def test_the_legend_hides_and_shows_a_series_and_its_values(chromium: Any, lines: Path) -> None:
    with opened(chromium, lines, viewport={"width": 1000, "height": 800}) as tab:
        slow = tab.locator('[role="button"]', has_text="slow")
        number = int(slow.get_attribute("id").split("-")[1])
        parts, others = visible(tab, number), visible(tab, 0)
        assert parts >= 2  # the warm-up is drawn by itself
        assert others >= 2
        assert "slow" in said_at(tab, number)
        slow.click()
        assert slow.get_attribute("aria-pressed") == "false"
        assert (visible(tab, number), visible(tab, 0)) == (0, others)
        assert "slow" not in said_at(tab, number)
        slow.focus()
        tab.keyboard.press("Enter")
        assert visible(tab, number) == parts


def said_at(tab: Any, series: int) -> str:
    """Return what is said where a value of a series is."""
    x, y = tab.evaluate(
        """(at) => {
            const box = document.querySelector("#picture svg").getBoundingClientRect();
            const found = JSON.parse(document.getElementById("values").textContent)
                .filter((one) => one[4] === at && one[2].includes("\\n"));
            const [x, y] = found[Math.floor(found.length / 2)];
            return [box.left + x * box.width, box.top + y * box.height];
        }""",
        series,
    )
    tab.mouse.move(x, y)
    return tab.text_content("#value") if tab.locator("#value").is_visible() else ""


def test_a_rectangle_is_shown_larger_and_its_axes_say_so(chromium: Any, lines: Path) -> None:
    with opened(chromium, lines, viewport={"width": 1000, "height": 800}) as tab:
        box = tab.locator("#picture > svg").bounding_box()
        [axes] = tab.evaluate("JSON.parse(document.getElementById('axes').textContent)")
        left, top, right, bottom = axes["box"]

        def at(across: float, down: float) -> tuple[float, float]:
            x, y = left + across * (right - left), top + down * (bottom - top)
            return box["x"] + x * box["width"], box["y"] + y * box["height"]

        assert tab.locator("#whole").is_disabled()
        tab.mouse.move(*at(0.5, 0.5))
        tab.mouse.down()
        tab.mouse.move(*at(0.75, 1.0))
        tab.mouse.up()
        view = tab.get_attribute("#axes-0 > svg", "viewBox").split()
        ticks = [
            float(one) for one in tab.locator("#axes-0 > g:not([id]) text").all_text_contents()
        ]
        low, high = axes["x"]
        of_x = [one for one in ticks if one >= low + 0.49 * (high - low)]
        assert of_x
        assert all(one <= low + 0.76 * (high - low) for one in of_x)
        assert float(view[2]) == pytest.approx(0.25 * (right - left) * width_of(tab), rel=0.02)
        # The point under the pointer is told at its new place.
        tab.mouse.move(*at(0.5, 0.5))
        tab.click("#whole")
        assert tab.locator("#whole").is_disabled()
        assert tab.locator("#axes-0 > g:not([id]) text").count() == 0


def width_of(tab: Any) -> float:
    """Return the width of the drawing in its own units."""
    return float(tab.get_attribute("#picture > svg", "viewBox").split()[2])


def test_the_layers_of_bars_hide_too(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "bars.html"
    rows = [PolicyResult(name, 2.0, {"host": 1, "gc": 1}) for name in ("a", "b")]
    save(wa_by_policy(rows, title="t", subtitle="s"), path)
    with opened(chromium, path) as tab:
        collected = tab.locator('[role="button"]', has_text="garbage")
        number = int(collected.get_attribute("id").split("-")[1])
        assert visible(tab, number) == 2
        collected.click()
        assert visible(tab, number) == 0
        assert tab.locator("#whole").is_hidden()
