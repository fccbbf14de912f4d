"""Axes and designs: which values come together, and what of them is refused."""

from __future__ import annotations

import math
import tomllib
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refusals import refused_with
from writeamp.studies.sweep.axes import BoundedAxis, ListedAxis, axes_of
from writeamp.studies.sweep.designs import SAMPLERS, Choice, SweepDesign

COUNTS = ("blocks",)


def values(axis: Any, name: str = "op") -> list[Any]:
    """Return the values of one axis as a file says it."""
    (found,) = axes_of({name: axis}, "sweep.axes", counts=COUNTS)
    assert isinstance(found, ListedAxis)
    return list(found.values)


def choices(text: str) -> list[Choice]:
    """Return the choices of a table [sweep]."""
    table = tomllib.loads(text)
    axes = axes_of(table.pop("axes", {}), "sweep.axes", counts=COUNTS)
    return SweepDesign.of(table, "sweep").choices(axes, "sweep")


def test_steps_are_decimal_and_reach_their_end() -> None:
    assert values({"from": 0.1, "to": 0.5, "step": 0.1}) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert values({"from": 1, "to": 10, "step": 4}) == [1, 5, 9]
    assert values({"from": 0, "to": 1, "step": 0.25}) == [0, 0.25, 0.5, 0.75, 1]


@given(
    low=st.integers(-1000, 1000), steps=st.integers(0, 200), step=st.integers(1, 500),
    digits=st.integers(0, 4),
)  # fmt: skip
def test_a_range_of_steps_has_the_values_that_its_decimals_say(
    low: int, steps: int, step: int, digits: int
) -> None:
    unit = 10**digits
    axis = {"from": low / unit, "to": (low + steps * step) / unit, "step": step / unit}
    assert values(axis) == [(low + at * step) / unit for at in range(steps + 1)]


def test_numbers_of_values_are_linear_or_logarithmic_with_both_ends() -> None:
    assert values({"from": 0.1, "to": 0.4, "num": 4}) == [0.1, 0.2, 0.3, 0.4]
    assert values({"from": 0.01, "to": 100, "num": 5, "scale": "log"}) == [0.01, 0.1, 1, 10, 100]


def test_ranges_of_settings_that_count_are_whole_numbers() -> None:
    found = values({"from": 64, "to": 4096, "num": 4, "scale": "log"}, "blocks")
    assert found == [64, 256, 1024, 4096]
    assert all(isinstance(value, int) for value in found)
    assert values({"from": 1, "to": 3, "num": 5}, "blocks") == [1, 2, 3]
    assert values({"from": 1, "to": 9, "num": 3, "integer": True}) == [1, 5, 9]


def test_a_grid_is_every_combination_the_last_axis_first() -> None:
    found = choices('axes.op = [0.1, 0.2]\naxes.manager = ["single", "wolf", "sepgc"]')
    expected = product([0.1, 0.2], ["single", "wolf", "sepgc"])
    assert found == [{"op": op, "manager": manager} for op, manager in expected]


def test_without_axes_there_is_one_choice() -> None:
    assert choices("") == [{}]


def test_names_with_dots_need_no_quotes() -> None:
    with_quotes = choices('[axes]\n"workload.s" = [0.9, 1.1]')
    assert with_quotes == choices("[axes]\nworkload.s = [0.9, 1.1]")
    assert with_quotes == choices("axes.workload.s = {from = 0.9, to = 1.1, step = 0.2}")


def test_zipped_axes_go_ahead_together_and_in_a_grid_with_others() -> None:
    found = choices(
        'zip = ["op", "workload"]\n[axes]\nop = [0.1, 0.2]\nseed = [1, 2]\nworkload = ["a", "b"]'
    )
    assert found == [
        {"op": op, "seed": seed, "workload": workload}
        for op, workload in ((0.1, "a"), (0.2, "b"))
        for seed in (1, 2)
    ]


@pytest.mark.parametrize("kind", SAMPLERS)
def test_samples_lie_within_their_bounds_and_follow_their_seed(kind: str) -> None:
    text = f"""
        design = "{kind}"
        samples = 64
        [axes]
        op = {{from = 0.05, to = 0.5, scale = "log"}}
        blocks = {{from = 10, to = 13}}
        utilization = {{from = 0.5, to = 1}}
    """
    found = choices(text)
    assert len(found) == 64
    assert all(0.05 <= one["op"] < 0.5 and 0.5 <= one["utilization"] < 1 for one in found)
    assert {one["blocks"] for one in found} == {10, 11, 12, 13}
    assert found == choices(text)
    assert found != choices(f"design_seed = 1\n{text}")


@pytest.mark.parametrize("kind", SAMPLERS)
def test_a_log_scale_draws_as_many_below_the_geometric_mean_as_above(kind: str) -> None:
    found = choices(
        f'design = "{kind}"\nsamples = 512\naxes.op = {{from = 0.01, to = 1, scale = "log"}}'
    )
    below = sum(one["op"] < 0.1 for one in found)
    assert abs(below - 256) < 60  # five standard deviations of the least even one


@pytest.mark.parametrize("kind", ["latin-hypercube", "sobol"])
def test_an_even_design_has_one_sample_in_each_part_of_every_axis(kind: str) -> None:
    found = choices(
        f'design = "{kind}"\nsamples = 32\n[axes]\nop = {{from = 0, to = 32}}\n'
        "fill = {from = 0, to = 32}"
    )
    for name in ("op", "fill"):
        assert sorted(math.floor(one[name]) for one in found) == list(range(32))


def test_more_samples_of_a_sobol_or_random_design_keep_the_first_ones() -> None:
    for kind in ("sobol", "random"):
        text = 'design = "{}"\nsamples = {}\n[axes]\nop = {{from = 0.1, to = 1}}\n{}'
        second = "fill = {from = 0.1, to = 1}"
        few, more = (choices(text.format(kind, samples, second)) for samples in (16, 64))
        assert more[:16] == few


def test_listed_axes_meet_every_sample() -> None:
    found = choices(
        'design = "sobol"\nsamples = 8\n[axes]\nop = {from = 0.1, to = 1}\nmanager = ["a", "b"]'
    )
    of_manager = {one: [each["op"] for each in found if each["manager"] == one] for one in "ab"}
    assert of_manager["a"] == of_manager["b"]
    assert len(set(of_manager["a"])) == 8


@given(
    low=st.integers(-50, 50), width=st.integers(0, 50), share=st.floats(0, 1, exclude_max=True)
)  # fmt: skip
def test_whole_numbers_are_drawn_from_both_ends_and_all_between(
    low: int, width: int, share: float
) -> None:
    found = BoundedAxis("d", low, low + width, "linear", is_integer=True).at(share)
    assert isinstance(found, int)
    assert low <= found <= low + width


def test_whole_numbers_are_equally_likely() -> None:
    axis = BoundedAxis("d", 3, 6, "linear", is_integer=True)
    drawn = [axis.at(share) for share in np.arange(400) / 400]
    assert [drawn.count(value) for value in (3, 4, 5, 6)] == [100] * 4
    assert all(one <= other for one, other in pairwise(drawn))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("axes = 3", ["sweep.axes", "table"]),
        ("axes.op = 0.1", ["sweep.axes.op", "0.1", "list"]),
        ("axes.op = []", ["sweep.axes.op", "empty"]),
        ("axes.op = [2026-01-01]", ["sweep.axes.op", "numbers"]),
        ("axes.op = {from = 0.1}", ["sweep.axes.op", "to is missing"]),
        ("axes.op = {from = 0.1, to = nan, num = 2}", ["sweep.axes.op.to", "nan", "finite"]),
        ("axes.op = {from = 0.3, to = 0.1, num = 2}", ["0.3", "0.1", "above"]),
        ("axes.op = {from = 0, to = 1, num = 3, scale = 'log'}", ["log", "above 0"]),
        ("axes.op = {from = 0, to = 1, num = 3, scale = 'lgo'}", ["scale", "lgo", "log"]),
        ("axes.op = {from = 0, to = 1, step = 0}", ["step", "above 0"]),
        ("axes.op = {from = 0, to = 1, step = 1, num = 3}", ["step", "num", "one"]),
        ("axes.op = {from = 0, to = 1, num = 0}", ["num", "whole number"]),
        ("axes.op = {from = 0, to = 1, num = 1}", ["num", "at least 2"]),
        ("axes.op = {from = 0, to = 1, step = 1e-9}", ["values", "1000000"]),
        ("axes.op = {from = 0, to = 1, nmu = 3}", ["nmu", "num"]),
        ("axes.blocks = {from = 0.5, to = 4, num = 3}", ["blocks", "whole numbers"]),
        ("axes.op = {from = 0.1, to = 0.2}", ["sweep.axes.op", "num or step"]),
        ("design = 'sobl'", ["sweep.design", "sobl", "sobol"]),
        ("design = 'sobol'\naxes.op = {from = 0.1, to = 0.2}", ["samples", "missing"]),
        ("design = 'sobol'\nsamples = 8\naxes.op = [1]", ["sobol", "axis to draw from"]),
        (
            "design = 'sobol'\nsamples = 100\naxes.op = {from = 0.1, to = 0.2}",
            ["100", "64 or 128"],
        ),
        ("samples = 8\naxes.op = [1]", ["samples", "grid"]),
        ("design = 'random'\nsamples = 0\naxes.op = {from = 0.1, to = 0.2}", ["samples", "1 to"]),
        ("zip = ['op', 'fill']\naxes.op = [1, 2]\naxes.fill = [1]", ["op has 2", "fill has 1"]),
        ("zip = ['op', 'fil']\naxes.op = [1]\naxes.fill = [1]", ["zip", "fil", "fill"]),
        ("zip = ['op', 'op']\naxes.op = [1]", ["op", "twice"]),
        ("zip = 'op'\naxes.op = [1]", ["zip", "list"]),
        ("axes.op = {from=1,to=2000,step=1}\naxes.d = {from=1,to=2000,step=1}", ["4000000"]),
    ],
)
def test_a_design_that_cannot_be_is_one_sentence(text: str, words: list[str]) -> None:
    with refused_with(*words):
        choices(text)
