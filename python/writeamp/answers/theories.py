"""Models for a question's load and policies, and which assumptions these violate."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.answers.question import Question
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runs.described import DescribedRun, all_described, describing, nearest
from writeamp.runs.expectation import held_in_words, model_inputs


@dataclass(frozen=True)
class TheoreticalWa:
    """WA by a theory, its assumptions, and which assumptions the question violates, or ""."""

    wa: float
    reason: str
    assumes: str


def theories(question: Question, kind: str) -> list[DescribedRun]:
    """Return the models of a kind for this load, or else the nearest models for uniform writes."""
    own = describing(question.plan, question.drive, question.held_pages)
    of_load = [model for model in own if model.is_of_load and model.describes.kind == kind]
    return [model for model in of_load if _is_solved(model, question)] or nearest(
        question.plan, kind
    )


def theory_of(question: Question, kind: str) -> DescribedRun | None:
    """Return the theory with which rows of a kind are explained, or None."""
    return next(iter(theories(question, kind)), None)


def described_policies(question: Question, kind: str) -> list[str]:
    """Return the policies that models of a kind describe, with their load if it is not uniform."""
    of_kind = [model for model in all_described(question.plan) if model.describes.kind == kind]
    return list(dict.fromkeys(model.describes.policies for model in of_kind))


def by_theory(question: Question, theory: DescribedRun) -> TheoreticalWa:
    """Compute WA by a theory, at the effective op of the pages that hold data.

    Raises:
        WriteampError: the model does not support the drive.
    """
    drive = theory.inputs(model_inputs(question.drive, question.held_pages))
    others = [] if theory.is_of_load else _outside_of(question, theory)
    outside = [*others, *theory.model.warnings(drive)]
    where = held_in_words(question.drive, question.held_pages)
    return TheoreticalWa(
        wa=theory.model.wa(drive),
        reason="outside the model's assumptions: " + "; ".join(outside) if outside else "",
        assumes=theory.label if theory.is_of_load else f"{theory.model.assumes}; {where}",
    )


def _is_solved(theory: DescribedRun, question: Question) -> bool:
    try:
        by_theory(question, theory)
    except WriteampError:  # the model has no solution for these parameters
        return False
    return True


def _outside_of(question: Question, theory: DescribedRun) -> list[str]:
    """Return how load and policies differ from the theory's uniform writes and victim policy."""
    plan, violations = question.plan, []
    if not (isinstance(plan.load, Spec) and plan.load.name == "uniform"):
        violations.append(f"{plan.load_name} is not uniform random writes")
    elif "trim" in plan.load.params:
        violations.append("the load trims, which the model counts as free space only")
    if Spec.of("managers", plan.policy.manager).name != "single":
        violations.append(f"block manager {plan.policy.manager} is not single")
    if theory.victims != plan.policy.victims:
        violations.append(f"the victim policy is {plan.policy.victims}, not {theory.victims}")
    if plan.policy.wear_leveling is not None:
        violations.append(f"wear leveller {plan.policy.wear_leveling} is on")
    return violations
