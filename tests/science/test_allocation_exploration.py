"""Every workload of equal chunks, once each, and paper 3's figures of them."""

from __future__ import annotations

from typing import Any

import pytest

from writeamp.allocation import closed_form, configurations, explore
from writeamp.errors import WriteampError


@pytest.fixture(scope="module")
def explored() -> dict[tuple[int, float], Any]:
    # The reproduction of the paper, which has a test of its own, goes through Q = 20 at 0.9 too.
    return {
        (chunks, fill): explore(chunks, 1 / fill - 1)
        for chunks, fill in ((10, 0.7), (10, 0.9), (20, 0.7))
    }


@pytest.mark.parametrize(("chunks", "workloads"), [(10, 1023), (20, 1_042_014)])
def test_there_are_as_many_workloads_as_the_paper_explored(
    explored: dict[tuple[int, float], Any], chunks: int, workloads: int
) -> None:
    found = explored[chunks, 0.7]
    assert found["groups"].to_list() == list(range(2, 10))
    assert found["configurations"].sum() == workloads


@pytest.mark.parametrize(
    ("chunks", "fill", "maximum"), [(10, 0.7, 2.01), (20, 0.7, 5.84), (10, 0.9, 2.73)]
)
def test_the_closed_form_is_at_worst_as_far_from_the_optimum_as_published(
    explored: dict[tuple[int, float], Any], chunks: int, fill: float, maximum: float
) -> None:
    found = explored[chunks, fill]["max_over_optimal_percent"].max()
    assert round(found, 2) == maximum


@pytest.mark.parametrize(
    ("chunks", "means"), [(10, [0.236, 0.396, 0.384, 0.3145]), (20, [0.484, 0.857, 0.964, 0.948])]
)
def test_the_closed_form_is_on_average_as_far_from_the_optimum_as_published(
    explored: dict[tuple[int, float], Any], chunks: int, means: list[float]
) -> None:
    found = explored[chunks, 0.7]["mean_over_optimal_percent"].to_list()[:4]
    assert found == pytest.approx(means, abs=5e-4)


def test_the_worst_workload_is_as_bad_as_the_table_says(
    explored: dict[tuple[int, float], Any],
) -> None:
    for row in explored[20, 0.7].to_dicts():
        found = closed_form(row["worst_sizes"], row["worst_frequencies"], 3 / 7)
        assert found.over_optimal_percent == pytest.approx(
            row["max_over_optimal_percent"], rel=1e-9
        )


def test_no_workload_comes_twice_and_none_is_missing() -> None:
    for chunks, groups in ((6, 3), (7, 2), (8, 4)):
        found = {
            frozenset_of(pages, writes)
            for batch in configurations(chunks, groups)
            for pages, writes in zip(*batch, strict=True)
        }
        listed = sum(len(pages) for pages, _ in configurations(chunks, groups))
        assert len(found) == listed
        cuts = compositions(chunks, groups)
        assert found == {frozenset_of(pages, writes) for pages in cuts for writes in cuts}


def frozenset_of(pages: Any, writes: Any) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((int(a), int(b)) for a, b in zip(pages, writes, strict=True)))


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(1, total - parts + 2)
        for rest in compositions(total - first, parts - 1)
    ]


def test_progress_counts_every_workload() -> None:
    told: list[tuple[int, int]] = []
    explore(10, 0.3, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1023, 1023)
    assert {total for _, total in told} == {1023}


@pytest.mark.parametrize("chunks", [1, 25])
def test_an_exploration_of_too_few_or_too_many_chunks_is_refused(chunks: int) -> None:
    with pytest.raises(WriteampError, match="2 to 24"):
        explore(chunks, 0.3)
