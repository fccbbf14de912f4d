"""Paper 2's tables, computed anew on hardly any rows; and, where all is asked for, in short."""

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
from reproduced import assert_reproduced
from stand_in_runners import AsElsewhere
from writeamp.cli import main
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp_papers import PAPERS, Bench, Findings
from writeamp_papers.huang2011 import campaign, device_scores, traces
from writeamp_papers.huang2011.campaign import SHORT
from writeamp_papers.huang2011.example_tree import leaves_of
from writeamp_papers.huang2011.readings import READINGS
from writeamp_papers.known import known_differences, not_comparable

PAPER = PAPERS["huang2011"]
TINY = replace(
    SHORT,
    cells=40,
    disk_cells=40,
    array_cells=40,
    stretch=30,
    lead=2,
    flash_bytes=1 << 28,
    disk_s=0.5,
    sizes=6,
    window_requests=200,
    windows=60,
)


@pytest.fixture(scope="module", autouse=True)
def tiny() -> Iterator[None]:
    """Replace the extent of the measurements by a very small one."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (campaign, traces):
            patch.setattr(module, "form_of", lambda **_: TINY)
        yield


def forget(patch: pytest.MonkeyPatch) -> None:
    """Clear the measurements and models that this process has stored."""
    patch.setattr(campaign, "_STORE", campaign.Store())
    patch.setattr(device_scores, "_KNOWN", {})


@pytest.fixture(scope="module")
def found() -> Findings:
    return PAPER.run(Bench(figures=True, runner=AsElsewhere()))


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
    assert all(math.isfinite(item.ours) for item in found.items if "Table IV" not in item.item)


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
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    found: Findings,
) -> None:
    forget(monkeypatch)
    told: list[str] = []
    real = campaign.measured
    asked = ["reproduce", "huang2011", "--json", "--resume", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["writeamp", *asked])

    def interrupted(stretch: campaign.Stretch) -> list[tuple[float, ...]]:
        if stretch.device == "SSD_I" and stretch.way.name == "fresh":
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
    assert not any("SSD_I: mean" in item["item"] for item in document["items"])
    assert any("runs left on HDD_S (device 1 of 5), about " in text for text in told)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept

    forget(monkeypatch)
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
    whole = {item.item: item.to_dict()["values"] for item in found.items}
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
    forget(monkeypatch)
    for module in (campaign, traces):
        monkeypatch.setattr(module, "form_of", lambda **_: SHORT)
    assert_reproduced("huang2011", PAPER.run(Bench()))
