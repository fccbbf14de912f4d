"""Models of a question's load and policies, and why these may be outside what a model is of."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.answers.question import Question
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runs.described import DescribedRun, all_described, describing, nearest
from writeamp.runs.expectation import held_in_words, model_inputs


@dataclass(frozen=True)
class TheoreticalWa:
    """WA by a theory, its assumptions, and why it may not hold for the question; "" if it does."""

    wa: float
    reason: str
    assumes: str


def theories(question: Question, kind: str) -> list[DescribedRun]:
    """Return the models of a kind of this very load, or else the nearest of uniform writes."""
    own = describing(question.plan, question.drive, question.held_pages)
    of_load = [one for one in own if one.is_of_load and one.describes.kind == kind]
    return [one for one in of_load if _is_solved(one, question)] or nearest(question.plan, kind)


def theory_of(question: Question, kind: str) -> DescribedRun | None:
    """Return the theory to which rows of a kind are traced back, or None."""
    return next(iter(theories(question, kind)), None)


def described_policies(question: Question, kind: str) -> list[str]:
    """Return the policies, and loads other than uniform writes, that models of a kind describe."""
    of_kind = [one for one in all_described(question.plan) if one.describes.kind == kind]
    return list(dict.fromkeys(one.describes.policies for one in of_kind))


def by_theory(question: Question, theory: DescribedRun) -> TheoreticalWa:
    """Ask a theory, at the op of the pages that hold data.

    Raises:
        WriteampError: a drive that it cannot compute.
    """
    drive = theory.inputs(model_inputs(question.drive, question.held_pages))
    others = [] if theory.is_of_load else _outside_of(question, theory)
    outside = [*others, *theory.model.warnings(drive)]
    where = held_in_words(question.drive, question.held_pages)
    return TheoreticalWa(
        wa=theory.model.wa(drive),
        reason="outside its domain: " + "; ".join(outside) if outside else "",
        assumes=theory.label if theory.is_of_load else f"{theory.model.assumes}; {where}",
    )


def _is_solved(theory: DescribedRun, question: Question) -> bool:
    try:
        by_theory(question, theory)
    except WriteampError:  # parameters that it does not solve
        return False
    return True


def _outside_of(question: Question, theory: DescribedRun) -> list[str]:
    """Return how load and policies differ from those that a theory of uniform writes is of."""
    plan, found = question.plan, []
    if not (isinstance(plan.load, Spec) and plan.load.name == "uniform"):
        found.append(f"{plan.load_name} is not uniform random writes")
    elif "trim" in plan.load.params:
        found.append("the load trims, which it knows by the space that is free only")
    if Spec.of("managers", plan.policy.manager).name != "single":
        found.append(f"block manager {plan.policy.manager} is not single")
    if theory.victims != plan.policy.victims:
        found.append(f"victims are by {plan.policy.victims}, not {theory.victims}")
    if plan.policy.wear_leveling is not None:
        found.append(f"wear is levelled by {plan.policy.wear_leveling}")
    return found
