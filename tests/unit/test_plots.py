"""Figures: the content of each file, and the leftovers when one cannot be written."""

from __future__ import annotations

import html
import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from writeamp.errors import WriteampError
from writeamp.plots import (
    FigureSpec,
    HeatMapChart,
    PanelChart,
    PolicyResult,
    TreeChart,
    WaSeries,
    check_target,
    save,
    wa_by_policy,
    wa_over_time,
)
from writeamp.plots.backends.matplotlib_backend import drawn, our_settings
from writeamp.plots.figures.group_changes import group_strips
from writeamp.plots.figures.wa_over_time import visible_points
from writeamp.plots.output import inline_svg
from writeamp.plots.spec import (
    BarChart,
    ColorScale,
    HeatMap,
    Line,
    LineChart,
    Mark,
    Panel,
    TreeNode,
)
from writeamp.plots.style import heat_ink
from writeamp.plots.wrapping import shortened, wrapped

SUBTITLE = "op = (T-U)/U = 0.4286, 8,192 blocks of 128 pages, seed 1"
SIGNATURES = {
    "png": b"\x89PNG\r\n\x1a\n",
    "svg": b"<?xml",
    "pdf": b"%PDF-",
    "html": b"<!doctype html>",
}


def over_time() -> LineChart:
    drive_writes = np.arange(1, 101) / 10
    wa = 1.855 + 0.01 * np.sin(np.arange(100)) - np.exp(-np.arange(100) / 10)
    return wa_over_time(
        [
            WaSeries("greedy", drive_writes, wa, 3.0, 1.855, 1.852, 1.858),
            WaSeries("d-choices:d=10", drive_writes, wa + 0.05),
        ],
        [("expected-value", 1.876), ("markov", 1.854)],
        title="Write amplification over time",
        subtitle=SUBTITLE,
    )


def over_time_with_groups(events: int = 10) -> LineChart:
    at = np.linspace(0.5, 9.5, events)
    strips = group_strips(
        at, at[: events // 2], at, np.full(events, 3, np.uint64), intervals=100, end=10.0
    )
    drive_writes = np.arange(1, 101) / 10
    run = WaSeries("wolf", drive_writes, np.full(100, 1.6), 3.0, 1.6, 1.59, 1.61)
    title = "Write amplification with groups"
    return wa_over_time([run], title=title, subtitle=SUBTITLE, changes=[5.0, 7.0], strips=strips)


def by_policy() -> BarChart:
    return wa_by_policy(
        [
            PolicyResult("greedy", 2.412, {"host": 1000, "gc": 1412}, 2.39, 2.434),
            PolicyResult("fifo", 2.8, {"host": 1000, "gc": 1700, "wear": 100}),
        ],
        [("expected-value", 2.48)],
        title="Write amplification by policy",
        subtitle=SUBTITLE,
    )


def panels() -> PanelChart:
    def panel(title: str) -> Panel:
        lines = (
            Line([1, 10, 100], [1.0, 30.0, 900.0], "#0072B2", label="a <line>", marker="circle"),
            Line([10.0], [20.0], "#D55E00", 0.0, label="points only", marker="ring"),
        )
        return Panel(title, lines, (Mark(5.0, "#333333", "dash", "a level"),))

    titles = [panel(f"panel {i}") for i in range(3)]
    return PanelChart(
        "Panels", "and a subtitle", "x axis", "y axis", tuple(titles), 2, (1, 10, 100), True, True
    )


def heat_maps() -> HeatMapChart:
    maps = tuple(HeatMap(f"map {i}", ((-70.0, -0.2), (3.0, 45.0))) for i in range(2))
    return HeatMapChart(
        title="Heat",
        subtitle="and a subtitle",
        x_label="x axis",
        y_label="y axis",
        x_ticks=("10", "20"),
        y_ticks=("90", "60"),
        color_label="error (%)",
        maps=maps,
        columns=2,
        scale=ColorScale(-80.0, 80.0, diverges=True),
        cell_format="{:+z.0f}",
    )


def tree() -> TreeChart:
    nodes = (
        TreeNode("a <root>", "#333333", (1, 4)),
        TreeNode("a branch", "#333333", (2, 3)),
        TreeNode("leaf 1\nof two lines", "#D55E00"),
        TreeNode("leaf 2", "#333333"),
        TreeNode("leaf 3", "#333333"),
    )
    return TreeChart("Tree", "and a subtitle", nodes)


def values_in(path: Path) -> list[tuple[float, float, str]]:
    """Return what an HTML figure tells of its values, and where, in shares from the upper left."""
    text = path.read_text("utf-8").split('<script type="application/json" id="values">')[1]
    return [(x, y, words) for x, y, words, *_ in json.loads(text.split("</script>")[0])]


def words_in(path: Path) -> str:
    """Return the text of an SVG or an HTML figure, with its escapes undone."""
    return html.unescape(path.read_text("utf-8"))


FIGURES: dict[str, Callable[[], FigureSpec]] = {
    "over time": over_time,
    "with groups": over_time_with_groups,
    "by policy": by_policy,
    "panels": panels,
    "heat maps": heat_maps,
    "tree": tree,
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
        "the workload changes",
        "end of the warm-up (not counted)",
        "groups created: 10",
        "groups merged away: 5",
        "blocks moved: 30",
        "(a bar: 0.1 drive writes)",
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
    svg = inline_svg(wa_by_policy([row], title=title, subtitle="s"))
    assert svg.startswith(f'<svg role="img" aria-label="{html.escape(title)}" viewBox="0 0 ')
    assert f"<title>{html.escape(title)}\n2.000\nhost writes: 1.0000\n" in svg
    assert ET.fromstring(svg).tag == "svg"
    assert "://" not in svg
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg)).replace(" ", "")
    assert html.escape(title, quote=False).replace(" ", "") in shown
    assert "var(--series-1,#0072B2)" in svg
    titled = inline_svg(wa_by_policy([row], title="t", subtitle="s s s"), has_titles=True)
    assert ">s s s</text>" in titled


@pytest.mark.parametrize("kind", ["svg", "html"])
def test_a_label_is_text_and_never_markup(kind: str, tmp_path: Path) -> None:
    spec = wa_by_policy(
        [PolicyResult("<b>$x_1$</b> & co", 2.0, {"host": 1, "gc": 1})], title="t", subtitle="s"
    )
    save(spec, tmp_path / f"out.{kind}")
    assert "<b>$x_1$</b> & co" in words_in(tmp_path / f"out.{kind}")
    # Escaped once in the file, so that whoever draws it shows the angle brackets.
    assert "<b>$x_1$" not in (tmp_path / f"out.{kind}").read_text("utf-8")


@pytest.mark.parametrize("name", ["out.gif", "out.PNG.txt", "out", "png", ".svg"])
def test_an_unknown_suffix_lists_the_valid_ones_and_leaves_no_file(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(WriteampError, match="valid are png, svg, pdf, html") as error:
        save(over_time(), tmp_path / name)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    save(by_policy(), tmp_path / "OUT.SVG")
    assert (tmp_path / "OUT.SVG").read_bytes().startswith(b"<?xml")
    check_target(tmp_path / "b.HTML")
    assert [path.name for path in tmp_path.iterdir()] == ["OUT.SVG"]


def test_an_unwritable_path_is_one_sentence_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "taken.svg").mkdir()
    (tmp_path / "file").write_text("")
    for target in ("absent/out.svg", "taken.svg", "file/out.svg"):
        with pytest.raises(WriteampError, match=r"^cannot write plot '.*svg': .+") as error:
            save(by_policy(), tmp_path / target)
        assert "\n" not in str(error.value)
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


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "out.svg").write_text("old")
    save(over_time(), tmp_path / "out.svg")
    assert "greedy" in (tmp_path / "out.svg").read_text("utf-8")


def test_the_drawing_library_is_not_imported_before_it_draws() -> None:
    code = "import sys, writeamp.plots;print([m for m in ('matplotlib',) if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_the_warm_up_is_drawn_faded_and_joins_what_was_counted() -> None:
    spec = over_time()
    faded, counted = spec.lines[:2]
    assert faded.opacity < counted.opacity
    assert faded.label is None
    assert (faded.x[-1], faded.y[-1]) == (counted.x[0], counted.y[0])
    assert faded.x[-2] < 3.0 < counted.x[0]
    assert len(faded.x) + len(counted.x) == 100 + 1


def test_an_interval_is_drawn_at_its_middle() -> None:
    spec = wa_over_time([WaSeries("a", [1.0, 2.0, 2.5], [1, 2, 3])], title="t", subtitle="s")
    assert list(spec.lines[0].x) == [0.5, 1.5, 2.25]


def test_points_that_are_drawn_are_no_single_collections() -> None:
    # A collection of 64 pages in every third interval: WA of the intervals is 1 and 7.4.
    host, flash = np.full(30_000, 10), np.tile([10, 10, 74], 10_000)
    ends, wa = visible_points(host, flash, pages_per_block=64, warmup_pages=12_340)
    assert ends.size <= 401
    assert 12_340 in ends
    assert ends[-1] == host.sum()
    written = np.diff(ends, prepend=0.0)
    assert np.dot(written, wa) == pytest.approx(flash.sum())
    assert wa[written > 100] == pytest.approx(flash.sum() / host.sum(), rel=0.03)
    few = visible_points(host[:300], flash[:300], pages_per_block=64)
    assert np.all(np.diff(few[0], prepend=0.0) * few[1] >= 4 * 64)
    ends, wa = visible_points([10], [15], pages_per_block=64)
    assert (list(ends), list(wa)) == ([10], [1.5])


def test_a_run_without_an_estimate_has_neither_mean_nor_band() -> None:
    spec = wa_over_time([WaSeries("a", [1.0, 2.0], [1, 2])], title="t", subtitle="s")
    assert len(spec.lines) == 1
    assert spec.bands == ()
    assert spec.instants == ()


@pytest.mark.parametrize("events", [10, 5_000])
def test_every_creation_and_merge_is_a_tick(events: int, tmp_path: Path) -> None:
    spec = over_time_with_groups(events)
    groups = spec.strips[0]
    assert [(len(line.x), set(line.y)) for line in groups.lines] == [
        (events, {1}),
        (events // 2, {0}),
    ]
    assert [groups.rows[int(line.y[0])] for line in groups.lines] == ["created", "merged"]
    save(spec, tmp_path / "out.svg")
    drawn = (tmp_path / "out.svg").read_text("utf-8")
    for line in groups.lines:
        # One more is in the legend.
        assert len(re.findall(rf"<use [^>]*stroke: {line.color.lower()}", drawn)) == len(line.x) + 1


def test_movement_operations_are_bars_that_add_up_and_no_finer_than_a_screen() -> None:
    moved = np.array([0.01, 0.02, 4.0, 10.0])
    none = np.array([])
    blocks = np.array([1, 2, 3, 4], np.uint64)
    (strip,) = group_strips(none, none, moved, blocks, intervals=20_000, end=10.0)
    (line,) = strip.lines
    assert len(line.x) == len(line.y) == 2 * 201
    bars = np.array(line.y)[1:-1:2]
    assert strip.filled
    assert bars[[0, 80, 199]].tolist() == [3, 3, 4]
    assert bars.sum() == 10
    (coarse,) = group_strips(none, none, moved, blocks, intervals=5, end=10.0)
    assert list(coarse.lines[0].y) == [0, 3, 3, 0, 0, 3, 3, 0, 0, 4, 4, 0]


def test_a_run_without_events_has_no_strip() -> None:
    none = np.array([])
    blocks = np.array([], np.uint64)
    assert group_strips(none, none, none, blocks, intervals=100, end=10.0) == ()
    assert over_time().strips == ()


def test_a_bar_ends_at_its_write_amplification_and_host_comes_first() -> None:
    spec = by_policy()
    assert [layer.label for layer in spec.layers] == ["host writes", "garbage collection", "wear"]
    assert spec.ends() == pytest.approx((2.412, 2.8))
    assert spec.layers[0].values == pytest.approx((1.0, 1.0))
    assert spec.layers[2].values == pytest.approx((0.0, 0.1))
    assert spec.reaches() == pytest.approx((2.434, 2.8))


def test_a_cause_that_wrote_nothing_has_no_place_in_the_legend() -> None:
    rows = [PolicyResult("a", 1.0, {"host": 10, "gc": 0})]
    assert [layer.label for layer in wa_by_policy(rows, title="", subtitle="").layers] == [
        "host writes"
    ]


@pytest.mark.parametrize(
    ("wa", "half_width", "text"),
    [
        (2.41234, 0.021, "2.41 ± 0.02"),
        (1.85512, 0.00033, "1.8551 ± 0.0003"),
        (25.3, 4.0, "25.30 ± 4.00"),
        (1.0, 0.0, "1.000"),
        (1.5, math.nan, "1.500"),
    ],
)
def test_a_value_has_the_decimals_that_its_error_leaves(
    wa: float, half_width: float, text: str
) -> None:
    row = PolicyResult("a", wa, {"host": 1}, wa - half_width, wa + half_width)
    assert wa_by_policy([row], title="", subtitle="").texts == (text,)


def test_an_interval_to_one_side_is_a_range() -> None:
    row = PolicyResult("a", 1.2346, {"host": 1}, 1.0, 2.73)
    chart = wa_by_policy([row], title="", subtitle="s")
    assert chart.texts == ("1.23 (1.00 to 2.73)",)
    assert chart.subtitle == "s · the range in brackets is 95% confidence"


def test_leaves_stand_side_by_side_and_a_node_amid_those_below_it() -> None:
    assert tree().places() == ((1.25, 0.0), (0.5, -1.0), (0.0, -2.0), (1.0, -2.0), (2.0, -1.0))


def test_logarithmic_ticks_are_numbers_and_not_markup(saved: Path) -> None:
    content = (saved / "panels.svg").read_text("utf-8")
    assert "mathdefault" not in content
    assert ">100<" in content


def test_a_label_that_several_panels_share_is_in_the_legend_once(saved: Path) -> None:
    assert (saved / "panels.svg").read_text("utf-8").count("points only</text>") == 1


def test_text_on_a_dark_cell_is_light() -> None:
    errors = ColorScale(-80.0, 80.0, diverges=True)
    assert heat_ink(-70, errors) == heat_ink(70, errors) == "white"
    assert heat_ink(10, errors) != "white"
    rising = ColorScale(1.0, 3.0)
    assert heat_ink(2.8, rising) == "white"
    assert heat_ink(1.1, rising) != "white"


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_a_title_that_is_too_long_loses_its_middle(tmp_path: Path, suffix: str) -> None:
    row = PolicyResult("a", 2.0, {"host": 1})
    words = "of a command that has very many words " * 10 + "and an end"
    for title, is_cut in ((words, True), ("of few words", False)):
        save(wa_by_policy([row], title=title, subtitle=""), tmp_path / f"a.{suffix}")
        drawn = "".join(texts_of(tmp_path / f"a.{suffix}"))
        assert ("…" in drawn) == is_cut
        assert title[:12] in drawn
        assert title[-6:] in drawn


def texts_of(path: Path) -> list[str]:
    """Return the texts of the SVG in a file, a line each."""
    svg = path.read_text("utf-8")
    svg = svg[svg.index("<svg") : svg.index("</svg>")]
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


SPEC = "wolf:detector=bloom(window=0.1,false_positives=0.2),groups=4,allocation=effective-size"


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_long_specs_are_broken_into_lines_and_not_clipped(tmp_path: Path, suffix: str) -> None:
    rows = [PolicyResult(name, 2.0, {"host": 1}) for name in (SPEC, "single")]
    series = [WaSeries(SPEC, [1.0, 2.0], [1, 2]), WaSeries("single", [1.0, 2.0], [2, 3])]
    title, subtitle = f"Write amplification of {SPEC}", f"{SPEC} · " * 4
    for spec in (
        wa_by_policy(rows, [(SPEC, 1.5)], title=title, subtitle=subtitle),
        wa_over_time(series, title=title, subtitle=subtitle),
    ):
        save(spec, tmp_path / f"a.{suffix}")
        texts = texts_of(tmp_path / f"a.{suffix}")
        drawn = "".join(texts).replace(" ", "")
        assert drawn.count(SPEC) >= 1 + 1 + 4
        assert "…" not in drawn
        assert max(map(len, texts)) < 140


def test_nothing_reaches_beyond_a_figure_whose_texts_are_long() -> None:
    rows = [PolicyResult(name * 3, 2.0, {"host": 1}, 1.0, 30.0) for name in (SPEC, "single")]
    chart = wa_by_policy(rows, [(SPEC, 1.5)], title=SPEC * 5, subtitle=SPEC * 9)
    with our_settings():
        figure = drawn(chart)
        axes = figure.axes[0]
        # Ticks beyond the end of the axis are there, but not drawn.
        ticks = {id(one) for one in axes.get_xticklabels()}
        texts = [
            one
            for one in figure.findobj(Text)
            if one.get_text() and one.get_visible() and id(one) not in ticks
        ]
        boxes = [one.get_window_extent() for one in texts]
    assert len(boxes) > 8
    assert min(box.x0 for box in boxes) >= 0
    assert max(box.x1 for box in boxes) <= figure.bbox.width
    overlaps = [
        (one.get_text(), other.get_text())
        for (one, box), (other, beside) in combinations(zip(texts, boxes, strict=True), 2)
        if box.overlaps(beside)
    ]
    assert overlaps == []


@pytest.mark.parametrize(
    ("text", "characters", "lines", "shown"),
    [
        ("single", 10, 2, "single"),
        ("wolf:groups=4,interval=0.1", 14, 2, "wolf:groups=4,\ninterval=0.1"),
        ("abcdefghij", 4, 3, "abcd\nefgh\nij"),
        ("abcdefghij", 4, 2, "abcd\n…hij"),
        ("ours\nof two lines", 40, 2, "ours\nof two lines"),
        ("", 4, 2, ""),
    ],
)
def test_a_text_is_broken_where_it_may_be(
    text: str, characters: int, lines: int, shown: str
) -> None:
    assert wrapped(text, characters, lines) == shown


@pytest.mark.parametrize(("most", "text"), [(5, "abcde"), (4, "ab…e"), (1, "…")])
def test_a_text_is_shortened_in_its_middle(most: int, text: str) -> None:
    assert shortened("abcde", most) == text


def test_what_plus_minus_means_is_said_where_it_is_used() -> None:
    row = PolicyResult("a", 2.0, {"host": 1})
    measured = PolicyResult("b", 2.0, {"host": 1}, 1.9, 2.1)
    assert wa_by_policy([row], title="", subtitle="s").subtitle == "s"
    assert "± is 95%" in wa_by_policy([row, measured], title="", subtitle="s").subtitle
    assert "± is 95%" in over_time().subtitle


def test_more_series_than_colours_differ_by_their_dashes() -> None:
    series = [WaSeries(str(i), [1.0, 2.0], [1, 2]) for i in range(15)]
    lines = wa_over_time(series, title="", subtitle="").lines
    assert len({(line.color, line.dash) for line in lines}) == 15


def test_a_figure_of_nothing_is_refused() -> None:
    with pytest.raises(WriteampError, match="at least one series"):
        wa_over_time([], title="", subtitle="")
    with pytest.raises(WriteampError, match=r"series 'a' needs .* not of shapes \(2,\) and \(1,\)"):
        wa_over_time([WaSeries("a", [1.0, 2.0], [1])], title="", subtitle="")
    with pytest.raises(WriteampError, match="at least one row"):
        wa_by_policy([], title="", subtitle="")
    with pytest.raises(WriteampError, match="row 'a' has no flash page"):
        wa_by_policy([PolicyResult("a", 1.0, {"host": 0})], title="", subtitle="")
