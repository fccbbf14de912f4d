"""The cluster that is started here serves its own processes, and nobody else on the machine."""

from __future__ import annotations

import os
import socket
import ssl
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil
import pytest

import writeamp as wa
from clusters import await_value
from own_policies import DRIVE, SEPBIT
from writeamp.errors import WriteampError
from writeamp.runners import Runner, runner_of

distributed = pytest.importorskip("distributed")
pytest.importorskip("cryptography")

# It ends as soon as there is an answer.
PATIENCE_S = 60
PAGES = ("info/main/workers.html", "status", "json/counts.json", "metrics", "health")


class Processes:
    """Listening addresses and command lines of this process and those below it."""

    def __init__(self) -> None:
        me = psutil.Process()
        self.all = [me, *me.children(recursive=True)]

    def addresses(self) -> set[tuple[str, int]]:
        return {
            tuple(one.laddr)
            for process in self.all
            for one in process.net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        }

    def path_behind(self, option: str) -> Path:
        words = next(words for one in self.all if option in (words := one.cmdline()))
        return Path(words[words.index(option) + 1])


def all_started(before: set[tuple[str, int]]) -> tuple[Processes, set[tuple[str, int]]] | None:
    """Return what is there once the scheduler, two nannies and two workers listen."""
    processes = Processes()
    added = processes.addresses() - before
    # All but the nannies have an HTTP server beside their own.
    return (processes, added) if len(added) == 8 else None


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Runner, Processes, set[tuple[str, int]]]]:
    """Give the runner of two workers, its processes, and the addresses that came with them."""
    before = Processes().addresses()
    with runner_of(workers=2) as runner:
        assert dict(runner.results(abs, [-1, -2])) == {0: 1, 1: 2}
        yield (runner, *await_value(lambda: all_started(before)))


@pytest.fixture
def started(
    cluster: tuple[Runner, Processes, set[tuple[str, int]]],
) -> tuple[Processes, set[tuple[str, int]]]:
    """Return the processes of the cluster, and its addresses."""
    return cluster[1:]


def is_heard(address: tuple[str, int], context: ssl.SSLContext | None) -> bool:
    """Return whether what listens there greets who comes so."""
    try:
        with socket.create_connection(address, timeout=PATIENCE_S) as plain:
            if context is None:
                plain.sendall(bytes(64))
                return bool(plain.recv(1))
            with context.wrap_socket(plain) as encrypted:
                return bool(encrypted.recv(1))
    except OSError:  # what TLS refuses is one, too
        return False


def context_of(security: distributed.Security) -> ssl.SSLContext:
    found = security.get_connection_args("client")["ssl_context"]
    assert isinstance(found, ssl.SSLContext)
    return found


def status(address: tuple[str, int], page: str) -> int | None:
    """Return how a page is answered; None by what speaks no HTTP."""
    try:
        with urlopen(f"http://{address[0]}:{address[1]}/{page}", timeout=PATIENCE_S) as found:
            return int(found.status)
    except HTTPError as error:
        return error.code
    except OSError:
        return None


def test_it_listens_on_this_machine_only(started: tuple[Processes, set[tuple[str, int]]]) -> None:
    _, addresses = started
    assert addresses
    assert {host for host, _ in addresses} == {"127.0.0.1"}


def test_nobody_without_its_key_is_heard(started: tuple[Processes, set[tuple[str, int]]]) -> None:
    processes, addresses = started
    certificate, key = (str(processes.path_behind(f"--tls-{one}")) for one in ("cert", "key"))
    ours = distributed.Security(
        tls_ca_file=certificate,
        tls_client_cert=certificate,
        tls_client_key=key,
        require_encryption=True,
    )
    # What speaks HTTP would wait for the rest of a greeting.
    servers = [one for one in addresses if status(one, "") is None]
    assert len(servers) == 5  # the scheduler, two workers, and a nanny of each
    assert all(is_heard(one, context_of(ours)) for one in servers)
    without_any = ssl.create_default_context()
    without_any.check_hostname, without_any.verify_mode = False, ssl.CERT_NONE
    anybody = context_of(distributed.Security.temporary())
    anybody.verify_mode = ssl.CERT_NONE
    for one in servers:
        for who in (None, without_any, anybody):
            assert not is_heard(one, who)


def test_its_key_is_in_a_file_of_ours_alone(
    started: tuple[Processes, set[tuple[str, int]]],
) -> None:
    key = started[0].path_behind("--tls-key")
    for path in (key, key.parent):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert path.stat().st_uid == os.getuid()


def test_it_has_no_dashboard_and_no_other_page(
    started: tuple[Processes, set[tuple[str, int]]],
) -> None:
    assert {status(one, page) for one in started[1] for page in PAGES} == {None, 404}


def test_its_processes_run_a_placement_of_a_file(
    cluster: tuple[Runner, Processes, set[tuple[str, int]]], tmp_path: Path
) -> None:
    axes = {"manager": [f"{SEPBIT}:compiled=no", "sepbit"], "seed": [1, 2]}
    asked = {"device": DRIVE, "run": {"writes": 5000, "replicas": 1}, "sweep": {"axes": axes}}
    found = wa.sweep(asked, keep=tmp_path, runner=cluster[0]).to_frame()
    own, built_in = (found.filter(manager=manager)["wa"].to_list() for manager in axes["manager"])
    assert own == built_in
    assert len(set(own)) == 2


def test_without_cryptography_no_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writeamp.runners.choice.has_processes", lambda: False)
    with pytest.raises(WriteampError, match="need Dask and cryptography"), runner_of(workers=2):
        pass
    with runner_of() as runner:
        assert dict(runner.results(lambda _: os.getpid(), [0])) == {0: os.getpid()}
