"""Paper 2's items in a part of the short form, compared with pins; and in the short form.

If a change moves the part's values, `papers/benches/part_pins.py` prints new pins.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forms import FULL as ALL_IS_ASKED_FOR
from item_values import assert_values
from replayed import Changed, Replay, assert_matches_are_computed, factors, moved
from reproduced import assert_matches_can_fail, assert_reproduced
from writeamp.cli import main
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp_papers import PAPERS, Bench, Findings, surprises
from writeamp_papers.huang2011 import campaign, device_scores, trace_loads, traces
from writeamp_papers.huang2011.example_tree import leaves_of
from writeamp_papers.huang2011.readings import READINGS
from writeamp_papers.huang2011.runs import WAYS
from writeamp_papers.huang2011.trace_loads import Spread, Third
from writeamp_papers.known import known_differences, not_comparable

PAPER = PAPERS["huang2011"]
# Hardly any runs, for what does not depend on values.
TINY = replace(
    campaign.PART, cells=12, disk_cells=12, stretch=8, lead=2, sizes=4, flash_bytes=1 << 28
)


def use(patch: pytest.MonkeyPatch, form: campaign.Form) -> None:
    """Replace the short form, and clear the measurements and models of this process."""
    patch.setitem(campaign.FORMS, "short", form)
    patch.setattr(campaign, "_STORE", campaign.Store())
    patch.setattr(device_scores, "_KNOWN", {})


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay()


@pytest.fixture(scope="module")
def found(replay: Replay) -> Iterator[Findings]:
    with pytest.MonkeyPatch.context() as patch:
        use(patch, campaign.PART)
        yield PAPER.run(Bench(figures=True, runner=replay))


def test_the_part_has_the_pinned_differences_and_no_other(found: Findings) -> None:
    assert surprises("huang2011", found.items, "part") == []


def test_without_drift_the_third_hour_is_as_easy_to_predict_as_any(
    found: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = Third(1.0, 1.0, 1.0, 1.0, Spread(rate=0.3))
    monkeypatch.setattr(trace_loads, "FINANCIAL_THIRDS", (alike,) * 3)
    errors = traces.errors_on("SSD_I", WAYS[0], campaign.PART, {})
    without = traces.sentences({"SSD_I": {way.name: errors for way in WAYS}})
    for items, verdict in ((found.items, "checked"), (without, "differs")):
        (order,) = [
            item for item in items if "SSD_I" in item.item and "windows in random" in item.item
        ]
        assert order.verdict == verdict


def test_every_item_is_named_once_and_has_a_value_under_each_reading(found: Findings) -> None:
    names = [item.item for item in found.items]
    assert len(set(names)) == len(names)
    for item in found.items:
        assert list(item.values) == [reading.name for reading in READINGS]
        assert item.statement.startswith("P2-"), item.item


def test_every_cell_of_the_tables_has_an_item(found: Findings) -> None:
    names = [item.item for item in found.items]
    cells = {"II": 48, "III": 36, "IV": 144, "V": 12, "VI": 12, "VII": 48}
    for table, count in cells.items():
        assert len([name for name in names if name.startswith(f"Table {table},")]) == count
    in_tables = [item for item in found.items if item.item.startswith("Table")]
    assert all(math.isfinite(item.ours) for item in in_tables if "Table IV" not in item.item)


def test_measured_values_are_those_that_are_stored(found: Findings) -> None:
    assert_values("huang2011", found.items, fitted="M[AR]E|R²|extended|basic|Fig. 8")


def test_every_match_is_computed(
    found: Findings, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_matches_can_fail("huang2011", found)
    by = factors()
    scores = {key: moved(of_device, by) for key, of_device in device_scores._KNOWN.items()}
    monkeypatch.setattr(device_scores, "_KNOWN", scores)
    # The last call replays the traces; the runs of the devices are stored.
    assert_matches_are_computed(
        found,
        lambda: PAPER.run(Bench(runner=Changed(replay.calls[-1:]))),
        counted={
            "Fig. 3: share of the write ratios at which SSD_I is not the fastest",
            "Fig. 8: share of the flash drives without queue_depth in the second-level splits for "
            "bandwidth",
        },
    )


def test_what_is_pinned_or_left_out_is_an_item(found: Findings) -> None:
    names = {item.item for item in found.items}
    assert set(known_differences("huang2011", "short")) <= names
    assert set(not_comparable("huang2011")) <= names
    assert len(not_comparable("huang2011")) == found.count()["not-comparable"]


def test_all_figures_are_drawn(found: Findings) -> None:
    assert set(found.figures) == {
        "fig3-write-ratio",
        "fig4-queue-depth",
        "fig5-request-size",
        "fig6-7-access-patterns",
        "fig8-tree",
        "fig9-10-improvements",
    }


def test_an_interrupted_reproduction_prints_what_is_finished_and_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, TINY)
    # HDD_S and SSD_S, which has no workload-specific models.
    two_devices = replace(PAPER, parts=(PAPER.parts[1], PAPER.parts[4]))
    monkeypatch.setitem(PAPERS, "huang2011", two_devices)
    whole = {item.item: item.to_dict()["values"] for item in two_devices.run(Bench()).items}
    use(monkeypatch, TINY)
    told: list[str] = []
    real = campaign.measured
    asked = ["reproduce", "huang2011", "--json", "--resume", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["writeamp", *asked])

    def interrupted(stretch: campaign.Stretch) -> list[tuple[float, ...]]:
        if stretch.device == "SSD_S" and stretch.way.name == "fresh":
            raise KeyboardInterrupt
        return real(stretch)

    monkeypatch.setattr(campaign, "measured", interrupted)
    with monkeypatch.context() as patch:
        patch.setattr("writeamp.cli.progress_bar.Bar.describe", lambda _, text: told.append(text))
        with pytest.raises(SystemExit) as stopped:
            main()
    document = json.loads(capsys.readouterr().out)
    assert stopped.value.code
    assert document["interrupted"] is True
    assert any(item["item"].startswith("Table II, latency, HDD_S") for item in document["items"])
    assert not any("SSD_S: mean" in item["item"] for item in document["items"])
    assert any("runs left on HDD_S (device 1 of 5), about " in text for text in told)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept

    use(monkeypatch, TINY)
    again: list[str] = []

    def counted(stretch: campaign.Stretch) -> list[tuple[float, ...]]:
        again.append(stretch.device)
        return real(stretch)

    monkeypatch.setattr(campaign, "measured", counted)
    with suppress(SystemExit):
        main()
    resumed = json.loads(capsys.readouterr().out)
    assert "HDD_S" not in again
    assert kept < {path.name for path in tmp_path.iterdir()}
    assert {item["item"]: item["values"] for item in resumed["items"]} == whole


def test_a_leaf_is_invalid_if_its_equation_is_below_zero_among_its_rows() -> None:
    size_kib = np.linspace(0, 100, 80)
    vectors = np.column_stack([size_kib, np.tile([0.0, 1.0], 40)])
    for offset, is_invalid in ((-20.0, True), (5.0, False)):
        model = LinearTreeRegressor(max_depth=0, log_terms=False, smoothing=0.0)
        model.fit(vectors, size_kib + offset + 0.1 * vectors[:, 1])
        (leaf,) = leaves_of(model.tree_, vectors)
        assert leaf is not None
        assert leaf.least == pytest.approx(offset, abs=0.5)
        assert leaf.is_invalid == is_invalid


@pytest.mark.skipif(not ALL_IS_ASKED_FOR, reason="takes minutes; make test-full has it")
def test_the_short_form_is_as_it_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, campaign.SHORT)
    assert_reproduced("huang2011", PAPER.run(Bench()))
