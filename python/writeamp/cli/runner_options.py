"""Options that choose the runner: this process, processes of this machine, or a cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from writeamp.errors import WriteampError
from writeamp.runners import Tls, runner_of

_PANEL = "Who runs it"
_FOR_TLS = "for a scheduler at tls://…"


def _option(flag: str, metavar: str, help: str, **more: Any) -> Any:
    return typer.Option(
        flag, metavar=metavar, help=help, show_default=False, rich_help_panel=_PANEL, **more
    )


_WORKERS = {
    "workers": Annotated[
        int | None,
        _option(
            "--workers",
            "COUNT",
            "Processes of this machine; 1 is this one. By default one for each processor.",
            min=1,
        ),
    ],
}
_CLUSTER = {
    "scheduler": Annotated[
        str | None,
        _option(
            "--scheduler",
            "ADDRESS",
            "A Dask scheduler that runs, such as tcp://host:8786, whose workers do it.",
        ),
    ],
    "tls_ca_file": Annotated[
        str | None, _option("--tls-ca-file", "PEM", f"Certificate of the authority, {_FOR_TLS}")
    ],
    "tls_cert": Annotated[str | None, _option("--tls-cert", "PEM", f"Our certificate, {_FOR_TLS}")],
    "tls_key": Annotated[str | None, _option("--tls-key", "PEM", f"Our private key, {_FOR_TLS}")],
}


def with_runner(body: Callable[..., None]) -> Callable[..., None]:
    """Return a verb whose argument `runner` is made from options: workers here, or a scheduler."""
    return _with_options(body, _WORKERS | _CLUSTER)


def with_scheduler(body: Callable[..., None]) -> Callable[..., None]:
    """Return a verb whose argument `runner` is made from options: None, or a scheduler.

    Of None the verb runs what it does on threads of its own process.
    """
    return _with_options(body, _CLUSTER)


def _with_options(body: Callable[..., None], annotations: dict[str, Any]) -> Callable[..., None]:
    @wraps(body)
    def verb(*positional: Any, **given: Any) -> None:
        asked = {name: given.pop(name) for name in annotations}
        if "workers" not in annotations and all(one is None for one in asked.values()):
            body(*positional, runner=None, **given)
            return
        with runner_of(
            workers=asked.get("workers"), scheduler=asked["scheduler"], tls=_tls(asked)
        ) as runner:
            body(*positional, runner=runner, **given)

    own = list(inspect.signature(body, eval_str=True).parameters.values())
    place = next(at for at, one in enumerate(own) if one.name == "runner")
    own[place : place + 1] = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=one)
        for name, one in annotations.items()
    ]
    verb.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    verb.__annotations__ = {one.name: one.annotation for one in own}
    return verb


def _tls(asked: dict[str, str | None]) -> Tls | None:
    ca, cert, key = (asked[name] for name in ("tls_ca_file", "tls_cert", "tls_key"))
    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None or key is None:
        raise WriteampError(
            "an encrypted connection needs --tls-ca-file, --tls-cert and --tls-key, all three"
        )
    return Tls(ca, cert, key)
