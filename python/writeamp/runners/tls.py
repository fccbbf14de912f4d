"""Who we are to others over an encrypted connection."""

from __future__ import annotations

from typing import NamedTuple


class Tls(NamedTuple):
    """Paths of PEM files, as those with which the scheduler and its workers were started."""

    ca_file: str
    cert: str
    key: str
