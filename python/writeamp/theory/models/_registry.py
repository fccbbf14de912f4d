"""The registry of models, which the command line, the documentation and the tests read."""

from __future__ import annotations

from writeamp.errors import unknown
from writeamp.theory.models._model import Model
from writeamp.theory.models.coupon_collector import MODEL as COUPON_COLLECTOR
from writeamp.theory.models.d_choices import MODEL as D_CHOICES
from writeamp.theory.models.expected_value import MODEL as EXPECTED_VALUE
from writeamp.theory.models.fifo import MODEL as FIFO
from writeamp.theory.models.markov import MODEL as MARKOV
from writeamp.theory.models.uniform_distribution import MODEL as UNIFORM_DISTRIBUTION

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        UNIFORM_DISTRIBUTION,
        EXPECTED_VALUE,
        FIFO,
        MARKOV,
        D_CHOICES,
        COUPON_COLLECTOR,
    )
}


def find_model(name: str) -> Model:
    """Return the registered model called `name`; an unknown name is a `WriteampError`.

    >>> import writeamp as wa
    >>> wa.models.find_model("markov").parameters
    ('op', 'pages_per_block')
    """
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    return MODELS[name]
