"""Downloads of public traces, from a web server of this process."""

from __future__ import annotations

import errno
import hashlib
import http.server
import json
import os
import shutil
import socket
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import writeamp as wa
from in_process import document, refusal, run
from places import TINY
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.files import download as downloads
from writeamp.files.cache import cache_folder
from writeamp.files.content_facts import ContentFacts
from writeamp.files.download import OtherContentError, download
from writeamp.traces import public_traces
from writeamp.traces.public_traces import PublicTrace
from writeamp.traces.registry import FORMATS

CONTENT = bytes(range(256)) * 5000
FACTS = ContentFacts(len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
OTHER = CONTENT[::-1]


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


@pytest.fixture
def server() -> Iterator[Server]:
    """Give a web server in a thread."""
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

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        # A client that ends early is no error here.
        httpd.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Server(f"http://127.0.0.1:{httpd.server_address[1]}/disk.bin", site)
        httpd.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty cache; no proxy is between this process and the server."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return cache_folder("traces")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def cut_off(server: Server, target: Path, after: int = 300_000) -> str:
    """Download until the server closes the connection, and return the error."""
    server.site.cut = after
    # Of a body in chunks, only whole reads are kept.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(downloads, "_CHUNK_BYTES", 100_000)
        with pytest.raises(WriteampError) as refused:
            download(server.url, target)
    server.site.cut = None
    server.site.requested.clear()
    return str(refused.value)


# The generic part: any file.


def test_a_file_is_downloaded_with_its_size_and_checksum(server: Server, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    target = tmp_path / "disk.bin"
    found = download(server.url, target, FACTS, progress=lambda *call: calls.append(call))
    assert found == FACTS
    assert target.read_bytes() == CONTENT
    assert names(tmp_path) == ["disk.bin"]
    assert calls[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize(
    ("etag", "modified"), [('"1"', None), ('W/"1"', "Mon, 01 Jan 2024 00:00:00 GMT")]
)
def test_a_cut_download_continues_where_it_ended(
    server: Server, tmp_path: Path, etag: str, modified: str | None
) -> None:
    server.site.etag, server.site.modified = etag, modified
    target = tmp_path / "disk.bin"
    error = cut_off(server, target)
    assert "ended early" in error
    assert "300,000 of 1,280,000 bytes" in error
    assert "run the same command to continue" in error
    assert names(tmp_path) == ["disk.bin.part", "disk.bin.part.json"]
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=300000-"]
    assert target.read_bytes() == CONTENT
    assert names(tmp_path) == ["disk.bin"]


def test_a_server_without_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    server.site.has_ranges = False
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=300000-"]


@pytest.mark.parametrize("obeys", [True, False])
def test_another_content_is_not_appended(server: Server, tmp_path: Path, obeys: bool) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    server.site.content, server.site.etag = OTHER, '"2"'
    server.site.obeys_if_range = obeys
    download(server.url, target)
    assert target.read_bytes() == OTHER
    # A server that ignores If-Range is asked again for all.
    assert server.site.requested == (["bytes=300000-"] if obeys else ["bytes=300000-", None])


def test_a_part_of_another_address_is_not_continued(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    download(f"{server.url}?2", target)
    assert server.site.requested == [None]


@pytest.mark.parametrize("record", ["", "[1]", '{"url": 3}', None])
def test_a_part_with_a_damaged_record_starts_again(
    server: Server, tmp_path: Path, record: str | None
) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    path = tmp_path / "disk.bin.part.json"
    path.unlink() if record is None else path.write_text(record)
    assert download(server.url, target) == FACTS
    assert server.site.requested == [None]


def test_a_part_that_is_complete_is_not_requested_again(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    (tmp_path / "disk.bin.part").write_bytes(CONTENT)
    assert download(server.url, target) == FACTS
    assert server.site.requested == []


def test_a_part_longer_than_the_content_starts_again(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    (tmp_path / "disk.bin.part").write_bytes(CONTENT + b"more")
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=1280004-", None]


def test_a_content_that_cannot_be_identified_is_not_kept(server: Server, tmp_path: Path) -> None:
    server.site.etag = None
    error = cut_off(server, tmp_path / "disk.bin")
    assert error.endswith("the answer ended early")
    assert names(tmp_path) == []


def test_a_weak_etag_does_not_identify_a_content(server: Server, tmp_path: Path) -> None:
    server.site.etag = 'W/"1"'
    cut_off(server, tmp_path / "disk.bin")
    assert names(tmp_path) == []


def test_another_range_than_requested_is_not_appended(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    server.site.first_of_range = 0
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=300000-", None]


@pytest.mark.parametrize("first_form", ["length", "chunks"])
@pytest.mark.parametrize("form", ["length", "chunks", "end"])
def test_a_shorter_range_than_requested_is_not_the_whole_content(
    server: Server, tmp_path: Path, first_form: str, form: str
) -> None:
    target = tmp_path / "disk.bin"
    server.site.form = first_form
    cut_off(server, target)
    server.site.form, server.site.most_of_range = form, 100
    with pytest.raises(WriteampError, match=r"ended early; 300,100 of 1,280,000 bytes.*continue"):
        download(server.url, target)
    assert names(tmp_path) == ["disk.bin.part", "disk.bin.part.json"]
    server.site.most_of_range = None
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=300000-", "bytes=300100-"]


def test_a_range_that_ends_with_the_connection_is_whole_or_refused(
    server: Server, tmp_path: Path
) -> None:
    target = tmp_path / "disk.bin"
    server.site.form = "chunks"
    cut_off(server, target)
    server.site.form, server.site.cut = "end", 100
    with pytest.raises(WriteampError, match="ended early; 300,100 of 1,280,000 bytes"):
        download(server.url, target)
    server.site.cut = None
    assert download(server.url, target) == FACTS


def test_a_range_of_a_content_of_unknown_size_needs_a_checksum(
    server: Server, tmp_path: Path
) -> None:
    target = tmp_path / "disk.bin"
    server.site.form, server.site.total = "chunks", "*"
    cut_off(server, target)
    server.site.most_of_range = 100
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=300000-", None]
    cut_off(server, target)
    with pytest.raises(OtherContentError, match="300,100 bytes"):
        download(server.url, target, replace(FACTS, size_bytes=None))
    assert names(tmp_path) == ["disk.bin"]


@pytest.mark.parametrize("total", ["1279999", "1" * 5000])
def test_a_range_of_a_content_of_another_size_is_not_appended(
    server: Server, tmp_path: Path, total: str
) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    server.site.total = total
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=300000-", None]


def test_a_range_longer_than_its_content_is_not_kept_as_the_file(
    server: Server, tmp_path: Path
) -> None:
    target = tmp_path / "disk.bin"
    server.site.form = "chunks"
    cut_off(server, target)
    server.site.total = "1000000"
    with pytest.raises(WriteampError, match=r"more than the 1,000,000 bytes it stated$"):
        download(server.url, target)
    assert names(tmp_path) == []


def test_a_body_in_chunks_is_whole_or_refused(server: Server, tmp_path: Path) -> None:
    server.site.form = "chunks"
    assert "ended early" in cut_off(server, tmp_path / "disk.bin")
    assert download(server.url, tmp_path / "disk.bin") == FACTS


def test_a_body_without_a_size_needs_a_checksum(server: Server, tmp_path: Path) -> None:
    server.site.form = "end"
    with pytest.raises(WriteampError, match="does not state the size"):
        download(server.url, tmp_path / "disk.bin")
    assert names(tmp_path) == []
    assert download(server.url, tmp_path / "disk.bin", FACTS) == FACTS
    server.site.cut = 100
    with pytest.raises(OtherContentError, match="100 bytes"):
        download(server.url, tmp_path / "disk.bin", FACTS)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (replace(FACTS, sha256="0" * 64), ["sha256 0000", "removed"]),
        (replace(FACTS, size_bytes=7), ["1,280,000 bytes", "7 bytes", "nothing was downloaded"]),
    ],
)
def test_another_content_than_expected_is_removed(
    server: Server, tmp_path: Path, expected: ContentFacts, words: list[str]
) -> None:
    (tmp_path / "disk.bin").write_text("before")
    with pytest.raises(OtherContentError) as refused:
        download(server.url, tmp_path / "disk.bin", expected)
    assert [word for word in words if word not in str(refused.value)] == []
    assert names(tmp_path) == ["disk.bin"]
    assert (tmp_path / "disk.bin").read_text() == "before"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"status": 404}, "404 Not Found"),
        ({"status": 503}, "503 Service Unavailable"),
        ({"status": 302, "location": "file:///etc/passwd"}, "only http and https are valid"),
        ({"status": 301, "location": "ftp://127.0.0.1/a"}, "only http and https are valid"),
        ({"status": 302, "location": "/disk.bin"}, "redirects more than 5 times"),
        ({"kind": "text/html; charset=utf-8"}, "a web page"),
        ({"status": 302, "location": "http://127.0.0.1:1/a"}, "Connection refused"),
    ],
)
def test_an_answer_without_the_file_is_one_sentence(
    server: Server, tmp_path: Path, answer: dict[str, Any], words: str
) -> None:
    for name, value in answer.items():
        setattr(server.site, name, value)
    with pytest.raises(WriteampError, match=words) as refused:
        download(server.url, tmp_path / "disk.bin")
    assert "\n" not in str(refused.value)
    assert names(tmp_path) == []
    assert len(server.site.requested) <= 6


def test_a_redirect_from_https_to_http_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Secure:
        """Opener that reads https addresses from the server without TLS."""

        def open(self, request: urllib.request.Request, timeout: float) -> Any:
            request.full_url = request.full_url.replace("https://", "http://")
            return opener().open(request, timeout=timeout)

    opener = downloads._opener
    monkeypatch.setattr(downloads, "_opener", Secure)
    secure_url = server.url.replace("http://", "https://")
    server.site.status, server.site.location = 302, server.url
    with pytest.raises(WriteampError, match="redirects from https to 'http://127"):
        download(secure_url, tmp_path / "disk.bin")
    assert len(server.site.requested) == 1
    assert names(tmp_path) == []
    for location in (secure_url, "/disk.bin"):
        server.site.location = location
        with pytest.raises(WriteampError, match="more than 5 times"):
            download(secure_url, tmp_path / "disk.bin")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:,a", "a"])
def test_only_addresses_of_web_servers_are_opened(tmp_path: Path, url: str) -> None:
    with pytest.raises(WriteampError, match="cannot fetch"):
        download(url, tmp_path / "a")
    assert names(tmp_path) == []


@pytest.mark.parametrize("form", ["length", "chunks"])
def test_the_disk_is_not_filled(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    server.site.form = form
    free = downloads._RESERVED_BYTES + len(CONTENT) - 1
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(downloads, "_CHUNK_BYTES", len(CONTENT))
    with pytest.raises(WriteampError, match="1,280,000 more bytes"):
        download(server.url, tmp_path / "disk.bin")
    assert not (tmp_path / "disk.bin").exists()


def test_ctrl_c_leaves_the_part(server: Server, tmp_path: Path) -> None:
    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"1,048,576 of 1,280,000 bytes are in .*continue"):
        download(server.url, tmp_path / "disk.bin", progress=interrupt)
    server.site.requested.clear()
    assert download(server.url, tmp_path / "disk.bin") == FACTS
    assert server.site.requested == ["bytes=1048576-"]


def test_a_second_process_does_not_write_to_the_part(server: Server, tmp_path: Path) -> None:
    def second(*_: int) -> None:
        with pytest.raises(WriteampError, match="another process is downloading"):
            download(server.url, tmp_path / "disk.bin")

    assert download(server.url, tmp_path / "disk.bin", progress=second) == FACTS


def test_a_file_that_another_process_completed_is_not_written_to(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def completed_meanwhile(*_: object) -> None:
        (tmp_path / "disk.bin.part").rename(tmp_path / "disk.bin")
        (tmp_path / "disk.bin.part").touch()

    monkeypatch.setattr(downloads, "flock", completed_meanwhile)
    with pytest.raises(WriteampError, match="another process is downloading"):
        download(server.url, tmp_path / "disk.bin")
    assert (tmp_path / "disk.bin").read_bytes() == b""


@pytest.fixture
def as_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lock no file, and neither rename nor remove one that this process has open."""

    def flock(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "no locks")

    def refuse_open(path: Path) -> None:
        for handle in Path("/proc/self/fd").iterdir():
            if handle.exists() and os.path.samefile(handle, path):
                raise PermissionError(errno.EACCES, "the file is open")

    def renamed(path: Path, target: Path) -> None:
        refuse_open(path)
        os.replace(path, target)

    def unlinked(path: Path) -> None:
        refuse_open(path)
        os.unlink(path)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(downloads, "flock", flock)
    monkeypatch.setattr(Path, "replace", renamed)
    monkeypatch.setattr(Path, "unlink", unlinked)


@pytest.mark.usefixtures("as_windows")
def test_a_file_is_downloaded_without_locks(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "disk.bin"
    cut_off(server, target)
    assert download(server.url, target) == FACTS
    assert server.site.requested == ["bytes=300000-"]
    assert target.read_bytes() == CONTENT
    with pytest.raises(OtherContentError, match="the download was removed"):
        download(server.url, target, replace(FACTS, sha256="0" * 64))
    server.site.etag = None
    cut_off(server, target)
    assert names(tmp_path) == ["disk.bin"]


@pytest.mark.usefixtures("as_windows")
def test_a_second_process_without_locks_is_noticed(server: Server, tmp_path: Path) -> None:
    part = tmp_path / "disk.bin.part"

    def second(*_: int) -> None:
        content = part.read_bytes()
        part.write_bytes(content[::-1])

    with pytest.raises(WriteampError, match="another process wrote to"):
        download(server.url, tmp_path / "disk.bin", progress=second)
    assert names(tmp_path) == []


def test_a_folder_that_does_not_exist_is_one_sentence(server: Server, tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match=r"cannot write .*no/a.part.*No such file"):
        download(server.url, tmp_path / "no" / "a")


# Traces of the catalogue.


def test_each_public_trace_has_a_format_a_page_and_a_name_of_its_own() -> None:
    traces = wa.traces.catalogue().traces
    assert len({trace.name for trace in traces}) == len(traces) >= 12
    downloaded = [trace for trace in traces if trace.url is not None]
    assert len({trace.file_name for trace in downloaded}) == len(downloaded)
    for trace in traces:
        assert trace.format in FORMATS
        assert trace.page.startswith("https://")
        # Both or none: a size alone would replace the record of the first download.
        assert (trace.size_bytes is None) == (trace.sha256 is None)
        assert trace.sha256 is None or len(bytes.fromhex(trace.sha256)) == 32
    # No source has an https address of that host.
    unprotected = [trace for trace in downloaded if not str(trace.url).startswith("https://")]
    assert [trace.name for trace in unprotected] == ["msr-hm-0"]
    assert str(unprotected[0].url).startswith("http://")


KEYS = {
    "name", "page", "url", "is_copy", "bytes", "sha256", "licence", "format", "paper", "path",
}  # fmt: skip


def test_the_catalogue_is_printed_as_json_and_as_a_table(cache: Path) -> None:
    rows = document("trace list")["traces"]
    assert all(row.keys() == KEYS for row in rows)
    assert {row["path"] for row in rows} == {None}
    (name, url) = next((row["name"], row["url"]) for row in rows if row["url"])
    cache.mkdir(parents=True)
    file = cache / url.rpartition("/")[2]
    file.touch()
    found = {row["name"]: row["path"] for row in document("trace list")["traces"]}
    assert found[name] == str(file)
    done = run("trace list", "")
    assert f"{len(rows)} public traces, 1 of them fetched" in done.out
    assert all(row["name"] in done.out for row in rows)
    copies = [row["name"] for row in rows if row["is_copy"]]
    assert copies == ["msr-hm-0", "msr-cambridge1", "msr-cambridge2", "systor17-01"]
    assert done.out.count("no, copy") == len(copies)


@pytest.fixture
def known(server: Server, monkeypatch: pytest.MonkeyPatch) -> PublicTrace:
    """Give the only trace of the catalogue, whose checksum is unknown."""
    server.site.content = (TINY / "tiny.msr.csv").read_bytes()
    trace = PublicTrace(
        "disk", "https://example.org", server.url, None, None, "CC0", "msr", "A Paper"
    )
    monkeypatch.setattr(public_traces, "_traces", lambda: (trace,))
    return trace


def test_the_first_download_records_the_checksum_and_a_later_one_compares_it(
    server: Server, known: PublicTrace, cache: Path
) -> None:
    content = server.site.content
    first = document("trace fetch", known.name)
    path = cache / "disk.bin"
    digest = hashlib.sha256(content).hexdigest()
    assert first["path"] == str(path)
    assert path.read_bytes() == content
    assert (first["bytes"], first["sha256"], first["downloaded"]) == (len(content), digest, True)
    assert first["command"] == f"writeamp simulate --trace {path} --format msr"
    assert "recorded in" in first["notes"][0]
    record = json.loads((cache / "disk.bin.json").read_text())
    assert record == {"url": known.url, "bytes": len(content), "sha256": digest}

    server.site.requested.clear()
    again = wa.traces.fetch(known.name)
    assert server.site.requested == []
    assert not again.is_new
    assert again.content.sha256 == digest
    assert [note for note in again.notes if "recorded" in note] == []

    path.unlink()
    server.site.content, server.site.etag = b"changed", '"2"'
    sentence = refusal("trace fetch", known.name, digest, "first download", "--force")
    assert "7 bytes" in sentence
    assert names(cache) == ["disk.bin.json"]

    forced = wa.traces.fetch(known.name, force=True)
    assert path.read_bytes() == b"changed"
    assert "has changed since the first download" in forced.warnings[0]
    assert wa.traces.fetch(known.name).content.size_bytes == 7


def test_a_file_that_was_changed_is_found(known: PublicTrace, cache: Path) -> None:
    wa.traces.fetch(known.name)
    (cache / "disk.bin").write_bytes(b"other")
    refusal("trace fetch", known.name, "5 bytes", "disk.bin", "--force")
    assert run("trace fetch", f"{known.name} --force").status == 0


@pytest.mark.parametrize("record", [None, "{}", '{"bytes": 5}'])
def test_a_file_that_no_download_recorded_is_not_trusted(
    known: PublicTrace, cache: Path, record: str | None
) -> None:
    cache.mkdir(parents=True)
    (cache / "disk.bin").write_bytes(b"other")
    if record is not None:
        (cache / "disk.bin.json").write_text(record)
    refusal("trace fetch", known.name, "disk.bin", "checksum is unknown", "--force")
    assert (cache / "disk.bin").read_bytes() == b"other"
    forced = document("trace fetch", f"{known.name} --force")
    assert (forced["downloaded"], forced["warnings"]) == (True, [])
    assert document("trace fetch", known.name)["downloaded"] is False


def test_a_file_with_the_stated_checksum_needs_no_record(
    known: PublicTrace, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    stated = replace(known, size_bytes=FACTS.size_bytes, sha256=FACTS.sha256)
    monkeypatch.setattr(public_traces, "_traces", lambda: (stated,))
    cache.mkdir(parents=True)
    (cache / "disk.bin").write_bytes(CONTENT)
    assert not wa.traces.fetch(known.name).is_new
    (cache / "disk.bin").write_bytes(b"other")
    refusal("trace fetch", known.name, "5 bytes", "--force")


def test_the_printed_command_reads_the_trace(known: PublicTrace, tmp_path: Path) -> None:
    done = run("trace fetch", f"{known.name} --to {tmp_path}/new/folder")
    assert done.status == 0, done.err
    assert "disk was downloaded" in done.out
    path = tmp_path / "new" / "folder" / "disk.bin"
    assert f"next: writeamp simulate --trace {path} --format msr\n" in done.out
    assert document("trace info", f"{path} --format msr")["requests"] == 3


def test_an_archive_is_kept_as_it_is(
    known: PublicTrace, server: Server, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    packed = replace(known, url=server.url.replace("disk.bin", "disk.tar"), is_copy=True)
    monkeypatch.setattr(public_traces, "_traces", lambda: (packed,))
    found = wa.traces.fetch(known.name)
    assert found.command == "writeamp simulate --trace FILE --format msr"
    assert f"{cache}/disk.tar is an archive; unpack it" in found.notes[-1]
    assert found.notes[-2] == f"{packed.url} is a copy; the page of the publisher is {known.page}"


def test_a_note_states_that_the_transport_was_not_protected(
    known: PublicTrace, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unprotected(trace: PublicTrace) -> bool:
        monkeypatch.setattr(public_traces, "_traces", lambda: (trace,))
        return any("has no https" in note for note in document("trace fetch", trace.name)["notes"])

    assert unprotected(known)
    assert unprotected(known)  # also when the downloaded file is checked
    content = server.site.content
    digest = hashlib.sha256(content).hexdigest()
    assert not unprotected(replace(known, size_bytes=len(content), sha256=digest))
    assert not unprotected(replace(known, url=server.url.replace("http://", "https://")))


def test_a_stated_checksum_is_held_to(
    known: PublicTrace, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    stated = replace(known, size_bytes=FACTS.size_bytes, sha256=FACTS.sha256)
    monkeypatch.setattr(public_traces, "_traces", lambda: (stated,))
    for arguments in (known.name, f"{known.name} --force"):
        sentence = refusal("trace fetch", arguments, "1,280,000 bytes")
        assert "first download" not in sentence
    assert names(cache) == []


def test_a_trace_without_an_address_and_an_unknown_one_are_refused(cache: Path) -> None:
    refusal("trace fetch", "alibaba-2020", "by hand", "github.com/alibaba", "--format alibaba")
    refusal("trace fetch", "alibaba-2002", "did you mean 'alibaba-2020'")
    assert not cache.exists()


def test_an_unreachable_server_is_refused_with_what_to_do(
    known: PublicTrace, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    with socket.socket() as deaf:  # it does not listen
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/disk.bin"
        monkeypatch.setattr(public_traces, "_traces", lambda: (replace(known, url=url),))
        sentence = refusal("trace fetch", known.name, "refused; check", "http_proxy", known.page)
    assert sentence.endswith("then run: writeamp simulate --trace FILE --format msr\n")
    assert names(cache) == []


def test_ctrl_c_in_the_command_prints_how_to_continue(
    known: PublicTrace, server: Server, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    server.site.content = CONTENT
    with monkeypatch.context() as patch:
        patch.setattr(Bar, "update", interrupt)
        done = run("trace fetch", known.name)
    part = cache / "disk.bin.part"
    assert (done.status, done.out) == (130, "")
    assert f"of 1,280,000 bytes are in {part}; run the same command to continue" in done.err
    assert document("trace fetch", known.name)["bytes"] == len(CONTENT)


def test_a_folder_that_cannot_be_made_is_refused(known: PublicTrace, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refusal("trace fetch", f"{known.name} --to {tmp_path}/file/folder", "cannot make folder")
