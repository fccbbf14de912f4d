"""Web server in a thread of this process, whose answers a test sets."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from writeamp.files.content_facts import ContentFacts

CONTENT = bytes(range(256)) * 5000
FACTS = ContentFacts(len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@dataclass
class Site:
    """Answers of the server, and the requests that it received.

    Attributes:
        etag: ETag of the content, with its quotes; None for none.
        cut: bytes of the body after which the server closes the connection; None for all.
        has_ranges: whether it answers requests for a range by a range.
        first_of_range: first byte of a range as the server states it; None for that requested.
        most_of_range: bytes of a range that the server sends at most; None for all.
        total: size of the whole content as stated with a range; None for the true one.
        obeys_if_range: whether it sends the whole content if the ETag is another one.
        form: how the body is sent: with its length, in chunks, or until the connection ends.
        requested: the header Range of each request.
    """

    content: bytes = CONTENT
    etag: str | None = '"1"'
    modified: str | None = None
    status: int = 200
    location: str | None = None
    kind: str = "application/octet-stream"
    cut: int | None = None
    has_ranges: bool = True
    first_of_range: int | None = None
    most_of_range: int | None = None
    total: str | None = None
    obeys_if_range: bool = True
    form: str = "length"
    requested: list[str | None] = field(default_factory=list)


class Server(NamedTuple):
    """The server's address and its answers."""

    url: str
    site: Site


@contextmanager
def web_server() -> Iterator[Server]:
    """Give a web server in a thread; no proxy is between this process and the server."""
    site = Site()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

        def do_GET(self) -> None:
            asked = self.headers["Range"]
            site.requested.append(asked)
            if site.location is not None:
                self.send_response(site.status)
                self.send_header("Location", site.location)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if site.status != 200:
                self.send_error(site.status)
                return
            start = 0
            is_same = self.headers["If-Range"] in (site.etag, site.modified)
            if asked and site.has_ranges and (is_same or not site.obeys_if_range):
                start = int(asked.removeprefix("bytes=").removesuffix("-"))
                if start >= len(site.content):
                    self.send_error(416)
                    return
            end = None if not start or site.most_of_range is None else start + site.most_of_range
            body = site.content[start:end]
            self.send_response(206 if start else 200)
            if start:
                first = start if site.first_of_range is None else site.first_of_range
                total = len(site.content) if site.total is None else site.total
                last = start + len(body) - 1
                self.send_header("Content-Range", f"bytes {first}-{last}/{total}")
            for name, value in (("ETag", site.etag), ("Last-Modified", site.modified)):
                if value is not None:
                    self.send_header(name, value)
            self.send_header("Content-Type", site.kind)
            self.close_connection = True
            if site.form == "chunks":
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                sent = body[: site.cut]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(sent), sent))
                self.wfile.write(b"0\r\n\r\n" if site.cut is None else b"")
                return
            if site.form == "length":
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: site.cut])

    with (
        pytest.MonkeyPatch.context() as patch,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd,
    ):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            patch.delenv(name, raising=False)
        # A client that ends early is no error here.
        httpd.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Server(f"http://127.0.0.1:{httpd.server_address[1]}/disk.bin", site)
        httpd.shutdown()
        thread.join()
