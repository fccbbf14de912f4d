"""Sysbench's OLTP on Debian's PostgreSQL, in the sizes of Park et al. 2017, Table 5.

The server has its packaged settings, except memory and logs, which are scaled to the drive.
"""

from __future__ import annotations

import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp_papers.park2017.programs import run

_SERVERS = Path("/usr/lib/postgresql")
_USER = "postgres"
_MIB = 2**20
# PostgreSQL's default and minimum sizes of its memory and of its log.
_BUFFERS_BYTES, _LEAST_BUFFERS_BYTES = 128 * _MIB, 128 * 1024
_LOG_BYTES, _LEAST_LOG_BYTES = 1024 * _MIB, 2 * _MIB


def missing() -> list[str]:
    """Return the required programs that are not installed."""
    missing_programs = [] if shutil.which("sysbench") else ["sysbench"]
    return missing_programs if _server() and _has_user() else [*missing_programs, _USER]


@dataclass(frozen=True)
class Oltp:
    """Transactions that read and write one table of records, from several threads."""

    records: int
    requests: int
    threads: int
    buffers_bytes: int
    log_bytes: int
    seed: int = 1

    @contextmanager
    def prepared(self, folder: Path) -> Iterator[Callable[[], None]]:
        """Start a server in a folder and fill its table; yield a function that runs the load.

        Raises:
            WriteampError: a program failed; the message has its last output.
        """
        with tempfile.TemporaryDirectory(prefix="writeamp-") as sockets:
            data = folder / "data"
            data.mkdir()
            for folder_of_server in (Path(sockets), data):
                shutil.chown(folder_of_server, _USER, _USER)
                folder_of_server.chmod(0o700)
            _served("initdb", f"--pgdata={data}", "--auth=trust", "--wal-segsize=1", "--locale=C")
            settings = (
                f"shared_buffers={self.buffers_bytes // 1024}kB",
                f"max_wal_size={self.log_bytes // _MIB}MB",
                f"min_wal_size={_LEAST_LOG_BYTES // _MIB}MB",
                "listen_addresses=''",
                f"unix_socket_directories='{sockets}'",
            )
            (data / "postgresql.auto.conf").write_text("\n".join(settings) + "\n")
            server = ("pg_ctl", "--silent", f"--pgdata={data}")
            try:
                _served(*server, "start", "--wait", f"--log={data / 'log'}")
                self._sysbench(sockets, "prepare")
                _served("psql", f"--host={sockets}", "--quiet", "--command=CHECKPOINT")
                yield partial(self._sysbench, sockets, "run")
            finally:
                _served(*server, "stop", "--mode=fast")

    def _sysbench(self, sockets: str, verb: str) -> None:
        run(
            (
                *("sysbench", "oltp_read_write", "--db-driver=pgsql", f"--pgsql-host={sockets}"),
                *(f"--pgsql-user={_USER}", f"--pgsql-db={_USER}", "--tables=1"),
                *(f"--table-size={self.records}", f"--threads={self.threads}"),
                *(f"--events={self.requests}", "--time=0", f"--rand-seed={self.seed}", verb),
            )
        )


def oltp(share: float, repeats: int = 1) -> Oltp:
    """Return the load scaled to a drive with a share of the paper's size.

    The paper has 45 M records and 1 M requests, which are repeated.
    """
    return Oltp(
        round(45_000_000 * share),
        round(1_000_000 * share * repeats),
        8,
        max(_LEAST_BUFFERS_BYTES, round(_BUFFERS_BYTES * share)),
        max(_LEAST_LOG_BYTES, round(_LOG_BYTES * share)),
    )


def _served(program: str, *arguments: str) -> None:
    """Run a program of the server as the server's user, because it rejects root."""
    server = _server()
    if server is None:
        raise WriteampError(f"{_USER} is not installed")
    run((str(server / program), *arguments), user=_USER)


def _server() -> Path | None:
    """Return the folder of the newest server's programs."""
    servers = sorted(_SERVERS.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    return servers[-1].parent if servers else None


def _has_user() -> bool:
    try:
        pwd.getpwnam(_USER)
    except KeyError:
        return False
    return True
