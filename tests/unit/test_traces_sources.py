"""Traces come compressed, and on standard input, as they do from plain files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from in_process import run
from places import TINY
from writeamp import traces
from writeamp.errors import WriteampError

SPC = (TINY / "tiny.spc").read_bytes()
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
SMALL = "--blocks 64 --pages-per-block 16 --op 0.1"


def given_input(
    monkeypatch: pytest.MonkeyPatch, content: bytes, *, is_terminal: bool = False
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdin", stream)


@pytest.mark.parametrize("kind", PACKED)
def test_compressed_text_reads_as_if_it_were_plain(tmp_path: Path, kind: str) -> None:
    rows = b"".join(b"0,%d,4096,W,%d.5\n" % (at * 8, at) for at in range(300_000))
    (tmp_path / "plain").write_bytes(rows)
    (tmp_path / "packed").write_bytes(PACKED[kind](rows))
    whole = traces.read(tmp_path / "packed")
    assert whole.requests.equals(traces.read(tmp_path / "plain").requests)


@pytest.mark.parametrize("kind", PACKED)
def test_several_compressed_parts_after_another_are_one_text(tmp_path: Path, kind: str) -> None:
    (tmp_path / "packed").write_bytes(PACKED[kind](SPC) + PACKED[kind](SPC))
    assert traces.read(tmp_path / "packed").requests.height == 6


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_compressed_file_that_is_cut_is_named(tmp_path: Path, kind: str, kept: float) -> None:
    packed = PACKED[kind](b"".join(b"0,%d,4096,W,0\n" % (at**3 % 99991) for at in range(9999)))
    path = tmp_path / "cut"
    path.write_bytes(packed[: int(len(packed) * kept)])
    with pytest.raises(WriteampError) as error:
        traces.read(path, "spc")
    assert str(error.value) == f"{path}: the {kind} file is damaged or cut"


@pytest.mark.parametrize("kind", PACKED)
def test_a_compressed_file_with_a_wrong_byte_is_named(tmp_path: Path, kind: str) -> None:
    packed = bytearray(PACKED[kind](b"".join(b"0,%d,4096,W,0\n" % at for at in range(9999))))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "damaged"
    path.write_bytes(packed)
    if kind == "zstd":  # without a checksum, the text itself may be what is wrong
        with pytest.raises(WriteampError, match=str(path)):
            traces.read(path, "spc")
        return
    with pytest.raises(WriteampError, match=f"the {kind} file is damaged or cut"):
        traces.read(path, "spc")


def test_every_verb_reads_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = b"".join(b"0,%d,4096,W,%d\n" % (at * 7 % 640 * 8, at) for at in range(2000))
    (tmp_path / "t.spc").write_bytes(rows)

    def both(verb: str, arguments: str) -> list[str]:
        given_input(monkeypatch, zstandard.compress(rows))
        piped = run(verb, arguments.replace("FILE", "-"))
        named = run(verb, arguments.replace("FILE", str(tmp_path / "t.spc")))
        assert piped.status == named.status == 0, piped.err
        return [piped.out, named.out]

    piped, named = both("trace info", "FILE --json")
    assert piped == named
    for verb, more in [
        ("simulate", ""),
        ("endurance", "--w-max 20 --replicas 2"),
        ("simulate", "--repeat 2"),
    ]:
        piped, named = both(verb, f"--trace FILE {SMALL} {more} --json")
        assert json.loads(piped)["wa"] == json.loads(named)["wa"]
    piped, named = both("compare", f"--trace FILE {SMALL} --managers single,sepgc --json")
    assert [row["wa"] for row in json.loads(piped)["rows"]] == [
        row["wa"] for row in json.loads(named)["rows"]
    ]
    both("simulate", f"--precondition aged:FILE {SMALL} --writes 2000")
    both("trace convert", f"FILE {tmp_path / 'out.parquet'} --force")
    assert traces.read(tmp_path / "out.parquet").requests.height == 2000


def test_a_trace_on_standard_input_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    given_input(monkeypatch, SPC)
    assert traces.read("-").path == "standard input"
    given_input(monkeypatch, SPC + b"1,2\n")
    with pytest.raises(WriteampError, match=r"^standard input:4: the row has 2 columns"):
        traces.read("-")


@pytest.mark.parametrize(
    ("arguments", "content", "words"),
    [
        ("--trace - --precondition aged:-", SPC, "are both - (standard input)"),
        ("--trace - --save-config x.toml", SPC, "its trace is standard input"),
        ("--trace -", b"", "standard input: the file is empty"),
        ("--trace -", b"hello\n", "standard input: its first line is not a row"),
    ],
)
def test_what_standard_input_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: str, content: bytes, words: str
) -> None:
    given_input(monkeypatch, content)
    monkeypatch.chdir(tmp_path)
    ended = run("simulate", arguments)
    assert ended.status == 2
    assert words in ended.err
    assert not list(tmp_path.iterdir())


def test_a_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    given_input(monkeypatch, SPC, is_terminal=True)
    ended = run("trace info", "-")
    assert ended.status == 2
    assert "standard input is a terminal; give a file, or pipe one into the command" in ended.err
