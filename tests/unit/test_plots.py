"""Files of figures: their content, and the leftovers when one cannot be written."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from charts import (
    FIGURES,
    SUBTITLE,
    bars,
    by_policy,
    over_time,
    over_time_with_groups,
    words_in,
)
from refusals import refusal
from writeamp.plots import FigureSpec, PolicyResult, WaSeries, check_target, save, wa_over_time
from writeamp.plots.output import inline_svg

SIGNATURES = {
    "png": b"\x89PNG\r\n\x1a\n",
    "svg": b"<?xml",
    "pdf": b"%PDF-",
    "html": b"<!doctype html>",
}
COMMON = ["and a subtitle", "x axis", "y axis"]
TEXTS = {
    "over time": [
        "Write amplification over time",
        SUBTITLE,
        "greedy: 1.855 ± 0.003",
        "d-choices:d=10",
        "expected-value: 1.876",
        "markov: 1.854",
        "end of the warm-up (not counted)",
        "drive writes (host pages written / logical pages)",
        "flash pages programmed per host page written",
    ],
    "with groups": [
        "wolf: 1.60 ± 0.01",
        "change of the workload",
        "end of the warm-up (not counted)",
        "groups created: 10",
        "groups merged away: 5",
        "blocks moved: 30",
        "(each bar: 0.1 drive writes)",
        "drive writes (host pages written / logical pages)",
    ],
    "by policy": [
        "Write amplification by policy",
        SUBTITLE,
        "greedy",
        "fifo",
        "2.41 ± 0.02",
        "2.800",
        "host writes",
        "garbage collection",
        "wear",
        "expected-value: 2.480",
        "flash pages programmed per host page written",
    ],
    "panels": ["Panels", "panel 0", "panel 2", "a <line>", "points only", "a level", *COMMON],
    "heat maps": ["Heat", "map 0", "map 1", "-70", "+0", "+45", "90", "error (%)", *COMMON],
    "tree": ["Tree", "and a subtitle", "a <root>", "of two lines", "leaf 3"],
}


def values_in(path: Path) -> list[tuple[float, float, str]]:
    """Return what an HTML figure tells of its values, and where, in shares from the upper left."""
    text = path.read_text("utf-8").split('<script type="application/json" id="values">')[1]
    return [(x, y, words) for x, y, words, *_ in json.loads(text.split("</script>")[0])]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with every figure in every kind of file, and nothing else."""
    directory = tmp_path_factory.mktemp("figures")
    for figure, describe in FIGURES.items():
        for kind in SIGNATURES:
            save(describe(), directory / f"{figure}.{kind}")
    return directory


def test_a_suffix_decides_the_type_of_the_file_and_nothing_else_is_left(saved: Path) -> None:
    names = {path.name for path in saved.iterdir()}
    assert names == {f"{figure}.{kind}" for figure in FIGURES for kind in SIGNATURES}
    for path in saved.iterdir():
        content = path.read_bytes()
        assert content.startswith(SIGNATURES[path.suffix.removeprefix(".")])
        assert len(content) > 5_000


@pytest.mark.parametrize("figure", list(FIGURES))
@pytest.mark.parametrize("kind", ["svg", "html"])
def test_the_words_and_numbers_of_a_figure_are_in_its_file_as_text(
    figure: str, kind: str, saved: Path
) -> None:
    content = words_in(saved / f"{figure}.{kind}")
    for text in TEXTS[figure]:
        assert text in content


@pytest.mark.parametrize(
    ("figure", "kind"),
    [*(("by policy", kind) for kind in SIGNATURES), *((figure, "png") for figure in FIGURES)],
)
def test_the_same_figure_gives_the_same_bytes(
    figure: str, kind: str, saved: Path, tmp_path: Path
) -> None:
    save(FIGURES[figure](), tmp_path / f"again.{kind}")
    again, first = tmp_path / f"again.{kind}", saved / f"{figure}.{kind}"
    assert again.read_bytes() == first.read_bytes()


def test_html_is_small_and_needs_neither_network_nor_other_files(saved: Path) -> None:
    for figure in FIGURES:
        content = (saved / f"{figure}.html").read_text("utf-8")
        assert not re.search(r"<(script|link|img)[^>]+(src|href)=|@import|url\(http", content)
        assert len(content) < 100_000


def test_html_of_many_points_stays_below_a_megabyte(tmp_path: Path) -> None:
    x = np.arange(1, 20_001) / 1000
    noise = np.random.default_rng(1).random((3, 20_000))
    runs = [WaSeries(str(at), x, 2 + one, 3.0, 2.5, 2.4, 2.6) for at, one in enumerate(noise)]
    strips = over_time_with_groups(20_000).strips
    save(wa_over_time(runs, title="t", subtitle="s", strips=strips), tmp_path / "out.html")
    assert 50_000 < (tmp_path / "out.html").stat().st_size < 1_000_000


def test_html_tells_the_values_where_they_are_drawn(saved: Path) -> None:
    bars = values_in(saved / "by policy.html")
    of_greedy = [one for one in bars if one[2].startswith("greedy\n2.41 ± 0.02\n")]
    of_fifo = [one for one in bars if one[2].startswith("fifo\n2.800")]
    assert "host writes: 1.0000\ngarbage collection: 1.4120" in of_greedy[0][2]
    assert len({y for _, y, _ in of_greedy}) == len({y for _, y, _ in of_fifo}) == 1
    assert of_greedy[0][1] < of_fifo[0][1]
    # Each bar is told from 0 to its end, on one scale.
    start, longest = of_fifo[0][0], of_fifo[-1][0]
    assert start == of_greedy[0][0]
    assert (of_greedy[-1][0] - start) / (longest - start) == pytest.approx(2.412 / 2.8, rel=1e-3)
    lines = values_in(saved / "over time.html")
    assert any(text.startswith("greedy: 1.855 ± 0.003\n") for *_, text in lines)
    assert all(0 < x < 1 and 0 < y < 1 for x, y, _ in lines)
    found = [(x, float(text.split("\n")[-1].split(", ")[0])) for x, _, text in lines]
    slopes = np.polyfit([at for _, at in found], [x for x, _ in found], 1)
    assert np.polyval(slopes, [at for _, at in found]) == pytest.approx(
        [x for x, _ in found], abs=1e-4
    )


def test_a_figure_in_the_text_of_a_page_keeps_its_texts_as_they_are() -> None:
    title = '#222222 font-family: x; "<b>" 1.23456'
    row = PolicyResult(title, 2.0, {"host": 1, "gc": 1})
    svg = inline_svg(bars(row, title=title))
    assert svg.startswith(f'<svg role="img" aria-label="{html.escape(title)}" stroke-')
    assert f"<title>{html.escape(title)}\n2.000\nhost writes: 1.0000\n" in svg
    assert ET.fromstring(svg).tag == "svg"
    assert "://" not in svg
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg)).replace(" ", "")
    assert html.escape(title, quote=False).replace(" ", "") in shown
    assert "var(--series-1,#0072B2)" in svg
    titled = inline_svg(bars(row, subtitle="s s s"), has_titles=True)
    assert ">s s s</text>" in titled


@pytest.mark.parametrize("kind", ["svg", "html"])
def test_a_label_is_text_and_never_markup(kind: str, tmp_path: Path) -> None:
    row = PolicyResult("<b>$x_1$</b> & co", 2.0, {"host": 1, "gc": 1})
    save(bars(row), tmp_path / f"out.{kind}")
    assert "<b>$x_1$</b> & co" in words_in(tmp_path / f"out.{kind}")
    # Escaped once in the file, so that whoever draws it shows the angle brackets.
    assert "<b>$x_1$" not in (tmp_path / f"out.{kind}").read_text("utf-8")


@pytest.mark.parametrize("name", ["out.gif", "out.PNG.txt", "out", "png", ".svg"])
def test_an_unknown_suffix_lists_the_valid_ones_and_leaves_no_file(
    name: str, tmp_path: Path
) -> None:
    assert "valid: png, svg, pdf, html" in refusal(save, over_time(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_suffix_may_be_in_capitals_and_an_existing_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "OUT.SVG").write_text("old")
    save(by_policy(), tmp_path / "OUT.SVG")
    assert (tmp_path / "OUT.SVG").read_bytes().startswith(b"<?xml")
    assert "greedy" in (tmp_path / "OUT.SVG").read_text("utf-8")
    check_target(tmp_path / "b.HTML")
    assert [path.name for path in tmp_path.iterdir()] == ["OUT.SVG"]


def test_an_unwritable_path_is_one_sentence_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "taken.svg").mkdir()
    (tmp_path / "file").write_text("")
    for target in ("absent/out.svg", "taken.svg", "file/out.svg"):
        sentence = refusal(save, by_policy(), tmp_path / target)
        assert re.match("cannot write plot '.*svg': .", sentence)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken.svg"]
    assert list((tmp_path / "taken.svg").iterdir()) == []


def test_a_figure_that_cannot_be_drawn_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_spec: FigureSpec, _kind: str) -> bytes:
        raise KeyboardInterrupt

    target = tmp_path / "out.svg"
    target.write_text("old")
    monkeypatch.setattr("writeamp.plots.backends.matplotlib_backend.render", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(over_time(), target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.svg"]


def test_the_drawing_library_is_not_imported_before_it_draws() -> None:
    code = "import sys, writeamp.plots;print([m for m in ('matplotlib',) if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_panels_have_ticks_without_markup_and_a_shared_label_once(saved: Path) -> None:
    content = (saved / "panels.svg").read_text("utf-8")
    assert "mathdefault" not in content
    assert ">100<" in content
    assert content.count("points only</text>") == 1
