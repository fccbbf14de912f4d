"""Folders of Parquet files with the results of studies, each result once.

A folder contains parts: Parquet files of rows. Rows are only added: each part is written completely
under a name of its own, and never changed. The name ends with a digest of the content, so that
damaged parts are detected. If several parts have a result with the same key, readers use one of
them. Therefore two studies may write at the same time, and a merge may be interrupted.
"""

from __future__ import annotations

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
from writeamp.system import LOCK_EX, LOCK_NB, LOCK_SH, flock

# Columns that identify a result: the digest of the experiment, and the engine's version.
KEY = ("hash", "version")

_PARTS = "part-*.parquet"
_NAME_OF_PART = re.compile(r"part-[0-9]{20}-[0-9a-f]{8}-(?P<digest>[0-9a-f]{16})\.parquet")
# Upper bounds in bytes of a mark and of a part that is read. A merge joins parts of at most 16 MiB
# each, so that a valid part stays far below its bound.
_MOST_BYTES_OF_MARK, _MOST_BYTES_OF_PART = 1 << 20, 1 << 30
# Parts larger than this are not merged, because rewriting them would take longer than reading them.
_SMALL_BYTES = 16 << 20
# A concurrent merge may remove a part before it is read. The reader then lists the folder again, at
# most this many times.
_MOST_TRIES = 20


@dataclass(frozen=True)
class Contents:
    """Description of the results in a folder: their names in messages, and their columns.

    Attributes:
        study: noun for the study, as in "results of a sweep".
        points: plural noun for its results.
        schema: Polars types by name of the column; `KEY` and `error` are among them.
        version: version of the format that is written.
        without_digests: older version of the format that is also readable; its part names may lack
            a digest.
    """

    study: str
    points: str
    schema: Mapping[str, Any]
    version: int
    without_digests: int | None = None

    @property
    def mark(self) -> str:
        """Name of the file (the mark) that identifies the content of the folder."""
        return f"writeamp-{self.study}.json"

    @property
    def format(self) -> str:
        """Name of the format, as written in the mark."""
        return f"writeamp {self.study}"

    @property
    def readable(self) -> tuple[int, ...]:
        """Versions of the format that can be read."""
        return tuple(
            version for version in (self.without_digests, self.version) if version is not None
        )


class Dataset:
    """Results in one folder; a subclass defines the kind of results."""

    contents: ClassVar[Contents]

    def __init__(self, folder: Path, version: int) -> None:
        """Set the folder and the version of its format; `open` and `make` check both."""
        self.folder = folder
        self._needs_digests = version != self.contents.without_digests

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Return the dataset in a folder.

        Raises:
            WriteampError: the folder holds no results, or this version cannot read them.
        """
        folder, mark_file = Path(file_name(path)), cls.contents.mark
        try:
            mark = json.loads(inputs.read_bytes(folder / mark_file, _MOST_BYTES_OF_MARK, "mark"))
        except FileNotFoundError:
            raise WriteampError(
                f"{folder} holds no results of a {cls.contents.study}; give a folder that a "
                f"{cls.contents.study} wrote by --keep"
            ) from None
        except OSError as error:
            raise WriteampError(f"cannot read {folder / mark_file}: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise WriteampError(
                f"{folder / mark_file} is damaged: it is not JSON; remove it and run the "
                f"same {cls.contents.study} again, which rewrites it and keeps the results"
            ) from None
        return cls(folder, _version_of(cls.contents, mark, folder))

    @classmethod
    def make(cls, path: str | os.PathLike[str]) -> Self:
        """Return the dataset in a folder, which is created if it does not exist.

        Raises:
            WriteampError: the folder holds other files, or cannot be written.
        """
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in folder.iterdir()}
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise WriteampError(f"cannot make folder {str(folder)!r}: {why}") from None
        if cls.contents.mark not in names:
            # If the mark was damaged and a user removed it, parts without a mark remain. They are
            # accepted.
            others = [
                name
                for name in names
                if not (fnmatchcase(name, output.DRAFTS) or _NAME_OF_PART.fullmatch(name))
            ]
            # Another process may have created the mark in the meantime.
            if others and not (folder / cls.contents.mark).exists():
                raise WriteampError(
                    f"{folder} holds other files and no results of a {cls.contents.study}; give a "
                    "new or empty folder by --keep"
                )
            cls(folder, cls.contents.version).rows()  # rejects parts of another study
            _mark(cls.contents, folder)
        dataset = cls.open(folder)
        output.check_target(dataset._new_part(b""), "results")
        return dataset

    def rows(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the results, each once, by position in the study, then by key.

        Args:
            columns: columns to read, including `KEY` and `error`; all by default.
        """
        rows = once_each(self._read(list(columns or self.contents.schema)))
        return rows.sort(*(["place"] if "place" in rows.columns else []), *KEY)

    def append(self, rows: pl.DataFrame) -> Path:
        """Add a part with these rows, either completely or not at all.

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

    def take(self, other: Dataset) -> None:
        """Add the results of another folder that this one lacks, or whose runs failed in it.

        Raises:
            WriteampError: a folder cannot be read, or this one cannot be written.
        """
        own = self.rows((*KEY, "error")).filter(pl.col("error").is_null())
        new = other.rows().join(own, on=KEY, how="anti")
        if new.height:
            self.append(new)

    def merge(self, parts: Sequence[Path]) -> Path | None:
        """Merge some parts into one, and remove their files; no other study may merge them.

        Returns the merged part, or None if nothing was merged. If the merge is interrupted, some
        rows exist twice, and readers use one of each. If the disk is full, the parts stay as they
        are.
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
        """Lock the folder while a study adds results, so that no other study runs `tidy`."""
        with locked(self.folder / self.contents.mark, LOCK_SH):
            yield

    def tidy(self) -> None:
        """Merge small parts into one, unless another study is adding results."""
        with locked(self.folder / self.contents.mark, LOCK_EX | LOCK_NB) as is_alone:
            if is_alone:
                self.merge([path for path in self._parts() if path.stat().st_size < _SMALL_BYTES])

    def _parts(self) -> list[Path]:
        """Return the parts of the folder, oldest first."""
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
        raise WriteampError(
            f"cannot read {self.folder}: another study keeps merging its files; try again"
        )

    def _part(self, path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return some columns of the rows in a part.

        Raises:
            FileNotFoundError: the part was removed.
            WriteampError: the part cannot be read, is damaged, or has no valid name.
        """
        try:
            content = inputs.read_bytes(path, _MOST_BYTES_OF_PART, "part")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise WriteampError(f"cannot read results {path}: {error.strerror}") from None
        name_match = _NAME_OF_PART.fullmatch(path.name)
        if name_match is None and self._needs_digests:
            raise WriteampError(
                f"{path} does not have the name that a {self.contents.study} gives to results; "
                "remove it, or restore its name"
            )
        if name_match is not None and name_match["digest"] != _digest(content):
            raise WriteampError(
                f"{path} is damaged: its content differs from the digest in its name; remove it "
                f"and run the same {self.contents.study} again, which computes its "
                f"{self.contents.points} again"
            )
        return _rows_in(self.contents, content, path, columns)


def once_each(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each key: the last success if there is one, otherwise the last failure."""
    ranked = rows.with_row_index("_at").with_columns(_failed=pl.col("error").is_not_null())
    best = ranked.sort(["_failed", "_at"], descending=[False, True]).unique(
        KEY, keep="first", maintain_order=True
    )
    return best.sort("_at").drop("_at", "_failed")


def _mark(contents: Contents, folder: Path) -> None:
    """Write the folder's mark, unless another study did so first."""
    content = json.dumps({"format": contents.format, "version": contents.version}).encode() + b"\n"
    try:
        with output.replacing(folder / contents.mark, "results", may_replace=False) as file:
            file.write(content)
    except WriteampError:
        if not (folder / contents.mark).exists():
            raise


def _version_of(contents: Contents, mark: Any, folder: Path) -> int:
    """Return the version of the format that a mark states.

    Raises:
        WriteampError: the mark is of another format, or of a version that cannot be read.
    """
    if not isinstance(mark, dict) or mark.get("format") != contents.format:
        raise WriteampError(
            f"{folder / contents.mark} is not the mark of results of a {contents.study}; give "
            "another folder"
        )
    version = mark.get("version")
    if version not in contents.readable:
        raise WriteampError(
            f"{folder} holds results in format {version}, but this version of writeamp reads "
            f"{_in_words(contents.readable)}; give another folder"
        )
    return int(version)


def _in_words(versions: Sequence[int]) -> str:
    return f"format{'s' if len(versions) > 1 else ''} {' and '.join(map(str, versions))}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _rows_in(
    contents: Contents, content: bytes, path: Path, requested: Sequence[str] | None
) -> pl.DataFrame:
    columns = list(contents.schema) if requested is None else list(requested)
    try:
        rows = read_parquet(content, columns)
    except (OSError, pl.exceptions.PolarsError) as error:
        why = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise WriteampError(f"cannot read results {path}: {why}") from None
    if dict(rows.schema) != {name: contents.schema[name] for name in columns}:
        raise WriteampError(
            f"{path} has other columns than results of a {contents.study}; remove it, or give "
            "another folder"
        )
    return rows.select(columns)


@contextmanager
def locked(path: Path, how: int) -> Iterator[bool]:
    """Lock a file during the `with` block, and yield whether that succeeded.

    It fails if the file system does not support locks. With `LOCK_NB` in `how` (an operation of
    `flock`), it also fails if another process has locked the file.

    Raises:
        WriteampError: the file does not exist or cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise WriteampError(f"cannot read {path}: {error.strerror}") from None
    try:
        try:
            flock(handle, how)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
