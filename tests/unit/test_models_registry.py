"""Contract of every registered model: shape, order, inverse and errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from writeamp import models
from writeamp.errors import WriteampError
from writeamp.meanfield.described import HOT_COLD_MODELS
from writeamp.models import MODELS, Describes, ModelInputs, find_model, required_op
from writeamp.models._model import AnalyticModel
from writeamp.registry.entries import engine_entries

NAMES = list(MODELS)
SIZES = {"pages_per_block": 64}


def wa(name: str, op: npt.ArrayLike, **others: Any) -> npt.NDArray[np.float64]:
    """Return a model's WA on arrays, by op whichever ratio it takes."""
    model, ratio = MODELS[name], np.asarray(op)
    given = {"op": ratio, "spare_factor": ratio / (1 + ratio), **SIZES, **others}
    names = {key: given[key] for key in model.parameters if key in given}
    return np.asarray(model.function(**names))


def inverse(name: str, target: npt.ArrayLike, **others: Any) -> npt.NDArray[np.float64]:
    given = {**SIZES, **others}
    names = {key: given[key] for key in MODELS[name].inverse_parameters if key in given}
    return np.asarray(required_op(target, name, **names))


@pytest.mark.parametrize("name", NAMES)
def test_a_registered_model_is_found_described_and_public(name: str) -> None:
    model = find_model(name)
    assert model.name == name
    for text in (model.summary, model.assumes, model.source):
        assert text
        assert "\n" not in text
    assert {"op", "spare_factor"}.intersection(model.parameters)
    assert set(model.parameters) - {"spare_factor"} <= set(ModelInputs.__dataclass_fields__)
    assert getattr(models, name.replace("-", "_")) is model.function


DESCRIBED = [
    (model, one) for model in (*MODELS.values(), *HOT_COLD_MODELS) for one in model.describes
]


@pytest.mark.parametrize(
    ("model", "describes"), DESCRIBED, ids=[f"{model.name}-{one.row}" for model, one in DESCRIBED]
)
def test_a_model_describes_registered_policies_by_parameters_that_it_takes(
    model: AnalyticModel, describes: Describes
) -> None:
    names = {"victims": describes.victims, "load": describes.load, "manager": describes.manager}
    for kind, name in names.items():
        assert name is None or name in parameters_of(kind)
    for name, source in describes.arguments.items():
        assert name in model.parameters
        if isinstance(source, str):
            kind, parameter = source.split(".")
            assert parameter in parameters_of(kind)[str(names[kind])]
            # The policy of the run may be another one.
            roles = (describes.is_reference, describes.is_comparison, describes.is_nearest)
            assert not any(roles)
    assert describes.manager or describes.load == "uniform"
    assert describes.detector is None or "detector" in parameters_of("manager")[names["manager"]]


def parameters_of(kind: str) -> dict[str | None, set[str]]:
    """Return the names of the entries of a kind, and of their parameters."""
    engine_kind = {"victims": "victims", "load": "workloads", "manager": "managers"}[kind]
    entries = engine_entries(engine_kind)  # type: ignore[arg-type]
    return {entry.name: {one.name for one in entry.params} for entry in entries}


@pytest.mark.parametrize(
    ("typo", "meant"), [("markof", "markov"), ("expected_value", "expected-value")]
)
def test_an_unknown_model_names_the_nearest_and_all_valid_ones(typo: str, meant: str) -> None:
    with pytest.raises(WriteampError) as error:
        find_model(typo)
    message = str(error.value)
    assert f"did you mean {meant!r}" in message
    assert all(name in message for name in MODELS)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(op=st.floats(1e-6, 1.0), step=st.floats(1e-6, 1.0))
def test_every_model_falls_as_op_grows(name: str, op: float, step: float) -> None:
    less, more = wa(name, [op, op * (1 + step)])
    # A root is found to the last bits, which a small step may not exceed.
    assert more < less * (1 + 1e-13)
    assert more < less or step < 1e-3


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(op=st.floats(1.0, 1e3), step=st.floats(1e-6, 1.0))
def test_no_model_rises_where_it_is_flat_to_the_last_bit(name: str, op: float, step: float) -> None:
    less, more = wa(name, [op, op * (1 + step)])
    assert more <= less * (1 + 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pages_per_block", [4, 64, 512])
def test_the_inverse_undoes_the_model_over_the_whole_domain(
    name: str, pages_per_block: int
) -> None:
    op = np.geomspace(1e-6, 1e3, 28)
    target = wa(name, op, pages_per_block=pages_per_block)
    # What is within rounding of 1 says nothing of op any more.
    told = target > 1 + 1e-9
    assert told.sum() >= 6
    found = inverse(name, target[told], pages_per_block=pages_per_block)
    again = wa(name, found, pages_per_block=pages_per_block)
    assert again == pytest.approx(target[told], rel=2e-13)
    # Where WA depends on op visibly, op comes back itself.
    steep = (op[told] > 1e-3) & (target[told] > 1.1)
    assert found[steep] == pytest.approx(op[told][steep], rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_and_its_inverse_broadcast_and_keep_the_shape(name: str) -> None:
    op = np.array([[0.1], [0.28], [1.0]])
    others = {"pages_per_block": np.array([16, 64])}
    shape = (3, 2) if "pages_per_block" in MODELS[name].parameters else (3, 1)
    table = wa(name, op, **others)
    assert table.shape == shape
    assert table[1, -1] == wa(name, 0.28)
    found = inverse(name, [[1.1], [1.15], [1.18]], **others)
    assert found.shape == shape
    assert found[2, -1] == inverse(name, 1.18)
    assert wa(name, []).shape == (0,)
    assert isinstance(required_op(1.3, name, **_sizes(name)), float)


def _sizes(name: str) -> dict[str, int]:
    return SIZES if "pages_per_block" in MODELS[name].parameters else {}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", [1, 0.5, 0, -2, math.nan, math.inf, "2", None])
def test_a_target_outside_its_domain_is_named_with_the_domain(name: str, target: object) -> None:
    with pytest.raises(WriteampError, match=r"^wa must be finite and greater than 1, .+, not "):
        inverse(name, target)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ratio", [0, -0.1, math.nan, math.inf])
def test_a_ratio_outside_its_domain_is_named_with_the_domain(name: str, ratio: float) -> None:
    model = MODELS[name]
    with pytest.raises(WriteampError, match=rf"^{model.parameters[0]} must be .*greater than 0"):
        model.function(**{model.parameters[0]: ratio}, **_sizes(name))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("markov", {"pages_per_block": 64}),
        ("d-choices", {"pages_per_block": 64, "d": math.inf}),
        ("coupon-collector", {"pages_per_block": 64, "window": 4}),
        ("coupon-collector", {"pages_per_block": 64, "window": 1, "logical_blocks": 10}),
    ],
)
def test_a_target_that_no_op_reaches_names_the_bound(
    name: str, parameters: dict[str, float]
) -> None:
    with pytest.raises(WriteampError, match=r"^wa must be less than [\d.e+]+, .* not 1000\.0$"):
        required_op([1.5, 1000.0], name, **parameters)


def test_the_bound_of_markov_is_the_one_that_it_approaches() -> None:
    with pytest.raises(WriteampError, match=r"less than 64\.1662"):
        required_op(64.1663, "markov", pages_per_block=64)
    assert required_op(64.1661, "markov", pages_per_block=64) < 1e-6


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("markov", {}, "pages_per_block is missing"),
        ("markov", {"pages_per_blok": 64}, "did you mean 'pages_per_block'"),
        ("expected-value", {"pages_per_block": 64}, "valid: target_wa$"),
        ("markow", {}, "did you mean 'markov'"),
    ],
)
def test_a_wrong_question_for_an_inverse_is_answered_with_the_right_one(
    name: str, parameters: dict[str, float], sentence: str
) -> None:
    with pytest.raises(WriteampError, match=sentence):
        required_op(1.5, name, **parameters)


def test_the_inverse_of_expected_value_is_its_closed_form() -> None:
    # op = −ln δ/(1 − δ) − 1 with δ = 1 − 1/A, which cancels for large A only.
    target = np.array([1.0001, 1.5, 2.0, 4.08375, 20.0])
    share = 1 - 1 / target
    closed = -np.log(share) / (1 - share) - 1
    assert required_op(target) == pytest.approx(closed, rel=1e-12)


@given(st.floats(1e4, 1e12))
def test_expected_value_needs_half_of_the_inverse_of_a_large_target(target: float) -> None:
    # op = 1/(2A) + 1/(3A²) + …
    expected = 0.5 / target + 1 / (3 * target * target)
    assert required_op(target) == pytest.approx(expected, rel=1e-8)


WARNINGS: list[tuple[str, dict[str, float], str | None]] = [
    ("uniform-distribution", {"op": 0.99}, None),
    ("uniform-distribution", {"op": 1.01}, "impossible WA below 1"),
    ("markov", {"op": 0.28, "pages_per_block": 64}, None),
    ("markov", {"op": 4.0, "pages_per_block": 64}, "WA is at least 1"),
    ("markov", {"op": 0.01, "pages_per_block": 64}, "3.0% below greedy"),
    ("expected-value", {"op": 0.01}, None),
    ("fifo", {"op": 0.28, "logical_blocks": 50}, "only 14 spare blocks"),
    ("fifo", {"op": 0.28, "logical_blocks": 500}, None),
    ("d-choices", {"op": 0.07, "logical_blocks": 100}, "only 7 spare blocks"),
    ("coupon-collector", {"op": 0.28, "window": 1}, None),
    ("coupon-collector", {"op": 0.28, "window": 2}, "of greedy collection, which is impossible"),
]


@pytest.mark.parametrize(("name", "drive", "sentence"), WARNINGS)
def test_a_model_warns_of_a_drive_outside_what_it_assumes(
    name: str, drive: dict[str, float], sentence: str | None
) -> None:
    found = MODELS[name].warning(**drive)
    if sentence is None:
        assert found is None
    else:
        assert found is not None
        assert sentence in found


@pytest.mark.parametrize("name", NAMES)
def test_every_model_warns_of_something(name: str) -> None:
    assert any(model == name and sentence for model, _, sentence in WARNINGS) or (
        MODELS[name].warning(op=0.1, logical_blocks=20, window=2) is not None
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("op", 0), ("pages_per_block", 0.5), ("d", 0), ("window", 0), ("reserve", -1),
     ("logical_blocks", 1), ("logical_blocks", math.nan)],
)  # fmt: skip
def test_a_drive_outside_its_domain_is_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(WriteampError, match=rf"^{field} must be "):
        ModelInputs(**{"op": 0.1, field: value})
