"""Points that are answers of analytic models: one model and one drive each."""

from __future__ import annotations

from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.models._registry import MODELS, find_model
from writeamp.results.numbers import json_number
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import PointFound, Table, from_plain, scalars_of
from writeamp.studies.sweep.kinds.theory import TheoryKind, check_numbers
from writeamp.theory.prediction import check_question, predict
from writeamp.theory.settings import PredictionSettings
from writeamp.units.ratios import RATIOS

_DEFAULTS: dict[str, Any] = {
    name: getattr(PredictionSettings, name)
    for name in ("pages_per_block", "d", "window", "reserve", "logical_blocks")
}
_SHARES = ("utilization", "hot_ratio")


class PredictionKind(TheoryKind):
    """Kind of points that `writeamp.predict` gives: answers of analytic models."""

    name = "predict"
    names = ("model", *RATIOS, "target_wa", *_SHARES, *_DEFAULTS)
    whole_numbers = ("pages_per_block", "window", "reserve")
    ratios = (*RATIOS, *_SHARES)
    # Each says which drive is meant.
    one_of = (*RATIOS, "target_wa")
    defaults = _DEFAULTS

    def checked(self, given: dict[str, Any], choice: Choice) -> dict[str, Any]:
        """Return a question to a model."""
        if "model" not in given:
            raise WriteampError(
                f"model is missing; give one in [predict], or an axis of them: {', '.join(MODELS)}"
            )
        check_numbers(given, texts=("model",))
        find_model(given["model"])
        for name in self.whole_numbers:
            if not float(given[name]).is_integer():
                raise WriteampError(f"{name} is {shown(given[name])}; it must be a whole number")
        check_question(**{name: one for name, one in given.items() if name != "model"})
        return given

    def run(self, settings: Table) -> PointFound:
        """Ask the model."""
        question = from_plain(settings)
        model = question.pop("model")
        answers = predict(models=[model], **question)
        (answer,) = answers
        return PointFound(
            wa=json_number(answer.wa),
            measures=scalars_of({"op": answer.op, "in_domain": answer.in_domain}),
            warnings=(*answers.warnings, *answer.warnings),
        )
