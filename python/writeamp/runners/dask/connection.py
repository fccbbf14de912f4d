"""Connections to Dask: a cluster started here, a running scheduler, or the caller's client."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import dask
from distributed import Client, LocalCluster, Security

from writeamp.errors import WriteampError
from writeamp.files.temporary import temporary_folder
from writeamp.runners.settings import Tls

Connect: TypeAlias = "Callable[[], AbstractContextManager[Client]]"

_CONNECT_S = 10
# Longest time in seconds from the start of a scheduler until it accepts connections, on a busy
# machine.
LISTENS_S = 20.0
_KNOCK_S = 0.2
_START_S = 60
# Seconds after which workers are killed if they have not ended on request.
_END_S = 5
_LOOPBACK = "127.0.0.1"
_ENCRYPTED = "tls://"
_OURS_ALONE = 0o600
# Key in Dask's configuration of the HTTP pages that a scheduler or worker shows to any client. They
# are switched off.
_PAGES = "http.routes"
# Loggers to silence. The last one logs a traceback if Ctrl-C cancels a call of Dask before the call
# starts.
_LOGGERS = ("distributed", "distributed.client", "tornado.application")


def processes(count: int) -> Connect:
    """Return a function that starts a cluster of `count` processes here and connects to it."""

    @contextmanager
    def connect() -> Iterator[Client]:
        # Any connected client can run code with the rights of this user. With a temporary key, only
        # processes that have the key can connect.
        security = Security.temporary()
        with (
            _quiet(),
            _own_scheduler(security) as scheduler,
            _client(scheduler.scheduler_address, security) as client,
            _own_workers(client, security, count),
        ):
            yield client

    return connect


def running(address: str, tls: Tls | None = None) -> Connect:
    """Return a function that connects to a running scheduler, such as `tcp://host:8786`."""

    @contextmanager
    def connect() -> Iterator[Client]:
        with _quiet(), _client(address, _security(tls)) as client:
            yield client

    return connect


def of_client(client: Client) -> Connect:
    """Return a function that returns the caller's client, without closing it later."""

    @contextmanager
    def connect() -> Iterator[Client]:
        yield client

    return connect


@contextmanager
def _client(address: str, security: Security | None) -> Iterator[Client]:
    _knock(address)
    try:
        client = Client(address, security=security, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        why = "no answer" if isinstance(error, TimeoutError) else _first_line(error)
        raise WriteampError(f"cannot connect to Dask's scheduler {address}: {why}") from None
    try:
        yield client
    finally:
        with suppress(Exception):  # errors do not matter: all results have been received
            client.close()


def _knock(address: str) -> None:
    """Reject an address at which no program listens, which Dask would retry for long.

    A scheduler that was started just before, for example by the same script, has some seconds to
    begin.
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    until_s = time.monotonic() + LISTENS_S
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
        except ConnectionRefusedError as error:
            if time.monotonic() >= until_s:
                raise _no_connection(address, error) from None
            time.sleep(_KNOCK_S)
        except (OSError, OverflowError) as error:
            raise _no_connection(address, error) from None
        else:
            return


def _no_connection(address: str, error: Exception) -> WriteampError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return WriteampError(f"cannot connect to Dask's scheduler {address}: {why}")


def _security(tls: Tls | None) -> Security | None:
    if tls is None:
        return None
    for path in tls:
        if not Path(path).is_file():
            raise WriteampError(f"cannot read {path}, a TLS file for the scheduler")
    return Security(
        tls_ca_file=tls.ca_file,
        tls_client_cert=tls.cert,
        tls_client_key=tls.key,
        require_encryption=True,
    )


@contextmanager
def _own_scheduler(security: Security) -> Iterator[LocalCluster]:
    # A Dask cluster without workers is a scheduler on a thread of this process. The workers are
    # started separately.
    with (
        dask.config.set({f"distributed.scheduler.{_PAGES}": []}),
        LocalCluster(
            n_workers=0,
            host=_LOOPBACK,
            protocol=_ENCRYPTED,
            security=security,
            dashboard_address=f"{_LOOPBACK}:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=False,
        ) as scheduler,
    ):
        yield scheduler


@contextmanager
def _own_workers(client: Client, security: Security, count: int) -> Iterator[None]:
    """Run workers as separate programs that do not import the calling script.

    The workers end by themselves if this process has ended. They do not receive Ctrl-C from the
    terminal; this process ends them.
    """
    address = client.scheduler_info()["address"]
    identity = security.get_tls_config_for_role("worker")
    with temporary_folder("dask-") as folder:
        log, certificate, key = (folder / name for name in ("log", "certificate", "key"))
        certificate.write_text(identity["cert"])
        key.touch(_OURS_ALONE)
        key.write_text(identity["key"])
        options = {
            "--host": _LOOPBACK,
            "--protocol": _ENCRYPTED,
            "--dashboard-address": f"{_LOOPBACK}:0",
            "--tls-ca-file": certificate,
            "--tls-cert": certificate,
            "--tls-key": key,
            "--nworkers": count,
            "--nthreads": 1,
            # writeamp checks memory before each run. Dask's own limit would kill workers, so it is
            # off.
            "--memory-limit": 0,
            "--local-directory": folder,
            # Without it, workers would wait for ever if this process was killed while they start.
            "--death-timeout": _START_S,
            "--preload": "writeamp",
        }
        words = [f"{word}" for pair in options.items() for word in pair]
        without_pages = f"DASK_DISTRIBUTED__WORKER__{_PAGES}".upper().replace(".", "__")
        with log.open("wb") as output:
            program = subprocess.Popen(
                [sys.executable, "-m", "dask", "worker", address, "--no-dashboard", *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=os.environ | {without_pages: "[]"},
                start_new_session=True,
            )
        try:
            _await_start(client, program, log)
            yield
        finally:
            _end(program)


def _await_start(client: Client, program: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(_START_S):
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=1)
            return
        if program.poll() is not None:
            break
    last_line = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    raise WriteampError(f"Dask's workers did not start: {' '.join(last_line) or 'no output'}")


def _end(program: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGTERM)
    try:
        program.wait(_END_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's messages on starting and ending workers off the terminal."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
