"""Values of paper 1, recomputed with short runs; and properties of its simulated drive."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import writeamp as wa
from replayed import Replay, assert_matches_are_computed
from reproduced import assert_reproduced
from writeamp.text import html_text
from writeamp_papers import PAPERS, Bench, Findings, Item, Reproduction
from writeamp_papers.gallery import write_gallery
from writeamp_papers.park2017 import drive
from writeamp_papers.park2017.drive import channels_of
from writeamp_papers.park2017.hot_file import PASSES, overwrite, overwrite_for_long, two_files

# Values that the project must reproduce, each with a part of its item's name.
PUBLISHED = [
    ("uniform-distribution at op 0.28", 2.285714),
    ("expected-value at op 0.28", 2.481361),
    ("markov at op 0.28, N=32768", 2.481200),
    ("markov at op 0.28, N=64", 2.4020),
    ("uniform-distribution at op 0.147", 3.901361),
    ("expected-value at op 0.147", 4.083750),
    ("markov at op 0.147, N=32768", 4.083284),
    ("markov at op 0.147, N=128", 3.9681),
    ("markov at op 0.147, N=64", 3.8591),
    ("markov at op 0.1, N=64", 5.242),
    ("Table 4: uniform-distribution", 0.88104),
    ("Table 4: markov, N=64", 0.96122),
    ("Table 4: markov, N=128", 0.97919),
    ("Table 4: markov / expected-value, N=128", 0.97),
    ("Table 4: coupon-collector / expected-value, N=64", 0.94),
    ("Table 4: coupon-collector / expected-value, N=128", 1.05),
    ("effective op, utilization 80%, hot 30%", 1.15667),
    ("effective op, utilization 90%, hot 20%", 1.235),
    ("effective op, utilization 90%, hot 30%", 0.82333),
    ("effective op, utilization 90%, hot 40%", 0.6175),
    ("expected-value, utilization 80%, hot 30%", 1.198),
    ("expected-value, utilization 90%, hot 20%", 1.176),
    ("expected-value, utilization 90%, hot 30%", 1.349),
    ("expected-value, utilization 90%, hot 40%", 1.536),
    ("Table 6: expected-value, utilization 80%, hot 30%", 1.19),
    ("Table 6: expected-value, utilization 90%, hot 20%", 1.17),
    ("Table 6: expected-value, utilization 90%, hot 30%", 1.35),
    ("Table 6: expected-value, utilization 90%, hot 40%", 1.53),
    ("section 4.4: expected-value above the drive (%)", -0.6),
    ("simulated fifo at op 0.28, N=64", 2.48131),
    ("simulated greedy at op 0.28, N=64", 2.4036),
    ("simulated greedy at op 0.1, N=64", 5.250),
    ("simulated greedy at op 0.147, N=128", 3.9690),
    ("U=2000, s=1", 2.4813),
    ("U=2000, s=4", 2.4791),
    ("U=2000, s=16", 2.4724),
    ("U=2000, s=64", 2.4543),
    ("U=2000, s=256", 2.4225),
    ("U=2000, s=all", 2.4036),
    ("time of coupon-collector, N=64", 58),
    ("time of coupon-collector, N=512", 3690),
    ("time of coupon-collector, N=32768", 86400),
    ("Fig. 3: drive at op 0.28, all fifteen passes", 2.466),
    ("Fig. 3: drive at op 0.28 without the first five passes", 2.481),
    ("section 4.4: op", 0.28),
    ("section 4.5: op", 0.147),
    ("section 4.1: WA with 8 channels", 1),
    ("Fig. 2: cost of the Coupon Collector for each doubling of N, eq. 3", 4),
    ("Fig. 2: cost of the Coupon Collector for each doubling of N, as computed", 4),
    ("Fig. 4: drive, utilization 80%, hot 30%", 1.19),
    ("Fig. 4: drive, utilization 90%, hot 20%", 1.17),
    ("Fig. 4: drive, utilization 90%, hot 30%", 1.341),
    ("Fig. 4: drive, utilization 90%, hot 40%", 1.518),
]
ERRATA = {
    "section 4.4: expected-value above the drive (%)",
    "Table 4: markov / expected-value, N=128",
}


@pytest.fixture(scope="session")
def replay() -> Replay:
    return Replay()


@pytest.fixture(scope="session")
def found(replay: Replay) -> Findings:
    """Findings of a short reproduction, computed once for all tests."""
    return PAPERS["park2017"].run(Bench(runner=replay))


def item_of(found: Findings, name: str, published: float) -> Item:
    items = [i for i in found.items if name in i.item and i.published == published]
    assert len(items) == 1, name
    return items[0]


def test_the_gallery_has_every_number_of_the_paper(found: Findings, tmp_path: Path) -> None:
    document = Reproduction(**vars(found), paper=PAPERS["park2017"]).to_dict()
    (tmp_path / "park2017.json").write_text(json.dumps(document))
    shown = write_gallery(tmp_path).read_text()
    assert [one.item for one in found.items if f">{html_text(one.item)}<" not in shown] == []
    assert found.count()["erratum"] > 0
    for title in ("Errata", "Differs from the print", f"All {len(found.items)} numbers"):
        assert title in shown


def test_all_is_found_again_but_for_what_is_known_to_differ(found: Findings) -> None:
    assert_reproduced("park2017", found)


def test_every_match_is_computed(found: Findings, replay: Replay) -> None:
    names = ("uniform_distribution", "expected_value", "markov", "coupon_collector", "effective_op")
    roots = [(drive, "overwrite"), *((wa.models, name) for name in names)]
    assert_matches_are_computed(
        found,
        lambda: PAPERS["park2017"].run(Bench(runner=replay.changed())),
        *roots,
        counted={one.item for one in found.items if "eq. 3 written out" in one.item},
    )


def test_every_published_value_is_an_item(found: Findings) -> None:
    for name, published in PUBLISHED:
        item_of(found, name, published)


def test_exactly_the_known_misprints_are_errata(found: Findings) -> None:
    assert {item.item for item in found.items if item.verdict == "erratum"} == ERRATA


def test_the_models_need_no_figure_unless_one_is_wanted(found: Findings) -> None:
    assert found.figures == {}


# The drive has as many superblocks as the paper's, each with fewer pages.
DRIVE = wa.device("samsung-843tn", pages_per_block=128)


def test_the_profile_is_the_papers_drive() -> None:
    drive = wa.device("samsung-843tn")
    assert drive.pages_per_erase_unit * drive.page_bytes == 256 * 2**20
    assert drive.op == pytest.approx(0.147, abs=1e-6)
    assert drive.logical_pages * drive.page_bytes / 2**30 == pytest.approx(215, abs=0.2)


def test_only_superblocks_make_many_channels_amplify_like_one() -> None:
    drive = wa.device("samsung-843tn", pages_per_block=512)
    one = overwrite(drive, 1.0, 0.5).all
    of_superblocks, of_blocks = (
        overwrite(channels_of(drive, unit), 1.0, 0.5).all for unit in ("superblock", "block")
    )
    assert of_superblocks == pytest.approx(one, rel=0.001)
    assert of_blocks < 0.95 * one


def test_the_first_pass_finds_free_blocks_and_the_later_ones_do_not() -> None:
    passes = overwrite(DRIVE, 0.9, 0.4)
    assert passes.wa_of_pass.shape == (PASSES,)
    assert passes.wa_of_pass[0] < 0.9 * passes.settled
    assert passes.all < passes.settled
    assert np.ptp(passes.wa_of_pass[5:]) < 0.02


def test_passes_add_up_to_the_simulation_they_come_from() -> None:
    result = wa.simulate(
        DRIVE,
        two_files(0.9, 0.4, "uniform"),
        utilization=0.9,
        writes=PASSES * round(0.4 * DRIVE.logical_pages),
        warmup=0,
    )
    assert overwrite(DRIVE, 0.9, 0.4).all == pytest.approx(result.wa, rel=1e-12)


def test_mixed_writes_do_not_amplify_once_the_effective_op_exceeds_1() -> None:
    # Every page is overwritten within two passes. If the effective op exceeds 1, the spare space
    # lasts that long.
    pattern = "phases:writes=1/1,of=sequential/uniform"
    assert overwrite(DRIVE, 0.8, 0.3, pattern).all == 1.0
    assert overwrite(DRIVE, 0.9, 0.3, pattern).settled > 1.2


def test_a_percent_of_the_writes_to_cold_data_undoes_the_effective_op() -> None:
    drive = wa.device("samsung-843tn", pages_per_block=32)
    cold = overwrite_for_long(drive, 0.9, 0.1)
    hardly_cold = overwrite_for_long(drive, 0.9, 0.1, cold_share=0.01)
    assert cold == pytest.approx(
        wa.models.expected_value(wa.models.effective_op(0.147, 0.9, 0.1)), rel=0.03
    )
    assert hardly_cold > 3 * cold


def test_skew_within_the_hot_file_amplifies_more_than_the_effective_op_says() -> None:
    uniform = overwrite_for_long(DRIVE, 0.9, 0.4)
    skewed = overwrite_for_long(DRIVE, 0.9, 0.4, pattern="zipf:s=0.99")
    assert skewed > 1.3 * uniform
