"""Downloads of public traces, from a web server of this process."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import writeamp as wa
from in_process import document, refusal, run
from places import TINY
from web_server import CONTENT, FACTS, Server, web_server
from writeamp.cli.progress_bar import Bar
from writeamp.files.cache import cache_folder
from writeamp.traces import public_traces
from writeamp.traces.public_traces import PublicTrace
from writeamp.traces.registry import FORMATS


@pytest.fixture
def server() -> Iterator[Server]:
    with web_server() as found:
        yield found


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder("traces")


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
    assert os.listdir(cache) == ["disk.bin.json"]

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
    assert os.listdir(cache) == []


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
    assert os.listdir(cache) == []


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
