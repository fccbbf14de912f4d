"""Theories of a policy under uniform writes, and why a load is outside them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from writeamp.answers.question import Question
from writeamp.models._registry import find_model
from writeamp.registry.specs import Spec
from writeamp.runs.expectation import held_in_words, model_inputs


@dataclass(frozen=True)
class Theory:
    """A model of uniform writes under one victim policy, and the row that it gives.

    `victims` is the policy that the model is of, with the parameter `d` where it has one.
    """

    way: str
    model: str
    victims: str
    d: float = 1.0


@dataclass(frozen=True)
class TheoreticalWa:
    """WA by a theory, its assumptions, and why it may not hold for the question; "" if it does."""

    wa: float
    reason: str
    assumes: str


_MARKOV = Theory("formula markov", "markov", "greedy")
_GREEDY = Theory("mean-field greedy", "d-choices", "greedy", math.inf)
_FIFO = Theory("formula fifo", "fifo", "fifo")
_EXPECTED_VALUE = Theory("formula expected-value", "expected-value", "fifo")
_RANDOM = Theory("formula 1/spare_factor", "d-choices", "random")


def formulas(question: Question) -> tuple[Theory, ...]:
    """Return the closed forms nearest to the policy of a question, those of greedy for others."""
    victims = Spec.of("victims", question.policy.victims)
    known = {"fifo": (_FIFO, _EXPECTED_VALUE), "random": (_RANDOM,)}
    return known.get(victims.name, (_MARKOV,))


def mean_fields(question: Question) -> tuple[Theory, ...]:
    """Return the mean fields nearest to the policy of a question."""
    victims = Spec.of("victims", question.policy.victims)
    if victims.name == "d-choices":
        d = float(victims.params["d"])
        return (Theory(f"mean-field {victims}", "d-choices", str(victims), d),)
    return (_GREEDY,) if victims.name == "greedy" else ()


def theory_of(question: Question, kind: str) -> Theory | None:
    """Return the theory to which rows of a kind are traced back; None of none."""
    found = formulas(question) if kind == "formula" else mean_fields(question)
    return found[0] if found else None


def by_theory(question: Question, theory: Theory) -> TheoreticalWa:
    """Ask a theory, at the op of the pages that hold data.

    Raises:
        WriteampError: a drive that it cannot compute.
    """
    model = find_model(theory.model)
    drive = replace(model_inputs(question.drive, question.held_pages), d=theory.d)
    outside = [*outside_of(question, theory), *model.warnings(drive)]
    where = held_in_words(question.drive, question.held_pages)
    return TheoreticalWa(
        wa=model.wa(drive),
        reason="outside its domain: " + "; ".join(outside) if outside else "",
        assumes=f"{model.assumes}; {where}",
    )


def outside_of(question: Question, theory: Theory) -> list[str]:
    """Return why the load and the policies are others than a theory is of."""
    plan, found = question.plan, []
    if not (isinstance(plan.load, Spec) and plan.load.name == "uniform"):
        found.append(f"{plan.load_name} is not uniform random writes")
    elif "trim" in plan.load.params:
        found.append("the load trims, which it knows by the space that is free only")
    if Spec.of("managers", plan.policy.manager).name != "single":
        found.append(f"block manager {plan.policy.manager} is not single")
    if Spec.of("victims", plan.policy.victims) != Spec.of("victims", theory.victims):
        found.append(f"victims are by {plan.policy.victims}, not {theory.victims}")
    if plan.policy.wear_leveling is not None:
        found.append(f"wear is levelled by {plan.policy.wear_leveling}")
    return found
