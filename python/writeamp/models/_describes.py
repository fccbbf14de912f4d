"""Declarations of the loads and policies that a model describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Describes:
    """Load and policies for which a model computes WA, and the names of the result.

    `simulate`, `compare` and `answer` match it to a run. Without a manager, the load is uniform
    random writes on a drive of any fill. With a manager, the run must use that manager, on a full
    drive with one pool of blocks and without wear levelling. Loads with TRIM never match.

    Attributes:
        victims: name of the victim policy.
        row: second part of the name of the model's row in `answer`, as in "formula markov";
            {victims} and {manager} are replaced by the specs of the run.
        label: name of the model in `simulate` and `compare`, with the same replacements.
        kind: kind of row in `answer` that shows the model: "formula" for a closed form.
        arguments: fields of `ModelInputs`: numbers, or parameters of the run's specs, such as
            "victims.d", "manager.d_swap" or "load.hot_fraction".
        load: name of the workload.
        manager: name of the block manager; None for all managers that need no invalidation times.
        detector: value of the manager's parameter "detector", if it has that parameter.
        is_reference: True if the model is also shown for uniform writes under other policies.
        is_comparison: True if `simulate` shows it for runs that no other model describes.
        is_nearest: True if `answer` shows it for victim policies without a model of this kind.
    """

    victims: str
    row: str
    label: str
    kind: Literal["formula", "mean-field"] = "formula"
    arguments: Mapping[str, float | str] = field(default_factory=dict)
    load: str = "uniform"
    manager: str | None = None
    detector: str | None = None
    is_reference: bool = False
    is_comparison: bool = False
    is_nearest: bool = False

    @property
    def policies(self) -> str:
        """The policies as text; a load other than uniform writes is included."""
        return f"{self.manager} under {self.load}" if self.manager else f"{self.victims} victims"
