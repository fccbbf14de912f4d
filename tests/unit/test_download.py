"""Downloads of any file, from a web server of this process."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from web_server import CONTENT, FACTS, Server, web_server
from writeamp import system
from writeamp.errors import WriteampError
from writeamp.files import download as downloads
from writeamp.files.content_facts import ContentFacts
from writeamp.files.download import OtherContentError, download

OTHER = CONTENT[::-1]


@pytest.fixture
def server() -> Iterator[Server]:
    with web_server() as found:
        yield found


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

    monkeypatch.setattr(system, "flock", completed_meanwhile)
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
    monkeypatch.setattr(system, "flock", flock)
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
