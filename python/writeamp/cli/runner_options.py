"""Options that choose a runner: this process, worker processes, or a cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from writeamp.cli.setting_options import described, given_values, setting_parameters
from writeamp.fields.setting import Settings, places_in
from writeamp.runners import Here, Runner, Threads, runner_of
from writeamp.runners.settings import SchedulerSettings, ThreadSettings, WorkerSettings


def with_runner(body: Callable[..., None]) -> Callable[..., None]:
    """Return a subcommand with options for processes or a scheduler instead of `runner`.

    Its function gets a runner made from the options as the argument `runner`.
    """
    return _with_options(body, (WorkerSettings, SchedulerSettings))


def with_threads(body: Callable[..., None]) -> Callable[..., None]:
    """Return a subcommand with options for threads or a scheduler instead of `runner`.

    Its function gets a runner made from the options as the argument `runner`.
    """
    return _with_options(body, (ThreadSettings, SchedulerSettings))


def with_scheduler(body: Callable[..., None]) -> Callable[..., None]:
    """Return a subcommand with options for a scheduler instead of `runner`.

    Without --scheduler, its function gets None as `runner`, and uses threads of this process.
    """
    return _with_options(body, (SchedulerSettings,))


def _with_options(
    body: Callable[..., None], kinds: tuple[type[Settings], ...]
) -> Callable[..., None]:
    places = places_in(kinds, body.__name__)

    @wraps(body)
    def verb(*positional: Any, **arguments: Any) -> None:
        values = given_values({name: arguments.pop(name, None) for name in places})
        if WorkerSettings not in kinds and not values.keys() - {"workers"}:
            here = _threads(**values) if ThreadSettings in kinds else None
            body(*positional, runner=here, **arguments)
            return
        workers = values.pop("workers", None)
        cluster = SchedulerSettings(**values)
        with runner_of(workers=workers, scheduler=cluster.scheduler, tls=cluster.tls) as runner:
            body(*positional, runner=runner, **arguments)

    own = list(inspect.signature(body, eval_str=True).parameters.values())
    place = next(at for at, parameter in enumerate(own) if parameter.name == "runner")
    own[place : place + 1] = setting_parameters(places)
    return described(verb, own, [places])


def _threads(workers: int | None = None) -> Runner:
    ThreadSettings(workers)  # checks the number
    return Here() if workers == 1 else Threads(workers)
