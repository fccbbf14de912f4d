"""Descriptions of figures: lines, bars, strips and texts, before and as they are drawn."""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from charts import bars, by_policy, curves, over_time, over_time_with_groups, row, texts_of, tree
from writeamp.errors import WriteampError
from writeamp.plots import PolicyResult, WaSeries, save
from writeamp.plots.backends.matplotlib_backend import drawn, our_settings
from writeamp.plots.figures.group_changes import group_strips
from writeamp.plots.figures.points import point_ends, visible_points
from writeamp.plots.spec import ColorScale
from writeamp.plots.style import HEAT_INKS, heat_ink
from writeamp.plots.wrapping import shortened, wrapped


def test_the_warm_up_is_drawn_faded_and_joins_what_was_counted() -> None:
    spec = over_time()
    faded, counted = spec.lines[:2]
    assert faded.opacity < counted.opacity
    assert faded.label is None
    assert (faded.x[-1], faded.y[-1]) == (counted.x[0], counted.y[0])
    assert faded.x[-2] < 3.0 < counted.x[0]
    assert len(faded.x) + len(counted.x) == 100 + 1


def test_intervals_are_drawn_at_their_middles_and_without_an_estimate_nothing_else() -> None:
    spec = curves(WaSeries("a", [1.0, 2.0, 2.5], [1, 2, 3]))
    (line,) = spec.lines
    assert list(line.x) == [0.5, 1.5, 2.25]
    assert spec.bands == spec.instants == ()


def test_each_point_that_is_drawn_has_whole_collections() -> None:
    # A collection of 64 pages in every third interval: WA of the intervals is 1 and 7.4.
    host, flash = np.full(30_000, 10), np.tile([10, 10, 74], 10_000)
    collected = np.tile([0, 0, 1], 10_000)
    ends, wa = visible_points(host, flash, collected, warmup_pages=12_340)
    assert ends.size <= 401
    assert 12_340 in ends
    assert ends[-1] == host.sum()
    written = np.diff(ends, prepend=0.0)
    assert np.dot(written, wa) == pytest.approx(flash.sum())
    # The two points beside the end of the warm-up have a part of a collection.
    is_whole = np.abs(ends - 12_340) > 1000
    assert wa[is_whole] == pytest.approx(flash.sum() / host.sum())
    ends, wa = visible_points([10], [15], [0])
    assert (list(ends), list(wa)) == ([10], [1.5])


def test_points_are_short_before_the_first_collection_and_of_a_run_with_few() -> None:
    host, collected = np.full(4000, 10), np.zeros(4000)
    collected[2004::100] = 1
    ends = point_ends(host, collected)
    assert np.diff(ends[:190]).tolist() == [10] * 189
    # 20 collections: a point for each, not one for 8.
    assert set(np.diff(ends[-15:-1])) == {100}
    assert point_ends(host, np.zeros(4000)).size == 400


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
    layers = bars(PolicyResult("a", 1.0, {"host": 10, "gc": 0})).layers
    assert [layer.label for layer in layers] == ["host writes"]


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
    assert bars(row("a", wa, wa - half_width, wa + half_width)).texts == (text,)


def test_an_interval_to_one_side_is_a_range() -> None:
    chart = bars(row("a", 1.2346, 1.0, 2.73))
    assert chart.texts == ("1.23 (1.00 to 2.73)",)
    assert chart.subtitle == "s · the range in brackets is 95% confidence"


def test_leaves_stand_side_by_side_and_a_node_amid_those_below_it() -> None:
    assert tree().places() == ((1.25, 0.0), (0.5, -1.0), (0.0, -2.0), (1.0, -2.0), (2.0, -1.0))


def test_text_on_a_dark_cell_is_light() -> None:
    errors = ColorScale(-80.0, 80.0, diverges=True)
    assert heat_ink(-70, errors) == heat_ink(70, errors) == HEAT_INKS[True]
    assert heat_ink(10, errors) == HEAT_INKS[False]
    rising = ColorScale(1.0, 3.0)
    assert heat_ink(2.8, rising) == HEAT_INKS[True]
    assert heat_ink(1.1, rising) == HEAT_INKS[False]


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_a_title_that_is_too_long_loses_its_middle(tmp_path: Path, suffix: str) -> None:
    words = "of a command that has very many words " * 10 + "and an end"
    for title, is_cut in ((words, True), ("of few words", False)):
        save(bars(row("a"), title=title, subtitle=""), tmp_path / f"a.{suffix}")
        drawn = "".join(texts_of(tmp_path / f"a.{suffix}"))
        assert ("…" in drawn) == is_cut
        assert title[:12] in drawn
        assert title[-6:] in drawn


SPEC = "wolf:detector=bloom(window=0.1,false_positives=0.2),groups=4,allocation=effective-size"


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_long_specs_are_broken_into_lines_and_not_clipped(tmp_path: Path, suffix: str) -> None:
    series = [WaSeries(SPEC, [1.0, 2.0], [1, 2]), WaSeries("single", [1.0, 2.0], [2, 3])]
    title, subtitle = f"Write amplification of {SPEC}", f"{SPEC} · " * 4
    for spec in (
        bars(row(SPEC), row("single"), models=[(SPEC, 1.5)], title=title, subtitle=subtitle),
        curves(*series, title=title, subtitle=subtitle),
    ):
        save(spec, tmp_path / f"a.{suffix}")
        texts = texts_of(tmp_path / f"a.{suffix}")
        drawn = "".join(texts).replace(" ", "")
        assert drawn.count(SPEC) >= 1 + 1 + 4
        assert "…" not in drawn
        assert max(map(len, texts)) < 140


def test_nothing_reaches_beyond_a_figure_whose_texts_are_long() -> None:
    rows = [row(name * 3, 2.0, 1.0, 30.0) for name in (SPEC, "single")]
    chart = bars(*rows, models=[(SPEC, 1.5)], title=SPEC * 5, subtitle=SPEC * 9)
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
    assert bars(row("a")).subtitle == "s"
    assert "± is 95%" in bars(row("a"), row("b", 2.0, 1.9, 2.1)).subtitle
    assert "± is 95%" in over_time().subtitle


def test_more_series_than_colours_differ_by_their_dashes() -> None:
    lines = curves(*(WaSeries(str(i), [1.0, 2.0], [1, 2]) for i in range(15))).lines
    assert len({(line.color, line.dash) for line in lines}) == 15


def test_a_figure_of_nothing_is_refused() -> None:
    with pytest.raises(WriteampError, match="at least one series"):
        curves()
    with pytest.raises(WriteampError, match=r"'a' needs .* have the shapes \(2,\) and \(1,\)"):
        curves(WaSeries("a", [1.0, 2.0], [1]))
    with pytest.raises(WriteampError, match="at least one row"):
        bars()
    with pytest.raises(WriteampError, match="row 'a' has no programmed flash page"):
        bars(PolicyResult("a", 1.0, {"host": 0}))
