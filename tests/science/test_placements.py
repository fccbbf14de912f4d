"""Placements against each other: what foresight, inference and plain separation are worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import pytest

import writeamp as wa
from places import TRACE
from registered import managers
from writeamp import _engine

# Replicas judge a run; here runs are judged by what is known of them.
simulate = partial(wa.simulate, replicas=1)

# Those that need hints on groups, which a trace does not give, and how they do without.
WITHOUT_GROUPS = {
    "hcwf": "hcwf:detector=bloom",
    "hcwf-swap": "hcwf-swap:detector=bloom",
    "nvme-fdp": "nvme-fdp:by=range",
    "wolf": "wolf:detector=bloom",
    "fdp-frequency": "fdp-frequency:detector=bloom",
}
NAMES = [
    entry.name
    for entry in managers()
    if entry.declared["required_hints"] != "groups" or entry.name in WITHOUT_GROUPS
]


@cache
def on_zipf(manager: str, victims: str | None = None) -> float:
    drive = {"blocks": 1024, "pages_per_block": 64, "op": 0.20}
    run = {"warmup": 1_000_000, "writes": 2_000_000, "victims": victims}
    return simulate(**drive, **run, workload="zipf:s=0.99", manager=manager).wa


@cache
def on_trace(manager: str, victims: str | None = None) -> float:
    run = {"repeat": 3, "spread": False, "victims": victims}
    return simulate(trace=TRACE, op=0.20, **run, manager=manager).wa


@pytest.fixture(scope="module", params=["zipf", "trace"])
def found(request: pytest.FixtureRequest) -> dict[str, float]:
    if request.param == "zipf":
        return {name: on_zipf(name) for name in NAMES}
    return {name: on_trace(WITHOUT_GROUPS.get(name, name)) for name in NAMES}


def test_foresight_writes_less_than_every_other_placement(found: dict[str, float]) -> None:
    others = {name: value for name, value in found.items() if name != "oracle"}
    assert found["oracle"] < 0.75 * min(others.values())


@pytest.mark.parametrize("on", [on_zipf, on_trace])
@pytest.mark.parametrize("victims", ["greedy", "cost-benefit"])
def test_inferred_lifetimes_beat_separation_and_that_beats_one_stream(
    on: Callable[[str, str], float], victims: str
) -> None:
    sepbit, sepgc, single = (on(manager, victims) for manager in ("sepbit", "sepgc", "single"))
    assert sepbit < 0.97 * sepgc
    assert sepgc < 0.97 * single


def test_wolf_that_measures_intervals_writes_least_of_those_that_are_told_nothing(
    found: dict[str, float],
) -> None:
    told = ["oracle", "wolf", "fdp-frequency", "hcwf", "hcwf-swap", "nvme-fdp"]
    others = {name: value for name, value in found.items() if name not in [*told, "wolf-interval"]}
    assert found["wolf-interval"] < 0.99 * min(others.values())


MIDAS_RUN = {
    "blocks": 1024,
    "pages_per_block": 64,
    "op": 0.20,
    "warmup": 800_000,
    "writes": 1_600_000,
}


@pytest.mark.parametrize("skew", [0.8, 0.99, 1.2])
def test_midas_predicts_its_own_write_amplification_on_zipf(skew: float) -> None:
    found = simulate(**MIDAS_RUN, workload=f"zipf:s={skew}", manager="midas")
    assert found.predicted_wa == pytest.approx(found.wa, rel=0.05)
    assert found.to_dict(theory=False)["predicted_wa"] == found.predicted_wa
    assert f"{found.predicted_wa:.4f}" in str(found.card())


@pytest.mark.parametrize("workload", ["database", "uniform", "zipf:s=1.0"])
def test_midas_adopts_nothing_that_is_much_worse_than_what_was_before(workload: str) -> None:
    midas, sepgc = (
        simulate(**MIDAS_RUN, workload=workload, manager=manager) for manager in ("midas", "sepgc")
    )
    assert midas.wa < 1.03 * sepgc.wa
    assert midas.series["wa"].max() < 1.1 * sepgc.series["wa"].max()
    if workload != "zipf:s=1.0":
        assert midas.predicted_wa is None
        assert "predicted_wa" not in midas.to_dict(theory=False)


def test_midas_that_adopts_all_sizings_is_misled_on_database() -> None:
    careful, trusting = (
        simulate(**MIDAS_RUN, workload="database", manager=manager).wa
        for manager in ("midas", "midas:margin=100")
    )
    assert careful < 0.9 * trusting


@pytest.mark.parametrize("manager", ["dac", "multilog", "fadac", "sepbit"])
def test_schemes_for_skewed_writes_beat_separation_on_them(manager: str) -> None:
    assert on_zipf(manager, "cost-benefit") < 0.95 * on_zipf("sepgc", "cost-benefit")


def test_persistently_isolated_handles_keep_relocated_pages_apart_too() -> None:
    run = {"blocks": 512, "pages_per_block": 64, "op": 0.20, "workload": "hot-cold:f=0.1,r=0.9"}
    run |= {"victims": "greedy", "warmup": 200_000, "writes": 600_000}
    plain, initially, persistently = (
        simulate(**run, manager=manager).wa
        for manager in ("single", "nvme-fdp:handles=2", "nvme-fdp:handles=2,isolation=persistent")
    )
    assert persistently < initially < plain


def test_a_placement_that_must_be_told_says_so_on_a_trace() -> None:
    with pytest.raises(wa.WriteampError, match="nvme-fdp needs hints on the placement handle"):
        simulate(trace=TRACE, op=0.20, manager="nvme-fdp", spread=False)
    assert simulate(trace=TRACE, op=0.20, manager="nvme-fdp:by=range", spread=False).wa > 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("dac:regions=1", "from 2 to 64"),
        ("nvme-fdp:by=luck", "by is group or range"),
        ("nvme-fdp:isolation=none", "isolation is initial or persistent"),
        ("oracle:streams=1000", "from 2 to 64"),
        ("oracle:spacing=even", "spacing is log or linear"),
        ("sfs:scale=square", "scale is linear or log"),
        ("sfs:period=0", "above 0"),
        ("dac:residence=0", "residence is off or a number above 0"),
        ("warcip:penalty=2", "penalty is double, age or none"),
    ],
)
def test_parameters_outside_their_domain_are_refused(spec: str, says: str) -> None:
    with pytest.raises(wa.WriteampError, match=says):
        simulate(manager=spec, writes=1000)


def test_sfs_takes_the_victims_of_its_paper_where_the_drive_knows_how_hot_blocks_are() -> None:
    assert _engine.default_victims("sfs") == "cost-hotness"
    assert _engine.default_victims("sfs:scale=log") == "cost-hotness"
    assert _engine.default_victims("sfs:scale=log,unit=page") == "cost-benefit"


def test_groups_found_from_linear_hotness_separate_pages_as_those_from_its_logarithm_do() -> None:
    sepgc = on_zipf("sepgc", "cost-benefit")
    for spec in ("sfs:groups=6", "sfs:scale=log", "sfs:scale=log,unit=page"):
        assert on_zipf(spec, "cost-benefit") < 0.95 * sepgc


def test_many_classes_of_foreseen_life_need_to_grow() -> None:
    assert on_zipf("oracle") < 0.75 * on_zipf("oracle:spacing=linear")


def test_a_drive_too_small_for_the_streams_of_a_placement_is_refused() -> None:
    with pytest.raises(wa.WriteampError, match="too small for oracle"):
        simulate(blocks=64, pages_per_block=16, op=0.20, manager="oracle", writes=1000)


@pytest.mark.parametrize(
    # SepBIT and SFS also remember 16 bytes a block.
    ("manager", "bytes_per_page"),
    [
        ("single", 0),
        ("sepgc", 0),
        ("dac", 1),
        ("dac:residence=1", 5),
        ("sepbit", 4 + 1 / 3),
        ("sfs", 8 + 1 / 3),
        ("fadac", 2),
        ("oracle", 8),
    ],
)
def test_the_memory_of_a_scheme_is_that_of_its_tables(manager: str, bytes_per_page: float) -> None:
    drive = wa.device(blocks=1024, pages_per_block=64, fill=0.75)
    simulation = _engine.Simulation(
        _engine.Drive(
            geometry=drive.geometry,
            logical_pages=drive.logical_pages,
            layout="flat",
            manager=manager,
        ),
        _engine.Load.spec("uniform", drive.logical_pages),
        seed=1,
        batch_pages=1000,
    )
    assert simulation.scheme_bytes() / drive.logical_pages == pytest.approx(bytes_per_page)
