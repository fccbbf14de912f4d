"""Server of metrics for Prometheus, on a loopback port or a Unix socket."""

from __future__ import annotations

import socket
import threading
from http import HTTPStatus
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry, MetricsHandler
from prometheus_client.registry import Collector

from writeamp.vssd.listening import UNIX, is_loopback_name, listen

# Longest wait for a client that does not read its response, in seconds.
_PATIENCE_S = 10.0
_POLL_S = 0.1


class MetricsServer:
    """Serves metrics for Prometheus over HTTP during a `with` block.

    Attributes:
        address: "127.0.0.1:9105", or "unix:" and the path of the socket.
    """

    def __init__(self, collector: Collector, address: str) -> None:
        """Set the address.

        Args:
            collector: returns the metrics at each request.
            address: "127.0.0.1:9105", "[::1]:9105" or ":9105", where port 0 selects any free port;
                or "unix:/path" for a socket that only its owner may use.

        Raises:
            WriteampError: the address is invalid, not local to this machine, or in use.
        """
        registry = CollectorRegistry()
        registry.register(collector)
        handler = type("_Handler", (_OfThisMachine,), {"registry": registry})
        self._server, self.address = listen(address, handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": _POLL_S}, daemon=True
        )

    @property
    def url(self) -> str:
        """URL for Prometheus, or the address of a Unix socket."""
        is_path = self.address.startswith(UNIX)
        return self.address if is_path else f"http://{self.address}/metrics"

    def __enter__(self) -> Self:
        """Start serving."""
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Stop, and remove the socket."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _OfThisMachine(MetricsHandler):
    """Request handler that rejects requests whose Host header names another machine.

    A web page may send requests to a loopback port under its own host name (DNS rebinding). Clients
    of a Unix socket, and requests without the header, are accepted.
    """

    timeout = _PATIENCE_S

    def do_GET(self) -> None:  # noqa: N802 - http.server calls it by this name
        host = self.headers.get("Host")
        # Clients of a Unix socket have no host name, and HTTP/1.0 requests may omit it, so both are
        # accepted.
        if host is None or self.connection.family == socket.AF_UNIX or is_loopback_name(host):
            super().do_GET()
        else:
            self.send_error(HTTPStatus.FORBIDDEN, "these metrics are for this machine only")
