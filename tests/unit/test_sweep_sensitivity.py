"""Sensitivity: indices of a function that are known, and what of designs is refused."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import in_process
import writeamp as wa
from refusals import refusal
from sweeping import FormulaKind, file_of, formula_results, plan, search
from writeamp.errors import WriteampError
from writeamp.runs.seeds import replica_seed
from writeamp.studies.sweep.kinds.kind import PointResult
from writeamp.studies.sweep.kinds.registry import KINDS
from writeamp.studies.sweep.views.indices import of_full_grid
from writeamp.studies.sweep.views.sensitivity import Sensitivity

# Of the Ishigami function with a = 7 and b = 0.1, x uniform from -π to π (Ishigami & Homma, 1990):
# V1 = (1 + b·π⁴/5)²/2, V2 = a²/8, V13 = 8·b²·π⁸/225.
_V1, _V2, _V13 = (1 + 0.1 * math.pi**4 / 5) ** 2 / 2, 49 / 8, 8 * 0.01 * math.pi**8 / 225
_V = _V1 + _V2 + _V13
FIRST_ORDER = {"x": _V1 / _V, "y": _V2 / _V, "z": 0.0}
TOTAL = {"x": (_V1 + _V13) / _V, "y": _V2 / _V, "z": _V13 / _V}
AXES = {name: {"from": -math.pi, "to": math.pi} for name in "xyz"}


def ishigami(x: float, y: float, z: float, seed: int = 1, scale: float = 1.0) -> PointResult:
    """Return the function, times `scale`."""
    value = math.sin(x) + 7 * math.sin(y) ** 2 + 0.1 * z**4 * math.sin(x)
    return PointResult(scale * value)


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give what runs a sweep of the Ishigami function and returns its sensitivity."""

    def run(**sweep: Any) -> Sensitivity:
        asked = {"axes": AXES} | sweep
        return formula_results(monkeypatch, ishigami, tmp_path / "out", **asked).sensitivity()

    return run


def values(found: Sensitivity, measure: str, part: int = 0) -> dict[str, float]:
    """Return the indices of one measure by axis."""
    return {one.axis: one.value for one in found.parts[part].indices if one.measure == measure}


def test_saltellis_design_finds_the_known_indices(look: Any) -> None:
    found = look(design="saltelli", samples=1024)
    assert values(found, "first_order") == pytest.approx(FIRST_ORDER, abs=0.05)
    assert values(found, "total") == pytest.approx(TOTAL, abs=0.05)
    known = {"first_order": FIRST_ORDER, "total": TOTAL}
    for one in found.parts[0].indices:
        assert one.low - 0.01 <= known[one.measure][one.axis] <= one.high + 0.01
        assert one.low < one.value < one.high


@pytest.mark.parametrize("design", ["random", "latin-hypercube"])
def test_independent_samples_find_the_known_first_order_indices(design: str, look: Any) -> None:
    found = look(design=design, samples=1024)
    assert values(found, "first_order") == pytest.approx(FIRST_ORDER, abs=0.08)
    assert values(found, "total") == {}
    for one in found.parts[0].indices:
        assert one.low <= FIRST_ORDER[one.axis] <= one.high


def test_morris_finds_which_axes_have_effects_and_interactions(look: Any) -> None:
    found = look(design="morris", samples=64)
    effects, spread = values(found, "mu_star"), values(found, "sigma")
    assert set(effects) == set("xyz")
    # At the levels of the design, sin² has one value, so that y has no effect that it can see.
    assert min(effects["x"], effects["z"]) > 1
    assert spread["z"] > 1


def test_a_linear_function_has_its_slopes_as_elementary_effects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def linear(a: float, b: float, **_: Any) -> PointResult:
        return PointResult(3 * a + b)

    axes = {name: {"from": 0, "to": 2} for name in "ab"}
    sweep = {"design": "morris", "samples": 8, "axes": axes}
    found = formula_results(monkeypatch, linear, tmp_path, **sweep).sensitivity()
    assert values(found, "mu_star") == pytest.approx({"a": 6, "b": 2})
    assert values(found, "sigma") == pytest.approx({"a": 0, "b": 0}, abs=1e-9)


def test_a_full_grid_has_the_indices_of_its_cells(look: Any) -> None:
    fine = {name: np.linspace(-math.pi, math.pi, 41)[:-1].tolist() for name in "xy"}
    coarse = {"z": np.linspace(-math.pi, math.pi, 9)[:-1].tolist()}
    found = look(axes=fine | coarse)
    first, total = values(found, "first_order"), values(found, "total")
    assert first == pytest.approx(FIRST_ORDER, abs=0.1)
    assert first["y"] == pytest.approx(total["y"])  # which takes part in no interaction
    assert first["z"] == pytest.approx(0, abs=1e-12)
    assert total["z"] == pytest.approx(1 - first["x"] - first["y"])


def test_indices_of_a_sum_add_up_and_axes_may_be_words() -> None:
    a, b = np.meshgrid([0.0, 1.0, 2.0], [0.0, 10.0], indexing="ij")
    found = {(one.axis, one.measure): one.value for one in of_full_grid("ab", (a + b)[None])}
    share = np.var([0, 1, 2]) / (np.var([0, 1, 2]) + np.var([0, 10]))
    for measure in ("first_order", "total"):
        assert found["a", measure] == pytest.approx(share)
        assert found["b", measure] == pytest.approx(1 - share)


def test_replicas_give_a_grid_its_intervals() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, (5, 4, 3))
    y = np.arange(4.0)[None, :, None] + noise
    for one in of_full_grid(("matters", "noise"), y):
        assert 0 <= one.low < one.value < one.high <= 1
        assert (one.low > 0.8) == (one.axis == "matters")
    assert all(math.isnan(one.low) for one in of_full_grid(("matters", "noise"), y[:1]))


def test_an_axis_of_seeds_gives_a_grid_the_intervals_that_replicas_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noisy(a: float, b: float, seed: int) -> PointResult:
        return PointResult(a + float(np.random.default_rng([seed, int(a), int(b)]).normal()))

    axes = {"a": [0, 1, 2], "b": [0, 1]}
    seeds = [replica_seed(1, replica) for replica in range(3)]
    by_replicas, by_seeds = (
        formula_results(monkeypatch, noisy, tmp_path / str(at), **sweep).sensitivity().to_dict()
        for at, sweep in enumerate(
            ({"axes": axes, "replicas": 3}, {"axes": axes | {"seed": seeds}})
        )
    )
    assert by_seeds == by_replicas
    (part,) = by_seeds["sensitivity"]
    assert all(index["low"] is not None for index in part["indices"])


def test_a_grid_whose_cells_have_no_seed_in_common_is_refused(look: Any, tmp_path: Path) -> None:
    for y, seed in ((0, 1), (1, 2)):
        with pytest.raises(WriteampError):
            look(axes={"x": [1], "y": [y], "z": [0], "seed": [seed]})
    with pytest.raises(WriteampError, match="no common seed"):
        wa.sweep_results(tmp_path / "out").sensitivity()


def test_listed_axes_have_indices_for_each_of_their_values(look: Any) -> None:
    found = look(design="saltelli", samples=64, axes=AXES | {"scale": [1.0, 5.0]}, replicas=2)
    assert [part.choice for part in found.parts] == [{"scale": 1.0}, {"scale": 5.0}]
    assert values(found, "total", 0) == pytest.approx(values(found, "total", 1))


def test_where_keeps_the_indices_of_some_listed_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = {"design": "saltelli", "samples": 64, "axes": AXES | {"scale": [1.0, 5.0]}}
    results = formula_results(monkeypatch, ishigami, tmp_path, **sweep)
    (part,) = results.where(scale=5).sensitivity().parts
    assert part.choice == {"scale": 5.0}


def test_points_that_mean_the_same_count_as_often_as_the_design_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "formula", FormulaKind(lambda a, b, **_: PointResult(2.0 * a + b)))
    axes = {name: {"from": 0, "to": 1, "integer": True} for name in "ab"}
    sweep = {"design": "saltelli", "samples": 256, "axes": axes}
    found = wa.sweep({"verb": "formula", "sweep": sweep}, keep=tmp_path, runner=wa.runners.Here())
    assert found.points == 4
    assert values(found.results.sensitivity(), "total") == pytest.approx(
        {"a": 0.8, "b": 0.2}, abs=0.05
    )


def test_designs_without_a_sound_analysis_are_refused(look: Any) -> None:
    sentence = refusal(look, design="sobol", samples=64)
    assert "design sobol has no valid analysis" in sentence
    assert "saltelli" in sentence
    assert "at least 64" in refusal(look, design="random", samples=32)
    assert "at least 16" in refusal(look, design="saltelli", samples=8)
    assert "100" in refusal(look, design="saltelli", samples=100)
    zipped = {"x": [0, 1], "y": [0, 1], "z": [0]}
    assert "2 of the 4 combinations of x, y" in refusal(look, axes=zipped, zip=["x", "y"])
    assert "nothing varies" in refusal(look, axes={"x": [0], "y": [1], "z": [2]})


def test_a_search_says_nothing_of_which_axis_matters(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="needs optuna, the extra `search`")
    asked = search(samples=3)
    found = wa.sweep(asked, keep=tmp_path, runner=wa.runners.Here())
    with pytest.raises(WriteampError, match="a search chooses points near the best goal"):
        found.results.sensitivity()
    with pytest.raises(WriteampError, match="the plan is a search"):
        wa.sweep_results(tmp_path, of=asked)


def test_what_is_the_same_everywhere_or_missing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(a: float, b: float, **_: Any) -> PointResult:
        return PointResult(None if a > 1 else 2.0)

    axes = {"a": [0, 1, 2], "b": [0, 1]}
    results = formula_results(monkeypatch, step, tmp_path, axes=axes)
    with pytest.raises(WriteampError, match="2 of 6 runs have no wa"):
        results.sensitivity()
    with pytest.raises(WriteampError, match="wa is 2 everywhere"):
        results.where(a=[0, 1]).sensitivity()


def test_without_salib_the_sentence_says_what_to_install(
    look: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "SALib.sample.sobol", None)
    assert "pip install 'writeamp[sensitivity]'" in refusal(look, design="saltelli", samples=16)


ENGINE = {
    "design": "saltelli",
    "samples": 16,
    "axes": {"op": {"from": 0.15, "to": 0.5}, "writes": {"from": 9000, "to": 10_000}},
}


def test_op_matters_more_than_the_length_of_the_run(tmp_path: Path) -> None:
    found = wa.sweep(plan(ENGINE), keep=tmp_path, runner=wa.runners.Here()).results.sensitivity()
    total = values(found, "total")
    assert list(total) == ["op", "writes"]
    assert total["op"] > 0.5
    assert total["writes"] < 0.05
    grid = plan({"axes": {"op": [0.2, 0.3, 0.4], "writes": [9000, 9500, 10_000]}, "replicas": 2})
    again = values(
        wa.sweep(grid, keep=tmp_path / "grid", runner=wa.runners.Here()).results.sensitivity(),
        "total",
    )
    assert again["op"] > 0.9
    assert again["writes"] < 0.05


def test_the_command_needs_the_file_of_a_design_and_then_shows_its_indices(tmp_path: Path) -> None:
    file, out = file_of(tmp_path, plan(ENGINE)), tmp_path / "out"
    assert in_process.run("sweep", f"{file} --out {out} --workers 1").status == 0
    without = in_process.run("sweep show", f"{out} --sensitivity")
    assert (without.status, "--of FILE.toml" in without.err) == (2, True)
    document = in_process.document("sweep show", f"{out} --sensitivity --of {file}")
    (part,) = document["sensitivity"]
    assert {one["measure"] for one in part["indices"]} == {"first_order", "total"}
    picture = tmp_path / "out.svg"
    done = in_process.run("sweep show", f"{out} --sensitivity --of {file} --plot {picture}")
    assert "writes" in done.out
    for words in ("Sensitivity of write amplification", "first order", "total", "writes"):
        assert words in picture.read_text("utf-8")
