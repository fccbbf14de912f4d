"""Checks of users' policies on small drives, each failure a sentence."""

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

    In every layout and under every wear leveller, with TRIMs among the writes, it must give
    streams that it has, leave the drive in order, do the same again in a second run of the same
    seed, and go on after its state was saved and restored as if nothing had happened. If Numba
    compiles it, the compiled and the plain one must do the same.

    Args:
        placement: the class, or what names it and its parameters.
        seed: decides every random draw.

    Raises:
        AssertionError: a sentence on what failed and where; what the placement raised is its cause.
        WriteampError: it is no placement, or cannot be made.
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
        _same(run, interpreted, compiled, "compiled by Numba, it does not what it does in Python")


def check_victim_policy(policy: str | Spec | type[custom.VictimPolicy], *, seed: int = 1) -> None:
    """Check a victim policy on small drives, with one stream and with two, as a placement is.

    Args:
        policy: the class, or what names it and its parameters.
        seed: decides every random draw.

    Raises:
        AssertionError: a sentence on what failed and where; what the policy raised is its cause.
        WriteampError: it is no victim policy, or cannot be made.
    """
    victims = Spec.of("victims", policy)
    _refuse_built_in("victims", victims)
    for one in ("single", "sepgc"):
        _check(Rig.of(Spec.of("managers", one), victims, seed))


def _check(rig: Rig) -> None:
    for run in rig.variants():
        counters, _ = _blame_policy(run, run.done)
        again, _ = _blame_policy(run, replace(run, batch_pages=7).done)
        _same(
            run,
            counters,
            again,
            "a second run of the same seed differs: it remembers something outside its attributes, "
            "or draws random numbers from something else than drive.seed",
        )
        _blame_policy(run, lambda run=run, counters=counters: _check_state(run, counters))  # type: ignore[misc]


def _check_state(run: Rig, whole: Counters) -> None:
    """Check that a run which is saved and restored in the middle goes on as one that is not."""
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
        "restored in the middle of a run it goes on differently: it remembers something that "
        "neither its attributes nor save() hold",
    )


def _same(run: Rig, one: Counters, other: Counters, otherwise: str) -> None:
    for name, count in one.items():
        if count != other[name]:
            raise AssertionError(
                f"{_subject(run)} {run.place}: {otherwise} ({name}: {count} and {other[name]})"
            )


def _blame_policy(run: Rig, work: Callable[[], _T]) -> _T:
    """Do a part of a run, and blame whatever it raises on the policy."""
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
        raise WriteampError(f"{spec.name} is built in; only what is written in Python is checked")


def _check_hooks(spec: Spec) -> None:
    """Check that each method which is called like a hook is one: nobody would call it."""
    policy = custom.find("managers", spec.text)
    assert policy is not None
    for name in dir(policy.cls):
        if name.startswith("on_") and name not in custom.HOOKS:
            raise AssertionError(f"{spec}: {unknown('hook', name, custom.HOOKS)}")


def _interpreted(compiled: Spec) -> Spec:
    """Return the same placement, run by Python."""
    policy = custom.find("managers", compiled.text)
    assert policy is not None
    return manager(policy.reference, **(policy.given | {COMPILED: False}))
