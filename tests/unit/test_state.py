"""Saved simulations: restored they go on as before, and other states are refused."""

import numpy as np
import pytest

from writeamp import _engine
from writeamp.errors import WriteampError


def simulation(workload: str = "zipf:s=1", seed: int = 7, **policy: str) -> _engine.Simulation:
    geometry = _engine.Geometry(
        channels=2,
        chips_per_channel=1,
        dies_per_chip=1,
        planes_per_die=1,
        blocks_per_plane=40,
        pages_per_block=16,
        superblock=False,
    )
    drive = _engine.Drive(
        geometry=geometry, logical_pages=800, layout="striped-per-lun", manager="sepgc", **policy
    )
    load = _engine.Load.spec(workload, 800)
    return _engine.Simulation(drive, load, seed=seed, batch_pages=64)


def driven(pages: int) -> _engine.Simulation:
    run = simulation()
    run.fill(0, 800)
    run.start_series(100)
    run.run(pages)
    return run


def test_a_restored_simulation_goes_on_as_the_one_that_was_saved():
    saved, other = driven(1234), simulation()
    other.restore(saved.save())
    for run in (saved, other):
        run.run(777)
    assert other.counters() == saved.counters()
    assert np.array_equal(other.erase_counts(), saved.erase_counts())
    assert np.array_equal(other.series()["host"], saved.series()["host"])
    assert other.save() == saved.save()


def test_a_simulation_can_go_back_to_where_it_was():
    run = driven(500)
    state = run.save()
    run.run(300)
    first = run.save()
    run.restore(state)
    run.run(300)
    assert run.save() == first


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"seed": 8}, "seed is 7, and here it is 8"),
        ({"workload": "uniform"}, "zipf"),
        ({"victims": "fifo"}, "victim policy is greedy, and here it is fifo"),
    ],
)
def test_a_state_of_another_run_is_refused_by_what_differs(other, words):
    run = simulation(**other)
    run.fill(0, 800)
    before = run.save()
    with pytest.raises(WriteampError, match=words):
        run.restore(driven(100).save())
    assert run.save() == before


def test_damaged_bytes_are_refused():
    state = driven(100).save()
    for wrong in (b"", state[:-1], state[:-1] + bytes([state[-1] ^ 1])):
        with pytest.raises(WriteampError, match="state"):
            simulation().restore(wrong)
