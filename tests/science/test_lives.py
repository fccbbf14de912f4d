"""Lives of pages that wolf-interval has learnt, and their picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import writeamp as wa

DRIVE: dict[str, Any] = {"blocks": 512, "pages_per_block": 64, "op": 0.2, "replicas": 1}


@pytest.fixture(scope="module")
def uniform() -> wa.Result:
    return wa.simulate(
        **DRIVE, workload="uniform", manager="wolf-interval", writes=400_000, warmup=100_000
    )


def test_pages_of_uniform_writes_live_for_about_a_drive_write_at_any_age(
    uniform: wa.Result,
) -> None:
    known = uniform.lives.filter((pl.col("seen") > 200) & (pl.col("intervals") == 4))
    assert known.height > 20
    rest = (known["rest_pages"] / uniform.device.logical_pages).log(2).mean()
    # The mean logarithm of an exponential life of one drive write is 0.83 octaves below its mean.
    assert rest == pytest.approx(-0.83, abs=0.25)


def test_the_scan_sees_each_page_once_in_a_drive_write_and_forgets_by_half_in_four(
    uniform: wa.Result,
) -> None:
    assert uniform.lives["seen"].sum() == pytest.approx(
        4 / 0.6931 * uniform.device.logical_pages, rel=0.1
    )


def test_classes_are_told_apart_by_the_number_of_intervals(uniform: wa.Result) -> None:
    assert (uniform.lives["age_pages"] > 0).all()
    assert set(uniform.lives["intervals"]) == {0, 1, 2, 4}
    never = pl.col("usual_pages") == 0
    assert set(uniform.lives.filter(never)["intervals"]) == {0}
    assert 0 not in set(uniform.lives.filter(~never)["intervals"])


def test_lives_are_drawn(uniform: wa.Result, tmp_path: Path) -> None:
    uniform.plot_lives(tmp_path / "lives.svg")
    drawn = (tmp_path / "lives.svg").read_text()
    assert "rewritten every" in drawn
    assert "rest of life" in drawn


def test_managers_that_learn_no_lives_say_so() -> None:
    single = wa.simulate(**DRIVE, workload="uniform", writes=20_000, warmup=0)
    assert single.lives.is_empty()
    with pytest.raises(wa.WriteampError, match="wolf-interval"):
        single.plot_lives()
