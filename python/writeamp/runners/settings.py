"""Settings that choose a runner, from which command-line options are generated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from writeamp.errors import WriteampError
from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.fields.setting import Settings, setting


class Tls(NamedTuple):
    """TLS credentials of this client, as paths of PEM files.

    The certificates of the scheduler and its workers must be from the same authority.
    """

    ca_file: str
    cert: str
    key: str


_RUNNER = {"panel": "runner"}
_PEM = {"metavar": "PEM", **_RUNNER}
_FOR_TLS = "required if the address of --scheduler begins with tls://"


@dataclass(frozen=True)
class WorkerSettings(Settings):
    """Number of worker processes on this machine."""

    title: ClassVar[str] = "workers"

    workers: int | None = setting(
        None,
        POSITIVE_COUNT,
        "number of worker processes on this machine; 1 runs everything in this process. By default "
        "one per processor",
        number="count",
        metavar="COUNT",
        **_RUNNER,
    )


@dataclass(frozen=True)
class ThreadSettings(Settings):
    """Number of threads of this process, for work that the engine can do in parallel."""

    title: ClassVar[str] = "threads"

    workers: int | None = setting(
        None,
        POSITIVE_COUNT,
        "number of runs at a time on this machine; by default, and at most, one per processor",
        number="count",
        metavar="COUNT",
        **_RUNNER,
    )


@dataclass(frozen=True)
class SchedulerSettings(Settings):
    """Address of a cluster, and TLS credentials for it; `runner_of` checks the address."""

    title: ClassVar[str] = "scheduler"

    scheduler: str | None = setting(
        None,
        None,
        "address of a running Dask scheduler, such as tcp://host:8786; its workers run the jobs",
        metavar="ADDRESS",
        **_RUNNER,
    )
    tls_ca_file: str | None = setting(
        None, None, f"file with the certificate of the certificate authority, {_FOR_TLS}", **_PEM
    )
    tls_cert: str | None = setting(
        None, None, f"file with the certificate of this client, {_FOR_TLS}", **_PEM
    )
    tls_key: str | None = setting(
        None, None, f"file with the private key of this client, {_FOR_TLS}", **_PEM
    )

    @property
    def tls(self) -> Tls | None:
        """Credentials for the scheduler, or None.

        Raises:
            WriteampError: only some of the three files are given.
        """
        ca, cert, key = self.tls_ca_file, self.tls_cert, self.tls_key
        if ca is None and cert is None and key is None:
            return None
        if ca is None or cert is None or key is None:
            raise WriteampError("TLS needs --tls-ca-file, --tls-cert and --tls-key; give all three")
        return Tls(ca, cert, key)
