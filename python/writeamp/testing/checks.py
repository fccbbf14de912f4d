"""Checks of users' policies on small drives, with failures as sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from writeamp import custom
from writeamp.custom.parameters import COMPILED
from writeamp.errors import PolicyError, WriteampError, unknown
from writeamp.registry.specs import Spec, manager
from writeamp.testing.rig import Counters, Rig, is_compiled

_T = TypeVar("_T")


def check_placement(placement: str | Spec | type[custom.Placement], *, seed: int = 1) -> None:
    """Check a placement on small drives.

    The checks run in all layouts, with all wear levellers, and with TRIMs among the writes. The
    placement must return valid streams and keep the drive consistent. A second run with the same
    seed must give the same counters, and so must a run that is saved and restored in the middle. If
    Numba compiles the placement, compiled and interpreted runs must give the same counters.

    Args:
        placement: the class, or a spec of it with parameters.
        seed: seed of all random draws.

    Raises:
        AssertionError: a sentence on the failure; an exception of the placement is its cause.
        WriteampError: not a placement, or its construction failed.
    """
    spec = Spec.of("managers", placement)
    _refuse_built_in("managers", spec)
    _check_hooks(spec)
    rig = Rig.of(spec, None, seed)
    _check(rig)
    if not is_compiled(spec):
        return
    plain = _interpreted(spec)
    for run in rig.variants():
        compiled, _ = _blame_policy(run, run.done)
        interpreted, _ = _blame_policy(run, replace(run, manager=plain).done)
        _same(run, interpreted, compiled, "results differ between Numba and plain Python")


def check_victim_policy(policy: str | Spec | type[custom.VictimPolicy], *, seed: int = 1) -> None:
    """Check a victim policy on small drives with one and two streams, like `check_placement`.

    Args:
        policy: the class, or a spec of it with parameters.
        seed: seed of all random draws.

    Raises:
        AssertionError: a sentence on the failure; an exception of the policy is its cause.
        WriteampError: not a victim policy, or its construction failed.
    """
    victims = Spec.of("victims", policy)
    _refuse_built_in("victims", victims)
    for name in ("single", "sepgc"):
        _check(Rig.of(Spec.of("managers", name), victims, seed))


def _check(rig: Rig) -> None:
    for run in rig.variants():
        counters, _ = _blame_policy(run, run.done)
        again, _ = _blame_policy(run, replace(run, batch_pages=7).done)
        _same(
            run,
            counters,
            again,
            "a second run with the same seed differs: the policy has state outside its attributes, "
            "or does not seed its random numbers with drive.seed",
        )
        _blame_policy(run, lambda run=run, counters=counters: _check_state(run, counters))  # type: ignore[misc]


def _check_state(run: Rig, whole: Counters) -> None:
    """Check that saving and restoring in the middle of a run does not change its counters."""
    saved = run.filled()
    saved.run(run.writes // 2)
    state = saved.save()
    restored = run.new()
    restored.restore(state)
    restored.run(run.writes - run.writes // 2)
    restored.assert_invariants()
    _same(
        run,
        whole,
        restored.counters(),
        "after saving and restoring in the middle of a run, results differ: the policy has state "
        "outside its attributes and save()",
    )


def _same(run: Rig, first: Counters, second: Counters, otherwise: str) -> None:
    for name, count in first.items():
        if count != second[name]:
            raise AssertionError(
                f"{_subject(run)} {run.place}: {otherwise} ({name}: {count} and {second[name]})"
            )


def _blame_policy(run: Rig, work: Callable[[], _T]) -> _T:
    """Call `work`, and convert its errors to an `AssertionError` about the policy."""
    try:
        return work()
    except PolicyError as error:
        raise AssertionError(f"{run.place}: {error}") from (error.__cause__ or error)
    except WriteampError as error:
        raise AssertionError(f"{_subject(run)} {run.place}: {error}") from error


def _subject(run: Rig) -> str:
    return str(run.victims or run.manager)


def _refuse_built_in(kind: str, spec: Spec) -> None:
    if custom.find(kind, spec.text) is None:
        raise WriteampError(f"{spec.name} is built in; give a policy that is written in Python")


def _check_hooks(spec: Spec) -> None:
    """Check that all methods named on_… are hooks; others would never be called."""
    policy = custom.find("managers", spec.text)
    assert policy is not None
    for name in dir(policy.cls):
        if name.startswith("on_") and name not in custom.HOOKS:
            raise AssertionError(f"{spec}: {unknown('hook', name, custom.HOOKS)}")


def _interpreted(compiled: Spec) -> Spec:
    """Return the same placement with compiled=no."""
    policy = custom.find("managers", compiled.text)
    assert policy is not None
    return manager(policy.reference, **(policy.arguments | {COMPILED: False}))
