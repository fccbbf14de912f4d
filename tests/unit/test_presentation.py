"""Every result in a notebook, as a data frame and beside another one."""

from __future__ import annotations

import copy
import math
import pickle
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from blackbox_tables import related
from samples import DRIVE, SAMPLES, library_classes, served, simulated
from writeamp.cli.options import ShownResult
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.model_file import load, save
from writeamp.results.card import Card, Spark, html_of
from writeamp.results.drawn import Drawn, Picture
from writeamp.results.equality import alike
from writeamp.results.frames import csv_of, frame_of
from writeamp.results.numbers import interval_in_words, json_number, with_interval
from writeamp.results.protocol import SimulationResult

# A piece of HTML that makes no notebook slow to open.
MOST_BYTES = 50_000
# What is no result holds no picture.
WITHOUT_FIGURE = {
    "CachePrediction",
    "ExplorePage",
    "Device",
    "DoctorReport",
    "FetchedTrace",
    "MachineDrives",
    "TraceCatalogue",
}


class Balanced(HTMLParser):
    """Fails on a tag that another closes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "style", "link", "img"), "needs something, or does something"
        if tag != "polyline":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "polyline"

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def parsed(html: str) -> str:
    """Return the text of a piece of HTML that is well formed."""
    found = Balanced()
    found.feed(html)
    found.close()
    assert found.open == []
    return " ".join(found.cells)


def shown_texts(svg: str) -> list[str]:
    """Return the texts that a drawn figure shows."""
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg)


@pytest.fixture
def made(request: Any, tmp_path: Path, in_process: None) -> Any:
    """Give the sample of a name."""
    return SAMPLES[request.param](tmp_path)


def test_what_draws_itself_shows_itself() -> None:
    for one in library_classes():
        if hasattr(one, "figure") and one not in (Picture, ShownResult, SimulationResult):
            assert issubclass(one, Drawn), one


@pytest.mark.parametrize("made", SAMPLES, indirect=True)
def test_a_notebook_shows_a_table_that_needs_nothing_beside_it(made: Any) -> None:
    html = made._repr_html_()
    text = parsed(html)
    assert len(html) < MOST_BYTES
    assert "None" not in text
    assert not re.search(r"\bnan\b", text)
    assert len(text) > 20


@pytest.mark.parametrize("made", SAMPLES, indirect=True)
def test_a_result_is_rows_of_a_frame_and_of_csv(made: Any) -> None:
    frame = made.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.height >= 1
    assert not [kind for kind in frame.dtypes if isinstance(kind, pl.Struct | pl.Object)]
    again = pl.read_csv(csv_of(frame).encode(), infer_schema_length=None)
    assert again.columns == frame.columns
    assert again.height == frame.height


@pytest.mark.parametrize("made", sorted(SAMPLES.keys() - WITHOUT_FIGURE), indirect=True)
def test_a_plot_is_shown_or_written(made: Any, tmp_path: Path) -> None:
    picture = made.plot()
    assert isinstance(picture, Picture)
    svg = picture._repr_svg_()
    assert svg.startswith("<svg")
    assert svg.rstrip().endswith("</svg>")
    assert made.plot(tmp_path / "plot.svg") is None
    assert (tmp_path / "plot.svg").stat().st_size > 1000
    assert picture.figure.title in repr(picture)


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - {"Sweep"}))
def test_the_same_experiment_has_an_equal_result(
    name: str, tmp_path: Path, in_process: None
) -> None:
    one, other = SAMPLES[name](tmp_path), SAMPLES[name](tmp_path)
    assert one == other

    assert one != "another type"
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one


def test_other_counters_are_another_result() -> None:
    one = simulated()
    assert one != simulated(seed=2)
    events = one.events.vstack(
        pl.DataFrame([[1, "created", 1, 1, 1]], one.events.schema, orient="row")
    )
    assert one != replace(one, events=events)
    assert one != replace(one, erases_of_block=one.erases_of_block + np.uint32(1))


def test_other_words_for_the_same_experiment_have_an_equal_result() -> None:
    in_short = simulated(workload="zipf", op="25%")
    in_full = simulated(
        workload=wa.workload("zipf", s=0.99), op=0.25, manager="single", victims="greedy"
    )
    assert in_short == in_full
    assert in_short != simulated(workload="zipf:s=0.98", op=0.25)
    by_default = {"w_max": 5, "replicas": 2, "op": 0.25, "blocks": 32, "pages_per_block": 8}
    assert wa.endurance(**by_default) == wa.endurance(workload="uniform", **by_default)


def test_what_only_takes_time_makes_no_difference() -> None:
    one = simulated()
    assert one == replace(one, elapsed_s=one.elapsed_s + 1, run_s=1e9)
    batches = wa.simulate(
        workload="zipf:s=0.9", writes=20_000, warmup=5000, batch_pages=64, **DRIVE
    )
    assert one == batches
    lives = [
        wa.endurance(**DRIVE, w_max=10, replicas=2, runner=wa.runners.Threads(threads))
        for threads in (1, 2)
    ]
    assert lives[0] == lives[1]
    drive = served(Path())
    slower = replace(drive, ended=drive.ended | {"elapsed_ns": 1})
    assert drive == slower
    assert drive != replace(drive, ended=drive.ended | {"erases": 1})


def test_lists_of_answers_are_equal_if_all_that_they_say_is() -> None:
    one = wa.predict(op=0.28)
    elsewhere = type(one)(list(one), "op", one.drive)
    assert list(one) == list(elsewhere)
    assert one != elsewhere
    assert not one == elsewhere  # noqa: SIM201 - a list has a "!=" of its own
    sweep = wa.predict_sweep("op=0.1:0.3:3")
    assert sweep != type(sweep)(list(sweep), "fill", sweep.quantity, sweep.drive)
    unknown = replace(one[0], wa=math.nan)
    assert unknown == copy.deepcopy(unknown)
    assert alike([one], [copy.deepcopy(one)])
    assert not alike([one], [elsewhere])


def test_forecasts_at_other_levels_are_others(tmp_path: Path) -> None:
    one = SAMPLES["Forecast"](tmp_path)
    other = type(one)(one, 0.5)
    assert dict(one) == dict(other)
    assert one != other


def test_a_trained_model_equals_the_one_that_its_file_holds(tmp_path: Path) -> None:
    model = SAMPLES["BlackBox"](tmp_path)
    save(model, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded == model
    # One number of one tree decides.
    loaded.estimators["latency"].widths_[0] *= 2
    assert loaded != model


def test_one_prediction_is_drawn_with_its_interval(tmp_path: Path) -> None:
    one = SAMPLES["BlackBox"](tmp_path).predict(related(7, seed=5)[:1])
    (panel,) = one["latency"].figure().panels
    point, interval = panel.lines
    assert (point.y, point.marker) == ([one["latency"].value[0]], "circle")
    assert interval.y == [one["latency"].low[0], one["latency"].high[0]]
    assert len(one.figure().panels) == len(one)


def test_predictions_of_nothing_are_not_drawn(tmp_path: Path) -> None:
    said = SAMPLES["Predictions of one target"](tmp_path)
    nothing = replace(said, value=said.value * math.nan)
    with pytest.raises(WriteampError, match="no row has a prediction"):
        nothing.plot()
    drawn = type(SAMPLES["Forecast"](tmp_path))({"latency": said, "wa": nothing}, 0.9).figure()
    assert [panel.y_label for panel in drawn.panels] == ["latency (ms)"]


def test_a_result_is_no_key_of_a_dictionary() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(simulated())
    assert hash(wa.device("x25-m")) == hash(wa.device("x25-m"))


def test_values_are_alike_in_all_their_parts() -> None:
    nan = float("nan")
    assert alike({"a": [nan, (1, np.array([nan]))]}, {"a": [nan, (1, np.array([nan]))]})
    assert not alike(np.array([1, 2]), np.array([1, 2], np.float64))
    assert not alike(np.array([1, 2]), np.array([1, 2, 3]))
    assert not alike({"a": 1}, {"a": 1, "b": 2})
    assert not alike([1], (1,))
    assert not alike(nan, 0.0)


def test_the_columns_are_the_keys_of_the_document() -> None:
    found = simulated()
    document, frame = found.to_dict(), found.to_frame()
    assert frame.height == 1
    row = frame.row(0, named=True)
    assert row["wa"] == document["wa"]
    assert [row["wa_low"], row["wa_high"]] == document["wa_ci95"]
    assert row["causes_gc"] == document["causes"]["gc"]
    assert row["theory_model"] == document["theory"]["model"]
    compared = SAMPLES["Comparison"](Path()).to_frame()
    assert compared["manager"].to_list() == ["single", "sepgc"]
    both = pl.concat([frame, simulated(seed=2).to_frame()], how="diagonal_relaxed")
    assert both["seed"].to_list() == [1, 2]


def test_nested_keys_are_flat_and_tables_are_left_out() -> None:
    record = {"a": {"b": {"c": 1}}, "x_ci95": None, "y_ci95": (1.0, 2.0), "t": [{"q": 1}]}
    assert frame_of([record, {"l": [1, 2]}]).to_dicts() == [
        {"a_b_c": 1, "x_low": None, "x_high": None, "y_low": 1.0, "y_high": 2.0, "l": None},
        {"a_b_c": None, "x_low": None, "x_high": None, "y_low": None, "y_high": None, "l": [1, 2]},
    ]


def test_csv_keeps_every_digit_and_writes_lists_as_json() -> None:
    frame = frame_of([{"x": 0.1 + 0.2, "none": None, "list": ["ä", 'b"c'], "text": "a,b"}])
    names, values = csv_of(frame).splitlines()
    assert names == "x,none,list,text"
    assert values == '0.30000000000000004,,"[""ä"", ""b\\""c""]","a,b"'


def test_text_of_others_is_harmless_in_a_notebook() -> None:
    hostile = "<script>alert(1)</script>\x1b[31m"
    html = html_of(Card(hostile, [(hostile, hostile)], warnings=[hostile], notes=[hostile]))
    assert "<script>" not in html
    assert "\x1b" not in html
    assert html.count("&lt;script&gt;") == 5


def test_a_long_table_is_cut_and_says_so() -> None:
    html = html_of(Card("t", [(str(i),) for i in range(100)], (">n",)))
    assert html.count("<tr") == 61
    assert "40 more rows" in html


def test_a_line_of_too_few_points_is_left_out() -> None:
    one = Spark([0, 1, 2], [math.nan, 1, math.nan], "WA")
    assert "<svg" not in html_of(Card("t", [], spark=one))
    assert "IOPS, 10,000 to 50,000" in html_of(
        Card("t", [], spark=Spark([0, 1], [1e4, 5e4], "IOPS"))
    )
    long = Spark(np.arange(10**5), np.arange(10**5), "WA")
    assert len(html_of(Card("t", [], spark=long))) < 5000


def test_a_trace_whose_requests_were_left_out_is_not_drawn(tmp_path: Path) -> None:
    pages = SAMPLES["PageTrace"](tmp_path).without_requests()
    with pytest.raises(WriteampError, match="has only counts"):
        pages.plot()


def test_an_allocation_of_several_drives_has_a_row_for_each_group() -> None:
    found = wa.allocation.optimal([0.7, 0.3], [0.2, 0.8], [0.25, 0.5])
    assert found.to_frame().select("drive", "group", "op").rows() == [
        (0, 0, 0.25), (0, 1, 0.25), (1, 0, 0.5), (1, 1, 0.5),
    ]  # fmt: skip
    with pytest.raises(WriteampError, match="shows one"):
        found.plot()


def test_a_search_for_op_has_a_row_for_the_answer_and_a_table_of_all_drives() -> None:
    found = SAMPLES["RequiredOp"](Path())
    (answer,) = found.to_frame().to_dicts()
    assert found.tried.height == len(found.points) > 1
    (own,) = found.tried.filter(pl.col("op") == answer["op"]).to_dicts()
    assert own["wa"] == answer["wa"]


def test_no_sentence_has_an_interval_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one_life = wa.endurance(blocks=32, pages_per_block=8, op=0.25, w_max=20, replicas=1)
    unknown = simulated()
    monkeypatch.setattr(wa.Result, "ci", (math.nan, math.nan))
    for text in (str(one_life), str(unknown), *map(str, one_life.card().rows)):
        assert "nan" not in text
        assert "95% CI" not in text
    assert "(NOT steady)" in str(unknown) or "(steady)" in str(unknown)


@pytest.mark.parametrize("width", [3e-1, 2e-3, 9e-4, 5e-6, 1e-9])
def test_no_interval_is_rounded_to_a_point(width: float) -> None:
    words = interval_in_words(1.25, 1.25 + width, ",.3f")
    low, high = (float(word) for word in words.removeprefix("95% CI ").split(" to "))
    assert high - low == pytest.approx(width, rel=0.1)
    assert f"{low:g}" in with_interval(1.25, (1.25, 1.25 + width), ",.3f")
    assert interval_in_words(1.0, 1.0, ".4f") == "95% CI 1.0000 to 1.0000"


def test_a_number_stands_with_its_interval_as_far_as_it_has_one() -> None:
    assert with_interval(1.85, (1.84, 1.861), ".2f") == "1.85 (95% CI 1.84 to 1.86)"
    assert with_interval(1.85, (math.nan, math.nan)) == "1.8500"
    assert with_interval(1.85, (math.nan, 2.0), unknown="too short") == "1.8500 (too short)"
    assert interval_in_words(1000.0, 2000.0, ",.1f") == "95% CI 1,000.0 to 2,000.0"
    numbers = [math.nan, math.inf, -math.inf, None, 0.5, 3]
    assert [json_number(one) for one in numbers] == [None, None, None, None, 0.5, 3]


@pytest.mark.parametrize("name", ["Comparison", "OpCurve"])
def test_a_table_with_errors_says_what_they_are(name: str, tmp_path: Path) -> None:
    text = parsed(SAMPLES[name](tmp_path)._repr_html_())
    assert "±" in text or " to " in text
    assert "is 95% confidence" in text


def test_large_predictions_are_shown_with_all_digits_before_the_point(tmp_path: Path) -> None:
    said = SAMPLES["Predictions of one target"](tmp_path)
    large = replace(said, value=said.value + 2e4, low=said.low + 1e4, high=said.high + 1e6)
    text = parsed(large._repr_html_())
    assert "e+" not in text
    assert f"{large.value[0]:,.0f}" in text
    assert f"{large.low[0]:,.0f} to {large.high[0]:,.0f}" in text


@pytest.mark.parametrize(("name", "label"), [("Score", "ratio"), ("Prediction", "write amplif")])
def test_a_legend_does_not_repeat_the_axis(name: str, label: str, tmp_path: Path) -> None:
    svg = SAMPLES[name](tmp_path).plot()._repr_svg_()
    assert len([text for text in shown_texts(svg) if text.startswith(label)]) == 1
