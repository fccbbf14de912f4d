"""TLS credentials for encrypted connections to a scheduler and its workers."""

from __future__ import annotations

from typing import NamedTuple


class Tls(NamedTuple):
    """Paths of PEM files, as those with which the scheduler and its workers were started."""

    ca_file: str
    cert: str
    key: str
