"""Published WA of flash caches with and without FDP, in bands over the unknown inputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replayed import Replay, assert_matches_are_computed
from reproduced import assert_reproduced
from writeamp_papers import PAPERS, Bench
from writeamp_papers.fdp_cache import paper
from writeamp_papers.fdp_cache.pairs import PAIRS, Pair

BOTH = "KV 2022-06, SOC 20%: largest relative error"


def pair(name: str) -> Pair:
    (named,) = (pair for pair in PAIRS if name in pair.name)
    return named


def test_verdicts_hold_what_all_papers_must_hold() -> None:
    replay = Replay()
    found = PAPERS["fdp-cache"].run(Bench(runner=replay))
    assert_reproduced("fdp-cache", found)
    assert_matches_are_computed(
        found,
        lambda: PAPERS["fdp-cache"].run(Bench(runner=replay.changed())),
        (paper.Inputs, "formula"),
    )
    assert all(" over op " in item.note for item in found.items if item.kind == "value")


def test_a_drive_that_ignores_handles_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = pair("KV 2022-06, SOC 20%")
    few = replace(chosen.unknowns, ops=(0.1, 0.2), soc_writes=(0.33, 0.66))
    monkeypatch.setattr(paper, "PAIRS", (replace(chosen, unknowns=few),))
    verdicts = {}
    for manager in ("nvme-fdp", "nvme-fdp:handles=1"):
        monkeypatch.setattr(paper, "_WITH_FDP", (manager,))
        if manager != "nvme-fdp":
            monkeypatch.setattr(paper.Inputs, "formula", lambda _: 1.0)
        (part,) = PAPERS["fdp-cache"].parts
        verdicts[manager] = {item.item: item.verdict for item in part(Bench()).items}
    (name,) = (item for item in verdicts["nvme-fdp"] if BOTH in item)
    assert [by_item[name] for by_item in verdicts.values()] == ["match", "differs"]


def verdicts_of(chosen: Pair, wa: float) -> set[str]:
    """Return the verdicts on a pair if every drive has the same WA."""
    runs = {
        (inputs, way): wa
        for inputs in paper.inputs_of(chosen.unknowns)
        for way in ("nvme-fdp", "Theorem 1", "single", "sepgc")
    }
    return {item.verdict for item in paper.items_of(chosen, runs)}


def test_a_published_value_outside_the_band_differs() -> None:
    assert verdicts_of(pair("KV 2022-06, SOC 4%"), 2.0) == {"differs"}


def test_drives_without_write_amplification_explain_no_pair() -> None:
    assert all("differs" in verdicts_of(chosen, 1.0) for chosen in PAIRS)
    assert all(min(chosen.unknowns.soc_writes) > 0 for chosen in PAIRS)


def test_old_data_take_their_share_of_the_drive_and_none_of_the_writes() -> None:
    inputs = paper.Inputs(soc=0.08, soc_writes=0.5, old_data=0.5, op=0.1)
    cache = replace(inputs, old_data=0.0, op=0.2)
    assert inputs.formula() == pytest.approx(cache.formula())
    of_half, of_whole = (paper.wa_of(one, "single", 160) for one in (inputs, cache))
    assert of_half == pytest.approx(of_whole, rel=0.1)
