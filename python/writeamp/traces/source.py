"""Text trace files as blocks of whole lines, with an error for each kind of unreadable file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs
from writeamp.system import free_memory_bytes
from writeamp.traces.packed import unpacked
from writeamp.traces.text_table import TextTable, table_of

# Size of a block of text, small enough to stay in the CPU's cache while it is parsed. It also
# limits the memory for raw text.
BLOCK_BYTES = 4 * 2**20
_LINE_LIMIT_BYTES = 2**20
_HEAD_BYTES = 64 * 2**10
_HEAD_LINES = 1000

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PARQUET_MAGIC = b"PAR1"
# Files that hold a trace in another form, with instructions for each.
_FOREIGN_MAGICS = (
    (b"PK\x03\x04", "is a zip archive: unpack it first"),
    (b"PERFILE2", "is a binary file of perf: print it with perf script"),
    (b"\x17\x08Dtraci", "is a binary file of trace-cmd: print it with trace-cmd report"),
)
# Beginning of UTF-16 text, PowerShell's default: a byte order mark, and then characters of two
# bytes.
_UTF_16 = re.compile(rb"\xff\xfe[\t\r\n -~]\0[\t\r\n -~]\0")


@dataclass(frozen=True)
class TextBlock:
    """Whole lines of a text file.

    Attributes:
        path: the file.
        first_line: number of the block's first line, from 1.
        text: the lines.
        end_byte: number of bytes of the file's unpacked text up to the end of these lines.
        end_line: number of the line after these lines.
    """

    path: Path
    first_line: int
    text: bytes
    end_byte: int = 0
    end_line: int = 0

    def fault(self, line: int, sentence: str) -> WriteampError:
        """Return the error for a fault in a line of this block, with file and line."""
        return WriteampError(f"{self.path}:{line}: {sentence}")


@dataclass(frozen=True)
class Head:
    """Beginning of a file, from which its format is detected.

    Attributes:
        start: first bytes of the unpacked content, without a byte order mark.
        lines: first non-blank lines of `start`, stripped; their number is limited.
        text: whole lines of `start`; bytes that are not UTF-8 are replaced.
    """

    start: bytes
    lines: tuple[str, ...]
    text: str = ""

    @cached_property
    def table(self) -> TextTable | None:
        """Table in the first whole lines; None if they are not a table."""
        return table_of(self.text)

    @property
    def is_cut(self) -> bool:
        """Whether the file continues after these lines."""
        return len(self.text.encode()) < len(self.start)


def file_path(path: str | os.PathLike[str]) -> Path:
    """Return the path; for an address such as `s3://…` the path of its fetched content.

    For `-` it is the path of the content of standard input.

    Raises:
        WriteampError: the name is not a valid file name, or the content cannot be fetched.
    """
    name = os.fspath(file_name(path))
    if "\0" in name:
        raise WriteampError(f"{name!r} is not a file name: it contains a NUL")
    try:
        name.encode()
    except UnicodeEncodeError:  # it could be opened, but not printed, plotted or saved
        raise WriteampError(f"{name!r} is not UTF-8 text; rename the file, or link to it") from None
    if name == inputs.STANDARD_INPUT:
        return inputs.standard_input()
    return inputs.local(name) if inputs.is_address(name) else Path(path)


def read_head(path: Path) -> Head:
    """Return the beginning of a file, unpacked and without a byte order mark."""
    with open_file(path) as file:
        _refuse_foreign(file, path)
        with unpacked(file, path) as text:
            start = text.read(_HEAD_BYTES).removeprefix(_BYTE_ORDER_MARK)
            _refuse_tar(start, path)
            if len(start) == _HEAD_BYTES and b"\n" not in start and _is_text(start):
                rest = text.readline(_LINE_LIMIT_BYTES)
                _refuse_long_lines(TextBlock(path, 1, start + rest))
    whole_lines = start
    if len(start) == _HEAD_BYTES and b"\n" in start:
        whole_lines = start[: start.rindex(b"\n")]
    whole_text = whole_lines.decode("utf-8", "replace")
    lines = (line.strip() for line in whole_text.split("\n"))
    return Head(start, tuple(line for line in lines if line)[:_HEAD_LINES], whole_text)


def read_binary(path: Path) -> bytes:
    """Return the whole content of a binary file, unpacked.

    Raises:
        WriteampError: the file cannot be read.
    """
    with open_file(path) as file, unpacked(file, path) as content:
        chunks = []
        free_bytes = free_memory_bytes()
        while chunk := content.read(BLOCK_BYTES):
            if len(chunk) == BLOCK_BYTES == chunk.count(chunk[:1]):
                raise WriteampError(f"{path}: has 4 MiB of the same byte, so it is not a trace")
            chunks.append(chunk)
            # Chunks, joined content and records are in memory at the same time.
            if 4 * len(chunks) * BLOCK_BYTES > free_bytes:
                raise WriteampError(
                    f"{path}: needs more memory than the {free_bytes / 2**30:.1f} GiB that are free"
                )
        return b"".join(chunks)


def read_blocks(path: Path, *, first_byte: int = 0, first_line: int = 1) -> Iterator[TextBlock]:
    """Yield the file's text in blocks of whole lines; compressed files are unpacked meanwhile.

    Args:
        path: the file.
        first_byte: position at which to begin in the text; the end of the previous block.
        first_line: number of the line at that position.

    Raises:
        WriteampError: the file cannot be read or is not text.
    """
    with open_file(path) as file:
        _refuse_foreign(file, path)
        with unpacked(file, path) as stream:
            _pass(stream, first_byte, is_packed=stream is not file)
            yield from _blocks(path, stream, first_byte, first_line)


def _pass(stream: BinaryIO, byte_count: int, *, is_packed: bool) -> None:
    """Skip bytes at the start of a stream."""
    if not is_packed:
        stream.seek(byte_count)
        return
    while byte_count and (text := stream.read(min(byte_count, BLOCK_BYTES))):
        byte_count -= len(text)


def _blocks(path: Path, stream: BinaryIO, at_byte: int, line: int) -> Iterator[TextBlock]:
    while text := stream.read(BLOCK_BYTES):
        tail = b"" if text.endswith(b"\n") else stream.readline(_LINE_LIMIT_BYTES + 1)
        text += tail
        at_byte += len(text)
        first_line, line = line, line + _lines(text)
        block = TextBlock(path, first_line, text, at_byte, line)
        _refuse_binary(block)
        _refuse_long_lines(block)
        if first_line == 1:
            block = replace(block, text=text.removeprefix(_BYTE_ORDER_MARK))
        yield block


def _lines(text: bytes) -> int:
    """Return the number of line ends in a text; NumPy is seven times faster than `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Raises:
        WriteampError: the file does not exist, is empty, or cannot be opened or read to its end.
    """
    try:
        with inputs.opened(path) as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise WriteampError(
                    f"{path}: the file is empty; a trace needs at least one request"
                )
            yield file
    except FileNotFoundError:
        raise WriteampError(f"{path}: no such file") from None
    except OSError as error:
        raise WriteampError(f"{path}: cannot be read ({error.strerror})") from None


def _refuse_foreign(file: BinaryIO, path: Path) -> None:
    magic = file.read(8)
    file.seek(0)
    for foreign, sentence in _FOREIGN_MAGICS:
        if magic.startswith(foreign):
            raise WriteampError(f"{path}: {sentence}")
    if _UTF_16.match(magic):
        raise WriteampError(
            f"{path}: is UTF-16 text: convert it first with iconv -f UTF-16 -t UTF-8"
        )


def _refuse_tar(start: bytes, path: Path) -> None:
    if start[257:262] == b"ustar":
        raise WriteampError(f"{path}: is a tar archive: unpack it first with tar -xf")


def _refuse_long_lines(block: TextBlock) -> None:
    text, stride = block.text, _LINE_LIMIT_BYTES // 2
    starts = range(0, len(text) - stride, stride)
    if all(text.find(b"\n", at, at + stride) >= 0 for at in starts):
        return  # each stride has a line end, so no line exceeds the limit
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    lengths = np.diff(ends, prepend=-1, append=len(text)) - 1
    if (lengths > _LINE_LIMIT_BYTES).any():
        line = block.first_line + int(np.argmax(lengths > _LINE_LIMIT_BYTES))
        raise block.fault(line, "the line is longer than 1 MiB, the limit per line of a trace")


def _is_text(start: bytes) -> bool:
    # A character of several bytes may be cut at the end, so the last character is not checked.
    return b"\0" not in start and "\ufffd" not in start.decode("utf-8", "replace")[:-1]


def _refuse_binary(block: TextBlock) -> None:
    text = block.text
    if block.first_line == 1:
        _refuse_tar(text, block.path)
    if b"\0" in text:
        raise block.fault(
            block.first_line + text.count(b"\n", 0, text.index(b"\0")),
            "the line has a NUL byte: this is a binary file, but a trace in a text format was "
            "expected",
        )
    if text.isascii():
        return
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise block.fault(
            block.first_line + text.count(b"\n", 0, error.start),
            f"byte 0x{text[error.start]:02x} is not valid UTF-8; a trace must be UTF-8 text",
        ) from None
