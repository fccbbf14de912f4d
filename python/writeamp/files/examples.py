"""Shipped examples: traces, fio jobs, notebooks and scripts, in the wheel or in a clone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import writeamp
from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import inputs
from writeamp.files.output import AnyPath, replacing

_KINDS = {".parquet": "block trace"}
_HIDDEN = ("__pycache__", ".")
_SUMMARY = re.compile(r'^(?:[#;]+ |Description=|""")(?P<words>.*?)(?:""")?$', re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A copied example.

    Attributes:
        path: the copy.
        summary: one line on the file.
        is_new: whether the file was written; otherwise it was there already.
    """

    path: Path
    summary: str
    is_new: bool


def examples_folder() -> Path:
    """Return the folder of the shipped examples.

    Raises:
        WriteampError: this installation has no examples.
    """
    package = Path(writeamp.__file__).parent
    clone = package.parent.parent
    folders = [package / "_examples"]
    if (clone / "pyproject.toml").is_file():
        folders.insert(0, clone / "examples")
    for folder in filter(Path.is_dir, folders):
        return folder
    raise WriteampError("this installation of writeamp has no examples; install its wheel")


def copy_examples(target: AnyPath) -> Sequence[Example]:
    """Copy the shipped examples to a folder, which is created.

    Raises:
        WriteampError: a file with other contents exists, or the folder cannot be written.
    """
    source, folder = examples_folder(), Path(file_name(target))
    files = {
        folder / path.relative_to(source): path
        for path in sorted(source.rglob("*"))
        if path.is_file() and not any(name.startswith(_HIDDEN) for name in _parts(path, source))
    }
    # All are checked before the first is written.
    is_new = {copy: not _has(copy, path.read_bytes()) for copy, path in files.items()}
    return [_copied(path, copy, is_new=is_new[copy]) for copy, path in files.items()]


def _parts(path: Path, source: Path) -> tuple[str, ...]:
    return path.relative_to(source).parts


def _has(copy: Path, content: bytes) -> bool:
    """Return whether a copy exists already.

    Raises:
        WriteampError: the path is taken by something else.
    """
    try:
        with inputs.opened(copy) as file:
            is_same = file.read(len(content) + 1) == content
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WriteampError(f"cannot write {str(copy)!r}: {error.strerror}") from None
    if not is_same:
        raise WriteampError(f"{copy} exists and differs from the example; give another folder")
    return True


def _copied(path: Path, copy: Path, *, is_new: bool) -> Example:
    if is_new:
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise WriteampError(f"cannot make folder {str(copy.parent)!r}: {reason}") from None
        with replacing(copy, "example") as file:
            file.write(path.read_bytes())
        copy.chmod(path.stat().st_mode & 0o777)
    return Example(copy, _summary(path), is_new)


def _summary(path: Path) -> str:
    """Return the first comment, docstring or title of a file, or its kind."""
    if path.suffix in _KINDS:
        return _KINDS[path.suffix]
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    match = _SUMMARY.search(text)
    return match["words"].strip() if match else path.suffix.lstrip(".")
