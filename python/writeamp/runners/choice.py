"""Choice of a runner: this process, worker processes on this machine, or a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from writeamp.errors import WriteampError, how_to_install
from writeamp.fields.domains import shown
from writeamp.runners.local import Here, Threads
from writeamp.runners.processor_share import processors
from writeamp.runners.runner import Runner
from writeamp.runners.settings import Tls, WorkerSettings

if TYPE_CHECKING:  # an optional dependency that takes half a second to load
    from distributed import Client


_INSTALL = f"run in this process with workers 1, or install them: {how_to_install('cluster')}"
_ADDRESS = re.compile(r"(?P<scheme>tcp|tls)://[^/\s]+:[0-9]{1,5}")


@contextmanager
def runner_of(
    *,
    workers: int | None = None,
    scheduler: str | Client | None = None,
    tls: Tls | None = None,
) -> Iterator[Runner]:
    """Return a context manager of a runner; leaving it ends worker processes and connections.

    Args:
        workers: worker processes on this machine; 1 runs in this process. By default one per
            processor, or that many threads of this process if Dask is not installed.
        scheduler: address of a running Dask scheduler, or a client of it.
        tls: TLS credentials of this client, for a scheduler whose address begins with `tls://`.

    Returns:
        A context manager of a `Runner`.

    Raises:
        WriteampError: arguments exclude each other, or an optional dependency (Dask, cryptography)
            is not installed.
    """
    if scheduler is None and tls is not None:
        raise WriteampError(
            "TLS credentials are given without a scheduler; give its address (--scheduler) too, or "
            "leave them out"
        )
    if scheduler is not None and workers is not None:
        raise WriteampError(
            "workers starts processes on this machine, and scheduler uses a cluster's workers; "
            "give only one of them"
        )
    workers = WorkerSettings(workers).workers
    if isinstance(scheduler, str):
        _check_address(scheduler, tls)
    elif scheduler is not None and not hasattr(scheduler, "scheduler_info"):
        raise WriteampError(
            f"scheduler is {shown(scheduler)}; it must be the address of a scheduler, "
            "or a Dask client"
        )
    if scheduler is None and (workers or processors()) == 1:
        yield Here()
        return
    if scheduler is None and workers is None and not has_processes():
        yield Threads()
        return
    if scheduler is None and not has_processes():
        raise WriteampError(f"workers need Dask and cryptography; {_INSTALL}")
    connection, cluster = _dask("connection"), _dask("cluster")
    if scheduler is None:
        connect = connection.processes(processors() if workers is None else workers)
    elif isinstance(scheduler, str):
        connect = connection.running(scheduler, tls)
    else:
        connect = connection.of_client(scheduler)
    with closing(cluster.Cluster(connect)) as runner:
        yield runner


def _check_address(scheduler: str, tls: Tls | None) -> None:
    """Reject a malformed scheduler address at once; Dask would retry it for a long time."""
    match = _ADDRESS.fullmatch(scheduler)
    if match is None:
        raise WriteampError(
            f"scheduler is {shown(scheduler)}; it must be tcp://HOST:PORT or tls://HOST:PORT"
        )
    if (match["scheme"] == "tls") != (tls is not None):
        raise WriteampError(
            f"scheduler {scheduler} does not match the TLS settings; a tls:// address needs the "
            "authority's certificate, and this client's certificate and key; for a tcp:// address, "
            "leave out all of them"
        )


def has_dask() -> bool:
    """Return whether Dask is installed."""
    return find_spec("distributed") is not None


def has_processes() -> bool:
    """Return whether worker processes with temporary TLS keys can be started here."""
    return has_dask() and find_spec("cryptography") is not None


def _dask(module: str) -> Any:
    if not has_dask():
        raise WriteampError(f"clusters need Dask; {_INSTALL}")
    return import_module(f"writeamp.runners.dask.{module}")
