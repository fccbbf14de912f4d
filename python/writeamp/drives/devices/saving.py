"""Saving of a drive's documents: as one file, or as a folder with a file a log."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from writeamp.drives.counters.reading import snapshots_of
from writeamp.drives.counters.saved_file import packed
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.errors import WriteampError
from writeamp.files.output import check_target, replacing, sync_folder
from writeamp.files.temporary import temporary_folder

_WHAT = "snapshot"


def is_folder(out: str | os.PathLike[str]) -> bool:
    """Return whether a snapshot is to be a folder: what ends with a slash, or is one."""
    return os.fspath(out).endswith("/") or Path(out).is_dir()


def check_out(out: str | os.PathLike[str]) -> None:
    """Refuse early where a snapshot cannot be saved.

    Raises:
        WriteampError: a folder that holds something, or a file that cannot be written.
    """
    if not is_folder(out):
        check_target(out, _WHAT)
        return
    path = Path(out)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise WriteampError(
            f"{os.fspath(out)!r} is no empty folder; a snapshot is of one moment, so give it a "
            "folder of its own, or a file"
        )
    if not path.parent.is_dir():
        raise WriteampError(f"there is no folder {str(path.parent)!r} for the snapshot")


def save_documents(documents: Mapping[str, bytes], out: str | os.PathLike[str]) -> Snapshot:
    """Save a drive's documents, the whole or nothing, and return the snapshot that they are.

    Args:
        documents: by the names of their files.
        out: a file, or a folder if it is one or ends with a slash.

    Raises:
        WriteampError: they are no snapshot, or cannot be written.
    """
    (snapshot,) = snapshots_of(os.fspath(out), documents)
    if is_folder(out):
        _save_folder(documents, Path(out))
    else:
        with replacing(out, _WHAT) as file:
            file.write(packed(documents))
    return snapshot


def _save_folder(documents: Mapping[str, bytes], folder: Path) -> None:
    """Write a folder beside its place, which it takes when it is complete."""
    check_out(folder if folder.is_dir() else f"{folder}/")
    try:
        with temporary_folder(beside=folder) as place:
            draft = place / folder.name
            draft.mkdir()
            for name, content in documents.items():
                with replacing(draft / name, _WHAT) as file:
                    file.write(content)
            draft.replace(folder)
            sync_folder(folder.parent)
    except OSError as error:
        raise WriteampError(
            f"cannot write the snapshot {str(folder)!r}: {error.strerror or error}"
        ) from None
