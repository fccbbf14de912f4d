"""Profiles of twins: every verb takes all the drives that one may be, or the most probable."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import writeamp as wa
from recordings import POLICY, recorded, requests
from twins import PAGES, fitted
from writeamp.devices.candidates import Candidate, Candidates
from writeamp.learn.twin.profile import write_profile
from writeamp.reports.headlines.headline import headline
from writeamp.studies.mixture import CandidateRun, Mixture


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    write_profile(path, fitted().profile(), [])
    return path


def test_a_twin_predicts_what_the_drive_comes_to(profile: Path) -> None:
    load = {"workload": "hot-cold:f=0.2,r=0.8", "writes": 30_000}
    real = wa.simulate(
        logical_pages=PAGES, pages_per_block=16, op=0.2, manager="sepgc", replicas=1, **load
    )
    found = wa.simulate(profile, **load)
    assert isinstance(found, Mixture)
    low, high = found.interval_at(0.9)
    assert 0.97 * low <= real.wa <= 1.03 * high
    assert found.interval[0] <= low < found.wa < high <= found.interval[1]
    assert sum(one.candidate.weight for one in found.runs) > 0.9


def test_a_recording_is_served_by_every_drive_that_it_may_be(profile: Path, tmp_path: Path) -> None:
    trace = str(recorded(tmp_path, requests(20_000)))
    found = wa.simulate(profile, trace=trace)
    first = found.runs[0]
    one = first.candidate
    assert (one.manager, one.victims) != (POLICY["manager"], POLICY["victims"])
    alone = wa.simulate(
        "generic",
        trace=trace, op=one.op, pages_per_block=one.erase_unit_pages,
        manager=one.manager, victims=one.victims,
    )  # fmt: skip
    assert first.wa == alone.wa
    # What was recorded is asked about, and no WA that lasts: these few requests are not steady.
    assert not alone.steady
    assert first.half_width == alone.spread.wa_spread
    assert found.interval_at(0.9)[1] - found.interval_at(0.9)[0] < 0.2 * found.wa
    smaller = wa.simulate(profile, trace=trace, op=0.5)
    assert smaller.wa < found.wa
    assert wa.simulate(profile, trace=trace, size="32MiB").wa == found.wa
    with pytest.raises(wa.WriteampError, match="was recorded on a drive of 32 MiB"):
        wa.simulate(profile, trace=trace, size="64MiB")


def test_what_is_given_is_replaced_in_all_candidates(profile: Path) -> None:
    less = wa.simulate(profile, writes=2000)
    more = wa.simulate(profile, op=0.5, manager="single", writes=2000)
    assert {one.candidate.op for one in more.runs} == {0.5}
    assert {one.candidate.manager for one in more.runs} == {"single"}
    assert len({one.candidate.op for one in less.runs}) > 1
    assert more.wa < less.wa


def test_a_comparison_mixes_all_candidates_under_each_manager(profile: Path) -> None:
    found = wa.compare(profile, managers="single,sepgc,wolf", writes=3000)
    single, sepgc, wolf = found.rows
    mixed = wa.simulate(profile, manager="single", writes=3000, warmup=1500)
    of_rows = [row.substitutes[-1].mixture.runs for row in (single, sepgc)]
    assert [one.candidate for one in of_rows[0]] == [one.candidate for one in mixed.runs]
    assert single.wa == pytest.approx(mixed.wa, rel=1e-6)
    assert single.interval[0] < single.wa < single.interval[1]
    assert (single.ci, single.level) == (None, mixed.level)
    assert "± is the 95% interval of the candidates" in found.figure().subtitle
    assert "(95% interval of the candidates 2." in str(found)
    assert {one.candidate.manager for one in of_rows[1]} == {"sepgc"}
    assert {one.candidate.victims for one in of_rows[0]} == {"greedy"}
    assert wolf.wa > 1
    document = single.to_dict()
    assert len(document["candidates"]) == len(mixed.runs)
    assert document["wa_ci90"][0] >= document["wa_ci95"][0]
    assert any("most probable candidates" in one for one in found.notes)


def test_a_comparison_of_candidates_keeps_its_runs_and_its_other_rows(
    profile: Path, tmp_path: Path
) -> None:
    asked = {"managers": "single,wolf", "writes": 2000, "keep": tmp_path / "study"}
    first = wa.compare(profile, workload="uniform", **asked)
    again = wa.compare(profile, workload="uniform", **asked)
    assert (first.store_stats.done, again.store_stats.done) == (again.store_stats.skipped, 0)
    assert [row.wa for row in again.rows] == [row.wa for row in first.rows]
    many = "/".join("1" * 40)
    partial = wa.compare(profile, workload=f"groups:sizes={many},freq={many}", **asked)
    assert [row.manager for row in partial.rows] == ["single"]
    assert [(row.manager, row.place) for row in partial.omitted] == [("wolf", 1)]
    assert "40 groups of pages" in partial.omitted[0].reason
    impossible = wa.Experiment.of("compare", device=profile, managers="dac:regions=64")
    with pytest.raises(wa.WriteampError, match="dac"):
        wa.run(impossible)


def test_an_answer_is_of_all_candidates(profile: Path) -> None:
    found = wa.answer(profile, workload="uniform", writes=6000, quick=True)
    mixed = wa.simulate(profile, workload="uniform", writes=6000)
    assert [one.candidate for one in found.mixture.runs] == [one.candidate for one in mixed.runs]
    assert found.simulated.wa == pytest.approx(mixed.wa, rel=0.02)
    assert found.simulated.interval[0] < found.simulated.wa < found.simulated.interval[1]
    assert len(found.to_dict()["candidates"]) == len(mixed.runs)
    more_op = next(one for one in found.advice if one.change.startswith("op "))
    assert more_op.wa < more_op.wa_now
    assert more_op.interval[1] - more_op.interval[0] > 0.01 * more_op.wa
    assert any("rows only the most probable" in note for note in found.notes)


def test_a_life_is_as_wide_as_the_candidates_differ(profile: Path) -> None:
    from writeamp.drives.lifetime.under_load import factors  # noqa: PLC0415

    load = {"device": profile, "workload": "uniform"}
    found = factors(0.0, **load)
    assert found.candidates > 1
    middle, low, high = found.years
    assert low < middle < high
    # The more it writes, the sooner it is worn out; flash beside that is as good as the same.
    assert found.wa[2] * low == pytest.approx(1, rel=0.05)
    more = factors(0.3, **load)
    assert more.candidates == found.candidates
    alone = factors(0.3, device="generic", size="4MiB", workload="uniform")
    assert (alone.candidates, alone.years) == (1, (1.0, 1.0, 1.0))


def test_a_large_twin_is_simulated_as_a_capacity(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = wa.simulate(profile, writes=2000)
    monkeypatch.setattr("writeamp.studies.candidates._MOST_PAGES", PAGES - 1)
    found = wa.simulate(profile, writes=2000)
    assert [one.candidate for one in found.runs] == [one.candidate for one in usual.runs]
    assert found.wa == pytest.approx(usual.wa, rel=0.1)


def test_a_verb_of_one_drive_takes_the_most_probable_and_says_so(profile: Path) -> None:
    found = wa.endurance(profile, w_max=5, replicas=1)
    best = fitted().candidates[0]
    assert any("this run uses the most probable" in one for one in found.notes)
    assert str(found.plan.policy).startswith("sepgc, greedy")
    assert found.plan.device.pages_per_block == best.erase_unit_pages
    assert wa.device(profile).op == pytest.approx(best.op, rel=0.01)


def test_a_virtual_drive_is_the_most_probable(profile: Path) -> None:
    from writeamp.settings.device import DeviceSettings  # noqa: PLC0415
    from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings  # noqa: PLC0415
    from writeamp.vssd.specification import specify  # noqa: PLC0415

    found = specify(DeviceSettings(profile=profile), BuiltInPolicySettings(), DriveSettings())
    assert str(found.policy).startswith("sepgc, greedy")
    assert found.device.pages_per_block == fitted().candidates[0].erase_unit_pages
    assert any("most probable" in one for one in found.plan.notes)
    asked = BuiltInPolicySettings(victims="fifo")
    found = specify(DeviceSettings(profile=profile, op=0.4), asked, DriveSettings())
    assert str(found.policy).startswith("sepgc, fifo")
    assert found.device.op == pytest.approx(0.4, rel=0.01)


def test_an_experiment_on_a_twin_is_kept_in_a_file(profile: Path, tmp_path: Path) -> None:
    asked = wa.Experiment.of("simulate", device=profile, writes=3000)
    asked.to_toml(tmp_path / "experiment.toml")
    again = wa.Experiment.from_toml(tmp_path / "experiment.toml")
    assert again.candidates is not None


def test_a_damaged_posterior_is_refused(profile: Path) -> None:
    text = profile.read_text()
    for changed in (
        text.replace("logical_pages", "logical"),
        text.replace('manager = "sepgc"', "manager_ = 1"),
        text.replace("weight = 0", "weight = -0"),
    ):
        profile.write_text(changed)
        with pytest.raises(wa.WriteampError, match=r"\[twin\]"):
            wa.simulate(profile, writes=100)


def test_the_median_of_a_mixture_is_between_its_parts() -> None:
    def run(weight: float, found: float) -> CandidateRun:
        return CandidateRun(Candidate("single", "greedy", 0.2, 64, weight), found, 0.0, True)

    mixed = Mixture("mine.toml", "uniform", (run(0.5, 2.0), run(0.5, 4.0)), 0.01)
    assert 2.0 < mixed.wa < 4.0
    assert mixed.interval[0] == pytest.approx(2.0, rel=0.04)
    assert mixed.interval[1] == pytest.approx(4.0, rel=0.04)
    alone = Mixture("mine.toml", "uniform", (run(1.0, 2.0),), 0.01)
    assert alone.interval[1] == pytest.approx(2 * math.exp(0.0196), rel=1e-4)


def test_the_headline_of_a_fit_has_the_drive_its_op_and_the_windows_it_explains() -> None:
    document = fitted().to_dict()
    first = document["families"][0]
    sentence = headline(document)
    name = f"{first['manager']}, {first['victims']} ({first['weight']:.0%})"
    assert sentence.startswith(f"The most probable drive is {name} with op {document['op']:.4f} (")
    count = len(document["windows"])
    assert f" of {count} windows are in the WA's 90% interval." in sentence


def test_the_most_probable_candidates_have_rows_and_the_others_share_one(profile: Path) -> None:
    mixed = wa.simulate(profile, workload="uniform", writes=6000)
    assert isinstance(mixed, Mixture)
    one = mixed.runs[0]
    many = replace(mixed, runs=(one,) * 12)
    rows = [name for name, _ in many.card().rows]
    assert rows.count(f"{one.candidate.manager}, {one.candidate.victims}") == 10
    assert rows[-1] == "2 less probable candidates"


def test_the_fewest_candidates_carry_the_weight() -> None:
    members = tuple(
        Candidate("single", "greedy", 0.1 * at, 64, weight)
        for at, weight in enumerate((0.6, 0.3, 0.06, 0.04), 1)
    )
    found = Candidates(1000, 0.01, members)
    assert len(found.carrying) == 3
    assert [one.weight for one in found.replaced(op=0.2).members] == [pytest.approx(1.0)]
