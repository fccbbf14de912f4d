"""Experiments that are run in the place of the one requested, and their results as one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import writeamp as wa
from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.runners import Here, Progress
from writeamp.studies.over import over, succeeded

VARIANTS = [wa.Experiment.of("simulate", seed=seed) for seed in (1, 2, 3)]


class Runs:
    """Runs an experiment: its seed is the result, or it fails as that seed is to."""

    def __init__(self, **failures: BaseException) -> None:
        self._failures = failures

    def __call__(self, experiment: wa.Experiment, progress: Progress | None) -> int:
        if progress is not None:
            progress(0, 10)
            progress(10, 10)
        failure = self._failures.get(f"seed_{experiment.run.seed}")
        if failure is not None:
            raise failure
        return experiment.run.seed


def texts(found: Sequence[object]) -> list[str]:
    return [str(one) for one in found]


@pytest.mark.parametrize("runner", [None, Here()])
def test_results_are_combined_in_the_order_of_the_variants(runner: Here | None) -> None:
    refused = Runs(seed_2=RefusedError("too small"))
    assert over(VARIANTS, texts, Runs(), runner=runner) == ["1", "2", "3"]
    assert over(VARIANTS, texts, refused, runner=runner) == ["1", "too small", "3"]
    assert over(VARIANTS, succeeded, refused, runner=runner) == [(0, 1), (2, 3)]


def test_the_first_variant_of_several_in_turn_must_succeed() -> None:
    with pytest.raises(RefusedError, match="too small") as refusal:
        over(VARIANTS, texts, Runs(seed_1=RefusedError("too small")))
    assert refusal.value.finished is None


def test_what_was_finished_before_a_failure_is_combined() -> None:
    with pytest.raises(WriteampError) as failure:
        over(VARIANTS, texts, Runs(seed_2=WriteampError("broken")))
    assert failure.value.finished == ["1", "None", "None"]
    with pytest.raises(Interrupted) as stopped:
        over(VARIANTS, texts, Runs(seed_3=KeyboardInterrupt()))
    assert stopped.value.finished == ["1", "2", "None"]
    with pytest.raises(Interrupted) as at_once:
        over(VARIANTS, texts, Runs(seed_1=Interrupted("a part")))
    assert at_once.value.finished == ["a part", "None", "None"]


def test_failures_among_several_at_once_are_raised_by_what_combines_them() -> None:
    failing = Runs(seed_1=RefusedError("too small"), seed_3=WriteampError("broken"))
    with pytest.raises(WriteampError, match="broken"):
        over(VARIANTS, succeeded, failing, runner=Here())
    all_refused = Runs(**{f"seed_{seed}": RefusedError(f"no {seed}") for seed in (1, 2, 3)})
    with pytest.raises(RefusedError, match="no 1"):
        over(VARIANTS, succeeded, all_refused, runner=Here())


def test_progress_of_variants_in_turn_is_that_of_one_run() -> None:
    told: list[tuple[int, int]] = []
    over(VARIANTS, texts, Runs(), lambda *done: told.append(done), shares=(1, 0.5, 0.5))
    assert told == [(0, 20), (10, 20), (10, 30), (20, 30), (20, 30), (30, 30)]
