"""Decompression of text while it is read; errors name damaged and cut files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import zstandard

from writeamp.errors import WriteampError

_CHUNK_BYTES = 2**17
# Bytes of input that are unpacked at once. As four bytes of zstd unpack to at most 128 KiB, this
# limits the output to 32 MiB. The package zstandard has no limit of its own.
_PIECE_BYTES = 2**10
# Largest window of `zstd --long=31`.
_LARGEST_WINDOW_BYTES = 2**31


class _Zstd(io.RawIOBase):
    """Text of a zstd file; unlike the package's own reader, it detects a cut end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._zstd = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW_BYTES)
        self._frame = self._zstd.decompressobj()
        self._is_within = False
        self._packed = b""
        self._at = 0
        self._text = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]  # as in the base class
        while not self._text:
            if self._at >= len(self._packed):
                self._packed, self._at = self._file.read(_CHUNK_BYTES), 0
            if not self._packed:
                if self._is_within:
                    raise EOFError
                return 0
            piece = self._packed[self._at : self._at + _PIECE_BYTES]
            self._text = memoryview(self._frame.decompress(piece))
            self._at += len(piece) - len(self._frame.unused_data)
            self._is_within = not self._frame.eof
            if self._frame.eof:
                self._frame = self._zstd.decompressobj()
        count = min(len(buffer), len(self._text))
        buffer[:count], self._text = self._text[:count], self._text[count:]
        return count


def _zstd(file: BinaryIO) -> BinaryIO:
    return io.BufferedReader(_Zstd(file), _CHUNK_BYTES)


def _gzip(file: BinaryIO) -> BinaryIO:
    return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]


def _xz(file: BinaryIO) -> BinaryIO:
    return lzma.LZMAFile(file)  # type: ignore[return-value]


def _bzip2(file: BinaryIO) -> BinaryIO:
    return bz2.BZ2File(file)  # type: ignore[return-value]


# First bytes and reader of each kind of compression.
_KINDS: dict[str, tuple[bytes, Callable[[BinaryIO], BinaryIO]]] = {
    "gzip": (b"\x1f\x8b", _gzip),
    "zstd": (b"\x28\xb5\x2f\xfd", _zstd),
    "xz": (b"\xfd7zXZ\x00", _xz),
    "bzip2": (b"BZh", _bzip2),
}
SUFFIXES = (".gz", ".zst", ".xz", ".bz2")


@contextmanager
def unpacked(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Yield the text of a file, which may be compressed.

    Raises:
        OSError: the file cannot be read.
        WriteampError: it is damaged or cut.
    """
    magic = file.read(8)
    file.seek(0)
    kinds = [name for name, (begin, _) in _KINDS.items() if magic.startswith(begin)]
    try:
        yield _KINDS[kinds[0]][1](file) if kinds else file
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zstandard.ZstdError) as error:
        if "memory" in str(error):  # the window size in the file needs too much
            raise WriteampError(f"{path}: unpacking needs more memory than is free") from None
        raise _damaged(path, kinds) from None
    except OSError as error:
        if error.errno is None:  # bz2 raises an OSError without a number for damaged files
            raise _damaged(path, kinds) from None
        raise


def _damaged(path: Path, kinds: list[str]) -> WriteampError:
    return WriteampError(f"{path}: the {''.join(kinds)} file is damaged or cut")


@contextmanager
def packed(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write text to, which is compressed into `file` by the suffix of the path.

    Raises:
        WriteampError: files of the suffix can be read but not written.
    """
    suffix = path.suffix
    if suffix == ".zst":
        with zstandard.ZstdCompressor(level=3, threads=-1).stream_writer(
            file, closefd=False
        ) as stream:
            yield stream  # it has the methods that a writer needs
    elif suffix == ".gz":
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=3, mtime=0) as text:
            yield text  # type: ignore[misc]
    elif suffix in SUFFIXES:
        raise WriteampError(
            f"{path}: {suffix} files can be read but not written; write .zst, .gz or uncompressed"
        )
    else:
        yield file
