"""The registry of models, which the command line, the documentation and the tests read."""

from __future__ import annotations

from importlib import import_module

from writeamp.fields.domains import OneOf
from writeamp.models._model import Model
from writeamp.models.names import MODEL_NAMES

MODELS: dict[str, Model] = {
    name: import_module(f"writeamp.models._{name.replace('-', '_')}").MODEL for name in MODEL_NAMES
}


def find_model(name: str) -> Model:
    """Return the registered model called `name`; an unknown name is a `WriteampError`.

    >>> import writeamp as wa
    >>> wa.models.find_model("markov").parameters
    ('op', 'pages_per_block')
    """
    return MODELS[OneOf(tuple(MODELS)).check("model", name)]
