"""Folders of Parquet files in which the results of studies are kept, each once.

Rows are only ever added: each part is written whole under a name of its own, and never changed.
Its name ends with a digest of its content, so that one that was damaged is not read. Readers take
each key once, so that two studies may write at the same time, and a merge may end anywhere.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs, output
from writeamp.files.tables import read_parquet

# Columns that name a result: the digest of what was asked, and the engine's version.
KEY = ("hash", "version")

_PARTS = "part-*.parquet"
_NAME_OF_PART = re.compile(r"part-[0-9]{20}-[0-9a-f]{8}-(?P<digest>[0-9a-f]{16})\.parquet")
# Of a part 16 MiB are merged, and a run adds one of its own points.
_MOST_BYTES_OF_MARK, _MOST_BYTES_OF_PART = 1 << 20, 1 << 30
# Larger parts are left alone: to write them anew would take longer than to read them.
_SMALL_BYTES = 16 << 20
# A merge by another study may take away what is about to be read.
_MOST_TRIES = 20


@dataclass(frozen=True)
class Contents:
    """Kind of results that a folder holds, its words and its columns.

    Attributes:
        study: what makes them, in a word, as in "results of a sweep".
        points: what it has many of.
        schema: Polars types by the name of the column; `KEY` and `error` are among them.
        version: of the format, which is written.
        without_digests: the older version that is read, too, whose parts may have no digest.
    """

    study: str
    points: str
    schema: Mapping[str, Any]
    version: int
    without_digests: int | None = None

    @property
    def mark(self) -> str:
        """Name of the file that says what the folder holds."""
        return f"writeamp-{self.study}.json"

    @property
    def format(self) -> str:
        """Name of the format in that file."""
        return f"writeamp {self.study}"

    @property
    def readable(self) -> tuple[int, ...]:
        """Versions of the format that are read."""
        return tuple(one for one in (self.without_digests, self.version) if one is not None)


class Dataset:
    """The results in one folder; a subclass says of which kind."""

    contents: ClassVar[Contents]

    def __init__(self, folder: Path, version: int) -> None:
        """Take a folder that holds results in a format; `open` and `make` check that."""
        self.folder = folder
        self._needs_digests = version != self.contents.without_digests

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Return the dataset in a folder.

        Raises:
            WriteampError: there is none, or one that this version cannot read.
        """
        folder, mark_file = Path(file_name(path)), cls.contents.mark
        try:
            mark = json.loads(inputs.read_bytes(folder / mark_file, _MOST_BYTES_OF_MARK, "mark"))
        except FileNotFoundError:
            raise WriteampError(
                f"{folder} holds no results of a {cls.contents.study}; give the folder that was "
                "--keep of one"
            ) from None
        except OSError as error:
            raise WriteampError(f"cannot read {folder / mark_file}: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise WriteampError(
                f"{folder / mark_file} is damaged: it is not JSON; remove it, and the same "
                f"{cls.contents.study} writes it again and keeps the results"
            ) from None
        return cls(folder, _version_of(cls.contents, mark, folder))

    @classmethod
    def make(cls, path: str | os.PathLike[str]) -> Self:
        """Return the dataset in a folder, which is made if there is none.

        Raises:
            WriteampError: the folder has something else in it, or cannot be written.
        """
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = {one.name for one in folder.iterdir()}
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise WriteampError(f"cannot make folder {str(folder)!r}: {why}") from None
        if cls.contents.mark not in names:
            # Parts without a mark are there if it was damaged and removed.
            others = [
                name
                for name in names
                if not (fnmatchcase(name, output.DRAFTS) or _NAME_OF_PART.fullmatch(name))
            ]
            # Another process may have begun here since.
            if others and not (folder / cls.contents.mark).exists():
                raise WriteampError(
                    f"{folder} holds other files and no results of a {cls.contents.study}; give "
                    "--keep a new or empty folder"
                )
            cls(folder, cls.contents.version).rows()  # which refuses parts of another study
            _mark(cls.contents, folder)
        found = cls.open(folder)
        output.check_target(found._new_part(b""), "results")
        return found

    def rows(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the results, each once, in the order of their study, whichever came first.

        Args:
            columns: some of them, `KEY` and `error` among these; all by default.
        """
        rows = once_each(self._read(list(columns or self.contents.schema)))
        return rows.sort(*(["place"] if "place" in rows.columns else []), *KEY)

    def append(self, rows: pl.DataFrame) -> Path:
        """Add a part with these rows: it is whole and on the disk, or not there.

        Raises:
            WriteampError: the disk is full, or the part cannot be written for another reason.
        """
        buffer = io.BytesIO()
        rows.write_parquet(buffer)
        content = buffer.getvalue()
        path = self._new_part(content)
        with output.replacing(path, "results", may_replace=False) as file:
            file.write(content)
        return path

    def merge(self, parts: Sequence[Path]) -> Path | None:
        """Put the rows of some parts, which nobody else merges, into one; their files go.

        Killed in between, it leaves rows twice, of which readers take one. Where the disk is full
        the parts stay: nothing is lost.
        """
        if len(parts) < 2:
            return None
        try:
            merged = self.append(once_each(pl.concat([self._part(path) for path in parts])))
        except WriteampError:
            return None
        for path in parts:
            with suppress(OSError):
                path.unlink()
        return merged

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Say that a study adds results, which keeps `tidy` of another from merging them."""
        with locked(self.folder / self.contents.mark, fcntl.LOCK_SH):
            yield

    def tidy(self) -> None:
        """Merge small parts into one, unless another study adds results."""
        with locked(self.folder / self.contents.mark, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_alone:
            if is_alone:
                self.merge([one for one in self._parts() if one.stat().st_size < _SMALL_BYTES])

    def _parts(self) -> list[Path]:
        """Return the parts, the oldest first."""
        return sorted(self.folder.glob(_PARTS))

    def _new_part(self, content: bytes) -> Path:
        name = f"part-{time.time_ns():020d}-{secrets.token_hex(4)}-{_digest(content)}.parquet"
        return self.folder / name

    def _read(self, columns: list[str]) -> pl.DataFrame:
        empty = pl.DataFrame(schema={name: self.contents.schema[name] for name in columns})
        for _ in range(_MOST_TRIES):
            try:
                return pl.concat([empty, *(self._part(path, columns) for path in self._parts())])
            except FileNotFoundError:
                continue
        raise WriteampError(f"cannot read {self.folder}: another study keeps merging its parts")

    def _part(self, path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return some columns of the rows of a part.

        Raises:
            FileNotFoundError: it is gone.
            WriteampError: it cannot be read, was damaged, or is none.
        """
        try:
            content = inputs.read_bytes(path, _MOST_BYTES_OF_PART, "part")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise WriteampError(f"cannot read results {path}: {error.strerror}") from None
        named = _NAME_OF_PART.fullmatch(path.name)
        if named is None and self._needs_digests:
            raise WriteampError(
                f"{path} has no name that a {self.contents.study} gives to results; remove it, or "
                "give it back its name"
            )
        if named is not None and named["digest"] != _digest(content):
            raise WriteampError(
                f"{path} is damaged: its content is not what was written; remove it, and the same "
                f"{self.contents.study} computes its {self.contents.points} again"
            )
        return _rows_in(self.contents, content, path, columns)


def once_each(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each key: a success before failures, and else the last one."""
    ranked = rows.with_row_index("_at").with_columns(_failed=pl.col("error").is_not_null())
    best = ranked.sort(["_failed", "_at"], descending=[False, True]).unique(
        KEY, keep="first", maintain_order=True
    )
    return best.sort("_at").drop("_at", "_failed")


def _mark(contents: Contents, folder: Path) -> None:
    """Say that the folder holds results, unless another study was faster, which has the lock."""
    content = json.dumps({"format": contents.format, "version": contents.version}).encode() + b"\n"
    try:
        with output.replacing(folder / contents.mark, "results", may_replace=False) as file:
            file.write(content)
    except WriteampError:
        if not (folder / contents.mark).exists():
            raise


def _version_of(contents: Contents, mark: Any, folder: Path) -> int:
    """Return the format of the results that a mark speaks of.

    Raises:
        WriteampError: it speaks of something else, or of a format that is not read here.
    """
    if not isinstance(mark, dict) or mark.get("format") != contents.format:
        raise WriteampError(
            f"{folder / contents.mark} does not say that these are results of a "
            f"{contents.study}; give another folder"
        )
    version = mark.get("version")
    if version not in contents.readable:
        raise WriteampError(
            f"{folder} holds results in format {version} of another version of writeamp; this one "
            f"reads {_in_words(contents.readable)}: give another folder"
        )
    return int(version)


def _in_words(versions: Sequence[int]) -> str:
    return f"format{'s' if len(versions) > 1 else ''} {' and '.join(map(str, versions))}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _rows_in(
    contents: Contents, content: bytes, path: Path, asked: Sequence[str] | None
) -> pl.DataFrame:
    columns = list(contents.schema) if asked is None else list(asked)
    try:
        rows = read_parquet(content, columns)
    except (OSError, pl.exceptions.PolarsError) as error:
        why = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise WriteampError(f"cannot read results {path}: {why}") from None
    if dict(rows.schema) != {name: contents.schema[name] for name in columns}:
        raise WriteampError(
            f"{path} has other columns than results of a {contents.study} have; remove it, or give "
            "another folder"
        )
    return rows.select(columns)


@contextmanager
def locked(path: Path, how: int) -> Iterator[bool]:
    """Lock a file, and tell whether that could be; a file system may not know how.

    Raises:
        WriteampError: there is no such file, or it cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise WriteampError(f"cannot read {path}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, how)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
