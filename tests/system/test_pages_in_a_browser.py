"""Pages in headless Chromium: their frame, HTML figures, reports, and what axe says of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from browser import PHONE, chromium, opened, overflow_px, serious
from in_process import run
from patience import await_value
from reported import ANSWER, COUNTERS, DOCTOR, HOSTILE, reported
from writeamp.pages.frame import page as framed
from writeamp.plots import save
from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
from writeamp.plots.figures.wa_over_time import WaSeries, wa_over_time
from writeamp.reports.html import report_page
from writeamp_papers.gallery import write_gallery

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
    path.write_bytes(framed("A page", BODY, scripts=["document.title = 'ran';"]))
    with opened(chromium, path, color_scheme=scheme, viewport=PHONE) as tab:
        assert tab.title() == "ran"
        assert overflow_px(tab) == 0
        assert serious(tab) == []


def test_what_is_not_escaped_does_not_run(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(framed("A page", "<img src='data:,' onerror=\"document.title='bad'\">"))
    where = chromium.new_context()
    tab = where.new_page()
    tab.goto(path.as_uri())
    tab.wait_for_timeout(100)
    assert tab.title() == "A page"
    where.close()


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


POINTS = 1000
WA_FIGURE = wa_over_time([WaSeries("run", [1, 2, 3], [1, 2, 2])], title="Fig. 1", subtitle="")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a run on a small drive."""
    path = tmp_path_factory.mktemp("page") / "run.html"
    drive = "--blocks 64 --pages-per-block 64 --op 0.15 --writes 40000 --warmup 10000"
    done = run("simulate", f"{drive} --workload hot-cold:f=0.1,r=0.9 --report {path}")
    assert done.status == 0, done.err
    return path


@pytest.mark.parametrize(
    "how",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"viewport": PHONE}],
    ids=["light", "dark", "phone"],
)
def test_a_page_is_readable(chromium: Any, page: Path, how: dict[str, Any]) -> None:
    with opened(chromium, page, **how) as tab:
        assert overflow_px(tab) == 0
        charts = tab.locator("figure svg:visible")
        assert charts.count() == 5
        for chart in charts.all():
            assert chart.evaluate("of => of.scrollWidth <= of.parentElement.clientWidth")
            # Its text is as large as small text of the page, also on a phone.
            scale = chart.evaluate("of => of.getScreenCTM().a")
            assert 10 * scale > 11
        tab.locator("summary").click()
        assert serious(tab) == []


@pytest.mark.parametrize("found", [ANSWER, DOCTOR, COUNTERS], ids=["answer", "doctor", "counters"])
def test_pages_with_text_of_others_show_it(
    chromium: Any, tmp_path: Path, found: dict[str, Any]
) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(report_page(reported(found)))
    with opened(chromium, path) as tab:
        assert tab.title() == "writeamp answer"
        tab.locator("summary").first.click() if tab.locator("summary").count() else None
        assert "onerror=" in tab.inner_text("body")
        assert serious(tab) == []


def test_a_page_prints_in_dark_ink(chromium: Any, page: Path) -> None:
    with opened(chromium, page, color_scheme="dark") as tab:
        tab.emulate_media(media="print", color_scheme="dark")
        assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert not tab.locator("input[type=range]").first.is_visible()
        assert not tab.locator("button").first.is_visible()
        assert len(tab.pdf()) > 10_000


def test_sliders_change_the_numbers_and_go_back(chromium: Any, page: Path) -> None:
    def cells(tab: Any) -> list[str]:
        return tab.locator("[data-row]").all_text_contents()

    with opened(chromium, page) as tab:
        before = cells(tab)
        assert before[0] == f"{wa.models.expected_value(op_of(tab)):.3f}"
        assert tab.locator("#if-hot").input_value() == "0.1"
        for name in ("op", "hot", "writes"):
            now = cells(tab)
            tab.focus(f"#if-{name}")
            for _ in range(5):
                tab.keyboard.press("ArrowLeft")
            assert cells(tab) != now, name
        tab.click("form.what-if button")
        assert cells(tab) == before


def op_of(tab: Any) -> float:
    """Return the op that the page's slider begins with."""
    return float(tab.get_attribute("form.what-if", "data-op"))


def test_the_page_copies_its_markdown(chromium: Any, page: Path) -> None:
    with opened(chromium, page, permissions=["clipboard-read", "clipboard-write"]) as tab:
        tab.click("button[data-copies]")
        await_value(lambda: tab.inner_text("#copied"))
        assert tab.inner_text("#copied") == "Copied."
        copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == run("report", str(page)).out


def test_the_models_of_the_page_are_those_of_the_library(chromium: Any, page: Path) -> None:
    draw = random.Random(1)
    points = [
        {
            "op": 10 ** draw.uniform(-2, 1),
            "pages": draw.choice([4, 16, 64, 128, 256]),
            "d": draw.choice([1, 2, 5, 10, 50, 1000]),
            "used": draw.uniform(0.1, 1),
            "hot": draw.uniform(0.01, 0.99),
            "writes": draw.uniform(0.01, 0.99),
        }
        for _ in range(POINTS)
    ]
    with opened(chromium, page) as tab:
        found = tab.evaluate(
            """(points) => points.map((p) => [
                models.expectedValue(p.op),
                models.uniformDistribution(p.op),
                models.markov(p.op, p.pages),
                models.dChoices(p.op / (1 + p.op), p.pages, p.d),
                models.dChoices(p.op / (1 + p.op), p.pages, Infinity),
                models.expectedValue(models.effectiveOp(p.op, p.used, p.hot * p.used)),
                models.dividedBest(p.op, p.hot, p.writes),
            ])""",
            points,
        )
    op, pages, d, used, hot, writes = np.array([list(one.values()) for one in points]).T
    theory, spare = wa.models, op / (1 + op)
    expected = np.array(
        [
            theory.expected_value(op),
            theory.uniform_distribution(op),
            theory.markov(op, pages),
            theory.d_choices(spare, pages, d),
            theory.d_choices(spare, pages, np.inf),
            theory.expected_value(theory.effective_op(op, used, hot * used)),
            wa.allocation.optimal(
                np.stack([hot, 1 - hot], -1), np.stack([writes, 1 - writes], -1), op
            ).wa,
        ]
    )
    np.testing.assert_allclose(np.array(found).T, expected, rtol=1e-9)


def test_the_gallery_of_papers_shows_numbers_and_figures(chromium: Any, tmp_path: Path) -> None:
    item = {
        "item": f"Table 1 {HOSTILE}",
        "published": 2.0,
        "ours": 2.1,
        "verdict": "erratum",
        "note": "the print is off",
    }
    reading = {"name": "as printed", "default": True, "matches": 1, "comparable": 2}
    document = {"items": [item, item | {"verdict": "match"}], "readings": [reading]}
    (tmp_path / "park2017.json").write_text(json.dumps(document))
    (tmp_path / "park2017").mkdir()
    save(WA_FIGURE, tmp_path / "park2017" / "fig1.png")
    path = write_gallery(tmp_path)
    context = chromium.new_context(viewport=PHONE)
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert tab.evaluate("document.images[0].decode().then(() => document.images[0].width)") > 0
    assert tab.title() != "bad"
    assert overflow_px(tab) == 0
    assert "1 of 2" in tab.inner_text("main")
    assert "the print is off" in tab.inner_text("main")
    tab.click("summary")
    assert serious(tab) == []
    context.close()
