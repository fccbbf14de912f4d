"""Registry of models, and their inverses: the op that a write amplification requires."""

from __future__ import annotations

from importlib import import_module

import numpy.typing as npt

from writeamp.errors import WriteampError, unknown
from writeamp.fields.arguments import checked
from writeamp.fields.domains import OneOf
from writeamp.models._arguments import FloatOrArray
from writeamp.models._model import Model
from writeamp.models.names import MODEL_NAMES

MODELS: dict[str, Model] = {
    name: import_module(f"writeamp.models._{name.replace('-', '_')}").MODEL for name in MODEL_NAMES
}


def find_model(name: str) -> Model:
    """Return the registered model called `name`.

    Returns:
        `Model`: `name`, `summary`, `wa(inputs)`, `parameters`, `source`.

    Raises:
        WriteampError: an unknown name.

    >>> import writeamp as wa
    >>> wa.models.find_model("markov").parameters
    ('op', 'pages_per_block')
    """
    is_unknown = isinstance(name, str) and name not in MODELS
    if is_unknown and (of_policy := _models_of(name)):
        raise WriteampError(
            f"unknown model {name!r}: it is a victim policy, for which use the model "
            f"{' or '.join(of_policy)}"
        )
    return MODELS[OneOf(tuple(MODELS)).check("model", name)]


def _models_of(policy: object) -> list[str]:
    """Return the models of uniform writes under a victim policy, closed forms first."""
    models = {
        name: description
        for name, model in MODELS.items()
        for description in model.describes
        if description.victims == policy and description.manager is None
    }
    return sorted(models, key=lambda name: models[name].kind)


@checked
def required_op(
    target_wa: npt.ArrayLike, model: str = "expected-value", **parameters: npt.ArrayLike
) -> FloatOrArray:
    """The op = (T−U)/U at which a model predicts the write amplification `target_wa`.

    The op is a closed form for the models uniform-distribution, expected-value, fifo and markov,
    and for greedy or random d-choices. For other models, it is found by root-finding, which takes
    as long as a prediction.

    Args:
        target_wa: write amplification, any shape, finite and greater than 1. Models with finite
            pages per block may have an upper bound, which they approach as op falls to 0.
        model: name of a registered model.
        parameters: the model's other parameters by name, broadcast against `target_wa`. Parameters
            with a default may be left out.

    Returns:
        The op, in the broadcast shape (a NumPy scalar for scalars).

    Raises:
        WriteampError: an unknown model or parameter, a missing parameter, or an invalid value.

    >>> import writeamp as wa
    >>> round(float(wa.models.required_op(1.5)), 4)
    0.6479
    """
    chosen = find_model(model)
    names = chosen.inverse_parameters
    for name in parameters:
        if name not in names:
            raise unknown(
                f"parameter of required_op for model {model!r},", name, ("target_wa", *names)
            )
    if "pages_per_block" in names and "pages_per_block" not in parameters:
        raise WriteampError(f"pages_per_block is missing; model {model!r} needs it")
    return chosen.inverse(wa=target_wa, **parameters)
