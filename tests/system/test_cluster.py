"""Work on Dask: every job once, whoever dies, and clear sentences where it cannot be done."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from clusters import HERE, Cluster, cluster, kill
from jobs import doubled, either, fatal_for_seven, refused_for_seven, slow_text_of, slowly, text_of
from patience import await_value
from writeamp.errors import WriteampError
from writeamp.runners import Tls, runner_of

distributed = pytest.importorskip("distributed")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may make namespaces")


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as found:
        found.start_scheduler()
        found.start_worker("--nworkers", "2")
        yield found


def test_workers_of_this_machine_do_every_job_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))  # where the jobs are
    with runner_of(workers=2) as runner:
        found = dict(runner.results(doubled, range(2000)))
        assert found == {at: 2 * at for at in range(2000)}
        assert dict(runner.results(doubled, [])) == {}
        assert dict(runner.results(doubled, [5])) == {0: 10}


def test_a_scheduler_that_runs_serves_one_after_the_other(two_workers: Cluster) -> None:
    for _ in range(2):
        with runner_of(scheduler=two_workers.address) as runner:
            assert dict(runner.results(doubled, range(100))) == {at: 2 * at for at in range(100)}


def test_a_client_that_is_given_stays_open(two_workers: Cluster) -> None:
    with distributed.Client(two_workers.address, set_as_default=False) as client:
        with runner_of(scheduler=client) as runner:
            assert dict(runner.results(doubled, [1, 2])) == {0: 2, 1: 4}
        assert client.submit(doubled, 4).result() == 8


def test_without_dask_all_is_done_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writeamp.runners.choice.has_dask", lambda: False)
    with runner_of(workers=1) as runner:
        assert dict(runner.results(pid, [0])) == {0: os.getpid()}
    with runner_of() as runner:
        assert dict(runner.results(pid, [0, 1])) == dict.fromkeys((0, 1), os.getpid())
    with pytest.raises(WriteampError, match="pip install"), runner_of(workers=2):
        pass


def pid(_: int) -> int:
    return os.getpid()


def test_the_error_of_a_job_ends_the_others(two_workers: Cluster) -> None:
    with (
        runner_of(scheduler=two_workers.address) as runner,
        pytest.raises(WriteampError, match="seven is refused"),
    ):
        list(runner.results(refused_for_seven, range(20)))


def test_a_job_that_ends_every_worker_is_lost_alone(tmp_path: Path) -> None:
    with cluster(tmp_path) as found:
        found.start_scheduler()
        found.start_worker("--nworkers", "2")
        found.await_workers(2)
        with runner_of(scheduler=found.address) as runner:
            results = dict(runner.results(fatal_for_seven, range(20), lost=lambda job, why: why))
            with pytest.raises(WriteampError, match="4 Dask workers died"):
                list(runner.results(fatal_for_seven, [7]))
    assert "4 Dask workers died" in results.pop(7)
    assert results == {at: at for at in range(20) if at != 7}


def test_what_a_worker_took_with_it_is_found_anew() -> None:
    from writeamp.runners.dask.cluster import _Running  # noqa: PLC0415 (needs distributed)

    class Lost:
        status = "lost"

        def result(self, timeout: float) -> None:
            raise TimeoutError

    running: Any = _Running(cast("Any", None), abs, [-1, -2, -3], None, {}, cast("Any", None))
    running.waiting.clear()
    assert list(running._outcome(Lost(), (0, 2), frozenset())) == []
    assert running.waiting == [2, 0]


def test_each_of_several_jobs_whose_workers_died_is_judged_with_nothing_beside_it(
    tmp_path: Path,
) -> None:
    with cluster(tmp_path) as found:
        found.start_scheduler()
        found.start_worker("--nworkers", "2")
        found.await_workers(2)
        with runner_of(scheduler=found.address) as runner:
            jobs = [7, 1, 7, 2]
            results = dict(runner.results(fatal_for_seven, jobs, lost=lambda job, why: why))
    assert [results[at] for at in (1, 3)] == [1, 2]
    assert all("4 Dask workers died" in results[at] for at in (0, 2))


def test_a_cluster_whose_last_worker_is_gone_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.runners.dask.cluster._LOOK_S", 0.1)
    monkeypatch.setattr("writeamp.runners.dask.cluster._PATIENCE_S", 0.5)
    with cluster(tmp_path) as found:
        found.start_scheduler()
        worker = found.start_worker()
        with runner_of(scheduler=found.address) as runner:
            results = runner.results(slowly, range(10_000))
            next(results)
            kill(worker)
            with pytest.raises(WriteampError, match="the last Dask worker is gone"):
                list(results)


def test_results_that_nobody_wants_any_more_are_given_up(two_workers: Cluster) -> None:
    with runner_of(scheduler=two_workers.address) as runner:
        results = runner.results(slowly, range(10_000))
        next(results)
        results.close()
        assert dict(runner.results(doubled, [1])) == {0: 2}


def test_a_job_that_is_given_up_ends_on_its_worker(two_workers: Cluster, tmp_path: Path) -> None:
    with runner_of(scheduler=two_workers.address) as runner:
        results = runner.results(either, [str(tmp_path), 1])
        assert next(results) == (1, 1)
        await_value((tmp_path / "begun").exists)
        results.close()
        await_value((tmp_path / "stopped").exists)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:9", "cannot connect to Dask's scheduler tcp://127.0.0.1:9"),
        ("no://where:1", "scheduler is 'no://where:1'; it must be tcp://"),
        ("localhost", "scheduler is 'localhost'; it must be tcp://"),
        ("", "scheduler is ''; it must be tcp://"),
        ("tls://127.0.0.1:9", "does not match the TLS settings"),
        ("tcp://127.0.0.1:99999", "cannot connect to Dask's scheduler tcp://127.0.0.1:99999"),
    ],
)
def test_a_scheduler_that_is_not_there_is_refused(
    address: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.runners.dask.connection.LISTENS_S", 0.5)
    with pytest.raises(WriteampError, match=words), runner_of(scheduler=address) as runner:
        next(runner.results(doubled, [1]))


def test_a_scheduler_that_was_just_started_is_waited_for() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{held.getsockname()[1]}"
        later = threading.Timer(0.6, held.listen)
        later.start()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(held.getsockname())
        import_module("writeamp.runners.dask.connection")._knock(address)
        later.join()


def test_a_scheduler_without_workers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.runners.dask.workers._PATIENCE_S", 0.5)
    with cluster(tmp_path) as found:
        found.start_scheduler()
        with (
            runner_of(scheduler=found.address) as runner,
            pytest.raises(WriteampError, match=f"dask worker {found.address}"),
        ):
            next(runner.results(doubled, [1]))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("raise metadata.PackageNotFoundError(name)", "has no writeamp; install writeamp"),
        ("return '0.0.1'", "has writeamp 0.0.1, but this process has"),
    ],
)
def test_a_worker_without_this_version_of_writeamp_is_refused(
    tmp_path: Path, answer: str, words: str
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "from importlib import metadata\n"
        "installed = metadata.version\n"
        "def version(name):\n"
        f"    if name == 'writeamp': {answer}\n"
        "    return installed(name)\n"
        "metadata.version = version\n"
    )
    with cluster(tmp_path) as found:
        found.start_scheduler()
        found.start_worker(variables={"PYTHONPATH": str(site)})
        with (
            runner_of(scheduler=found.address) as runner,
            pytest.raises(WriteampError, match=words) as refused,
        ):
            next(runner.results(doubled, [1]))
    assert "tcp://" in str(refused.value)


def test_workers_and_a_scheduler_exclude_each_other() -> None:
    with pytest.raises(WriteampError, match="give only one of them"):
        runner_of(workers=2, scheduler="tcp://127.0.0.1:8786").__enter__()
    with pytest.raises(WriteampError, match="give its address"):
        runner_of(tls=Tls("ca", "cert", "key")).__enter__()
    with pytest.raises(WriteampError, match="workers is 0"):
        runner_of(workers=0).__enter__()


def hidden_file(tmp_path: Path) -> tuple[Path, list[str]]:
    """Return a file that is yet to be written, and what runs a program that cannot see it."""
    folder = tmp_path / "hidden"
    folder.mkdir()
    over_it = f'mount -t tmpfs none {folder} && exec "$@"'
    return folder / "trace.csv", ["unshare", "--mount", "sh", "-c", over_it, "sh"]


@needs_root
def test_a_file_travels_to_a_worker_that_cannot_read_it(tmp_path: Path) -> None:
    file, without_it = hidden_file(tmp_path)
    file.write_text("the content")
    with cluster(tmp_path) as found:
        found.start_scheduler()
        found.start_worker(within=without_it)
        with runner_of(scheduler=found.address) as runner:
            with pytest.raises(FileNotFoundError):
                list(runner.results(text_of, [str(file)]))
            for _ in range(2):
                assert list(runner.results(text_of, [str(file)], files=[str(file)])) == [
                    (0, "the content")
                ]
            file.write_text("another content")
            assert list(runner.results(text_of, [str(file)], files=[str(file)])) == [
                (0, "another content")
            ]
            with pytest.raises(WriteampError, match=r"cannot read .*no-such"):
                list(runner.results(text_of, ["no-such"], files=["no-such"]))


@needs_root
def test_a_worker_that_comes_later_gets_what_others_could_read(tmp_path: Path) -> None:
    file, without_it = hidden_file(tmp_path)
    file.write_text("the content")
    with cluster(tmp_path) as found:
        found.start_scheduler()
        first = found.start_worker()
        with runner_of(scheduler=found.address) as runner:
            asked = partial(runner.results, text_of, [str(file)], files=[str(file)])
            assert list(asked()) == [(0, "the content")]
            found.start_worker(within=without_it)
            kill(first)
            assert list(asked()) == [(0, "the content")]


@needs_root
def test_two_clients_may_send_other_contents_of_one_path(tmp_path: Path) -> None:
    file, without_it = hidden_file(tmp_path)
    with cluster(tmp_path) as found:
        found.start_scheduler()
        found.start_worker(within=without_it)
        with runner_of(scheduler=found.address) as first:
            file.write_text("first")
            before = first.results(slow_text_of, [str(file)] * 30, files=[str(file)])
            assert next(before)[1] == "first"
            file.write_text("second")
            with runner_of(scheduler=found.address) as second:
                assert list(second.results(text_of, [str(file)], files=[str(file)])) == [
                    (0, "second")
                ]
            assert {text for _, text in before} == {"first"}


@pytest.fixture
def certificates(tmp_path: Path) -> Tls:
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes certificates, is not installed")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=writeamp", "-keyout", "key.pem", "-out", "cert.pem"),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    return Tls(ca_file=cert, cert=cert, key=key)


def test_an_encrypted_cluster_serves_who_has_certificates(
    tmp_path: Path, certificates: Tls
) -> None:
    words = [
        *("--tls-ca-file", certificates.ca_file),
        *("--tls-cert", certificates.cert),
        *("--tls-key", certificates.key),
    ]
    with cluster(tmp_path) as found:
        found.start_scheduler("--protocol", "tls", *words)
        found.start_worker(*words)
        assert found.address.startswith("tls://")
        with runner_of(scheduler=found.address, tls=certificates) as runner:
            assert dict(runner.results(doubled, [1, 2])) == {0: 2, 1: 4}
        with pytest.raises(WriteampError, match="needs the authority's certificate"):
            runner_of(scheduler=found.address).__enter__()
        without = certificates._replace(key=str(tmp_path / "no-such.pem"))
        with (
            runner_of(scheduler=found.address, tls=without) as runner,
            pytest.raises(WriteampError, match=r"cannot read .*no-such\.pem"),
        ):
            next(runner.results(doubled, [1]))
