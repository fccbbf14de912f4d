"""Safety checks that reject writes to targets with data."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from tempfile import NamedTemporaryFile

from writeamp.errors import WriteampError

# Extended attribute of files that writeamp has created, whose content may be destroyed.
_MARK = "user.writeamp.target"

# Folders in which blkid is installed, which may be missing in a user's PATH.
_OF_ADMINISTRATORS = ":/usr/sbin:/sbin"
_CHUNK_BYTES = 1 << 20
_SIGNATURES_BYTES = 8 << 20
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Machine:
    """Folders in which the kernel lists devices in use."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")

    def folder_of(self, number: str) -> Path:
        """Return the kernel's folder of a device, given its number such as "8:0"."""
        return self.sys / "dev" / "block" / number


def check_device(path: str, *, destroys: str | None, machine: Machine | None = None) -> None:
    """Reject a block device that is in use, or that has data and is not named in `destroys`.

    A device in use is always rejected.

    Args:
        path: the device.
        destroys: the device whose data may be destroyed (--yes-destroy-data), or None.
        machine: folders in which the kernel lists devices in use.

    Raises:
        WriteampError: the device must not be written to.
    """
    number, machine = _checked_number(path), machine or Machine()
    uses = list(_uses(path, number, machine)) or list(_hidden_uses(path))
    if uses:
        raise WriteampError(f"{path} is in use: {'; '.join(uses)}. Unmount or detach it first")
    if destroys is None or _number_of(destroys) != number:
        contents = list(_contents(path, number, machine))
        if contents:
            raise _refusal(path, contents)


def check_export(uri: str, *, size_bytes: int, destroys: str | None) -> None:
    """Reject an NBD export that begins with a signature and is not named in `destroys`.

    Raises:
        WriteampError: the export must not be written to, or cannot be read.
    """
    if destroys == uri:
        return
    with NamedTemporaryFile(prefix="writeamp-") as copy:
        copy.write(_beginning_of_export(uri))
        copy.truncate(max(size_bytes, copy.tell()))
        copy.flush()
        signature = _signature(copy.name)
    if signature:
        raise _refusal(uri, [signature])


def check_file(path: str, *, destroys: str | None) -> None:
    """Reject a file with data, unless writeamp created it or `destroys` names it.

    A file of zeros only has no data. A file in use by a loop device is always rejected.

    Raises:
        WriteampError: the file must not be written to.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise WriteampError(f"{path} is neither a file nor a block device. Pass one of these")
    loop = next(_loops_of(status, Machine()), None)
    if loop is not None:
        raise WriteampError(f"{path} is in use by the loop device {loop}. Detach it first")
    is_named = destroys is not None and os.path.samestat(os.stat(destroys), status)
    if not (is_named or is_ours(path) or _is_blank(path)):
        raise _refusal(path, ["data not written by writeamp"])


def mark_as_ours(path: str) -> None:
    """Mark a new file as created by writeamp, if the file system has extended attributes."""
    try:
        os.setxattr(path, _MARK, b"1")
    except OSError:
        # Without the mark, the file is protected as soon as it has data.
        return


def is_ours(path: str) -> bool:
    """Return whether writeamp has created a file."""
    try:
        os.getxattr(path, _MARK)
    except OSError:
        return False
    return True


def _checked_number(path: str) -> str:
    number = _number_of(path)
    if number is None:
        raise WriteampError(f"{path} is not a block device, or is gone. Pass an existing one")
    return number


def _refusal(name: str, contents: list[str]) -> WriteampError:
    return WriteampError(
        f"{name} has {', '.join(contents)}, which would be destroyed. Pass another target, or "
        f"--yes-destroy-data {name}"
    )


def _uses(path: str, number: str, machine: Machine) -> Iterator[str]:
    """Yield a sentence on each use of a device or of its partitions, such as a mount."""
    parts = {number: path} | dict(_partitions(machine.folder_of(number)))
    mounts = _lines(machine.proc / "self" / "mountinfo")
    swaps = [line.split()[0] for line in _lines(machine.proc / "swaps")[1:] if line.split()]
    swapped = {_number_of(swap) for swap in swaps} - {None}
    for part_number, name in parts.items():
        for words in map(str.split, mounts):
            if len(words) > 4 and words[2] == part_number:
                yield f"{name} is mounted at {words[4]}"
        if part_number in swapped:
            yield f"{name} is swap space"
        for holder in _names(machine.folder_of(part_number) / "holders"):
            yield f"{name} is part of {holder}"


def _hidden_uses(path: str) -> Iterator[str]:
    """Yield a sentence on a use that only the kernel sees, such as a mount in another namespace."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise WriteampError(f"cannot open {path}: {error.strerror}") from None
        yield "the kernel uses it"


def _contents(path: str, number: str, machine: Machine) -> Iterator[str]:
    parts = dict(_partitions(machine.folder_of(number)))
    if parts:
        yield f"{len(parts)} partition{'s' if len(parts) > 1 else ''}"
    signature = _signature(path)
    if signature:
        yield signature


def _partitions(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield number and name of each partition of a device."""
    for name in _names(folder):
        if (folder / name / "partition").exists():
            yield (folder / name / "dev").read_text().strip(), name


def _loops_of(status: os.stat_result, machine: Machine) -> Iterator[str]:
    for name in _names(machine.sys / "block"):
        backing = machine.sys / "block" / name / "loop" / "backing_file"
        try:
            if os.path.samestat(os.stat(backing.read_text().strip()), status):
                yield f"/dev/{name}"
        except OSError:
            continue


def _signature(path: str) -> str | None:
    """Return the signature that blkid detects on a device or in an image."""
    probe = shutil.which("blkid", path=f"{os.environ.get('PATH', '')}{_OF_ADMINISTRATORS}")
    if probe is None:
        raise WriteampError(
            "blkid is not installed, so the target cannot be checked for data. Install util-linux, "
            "or name the target with --yes-destroy-data"
        )
    command = [probe, "--probe", "--output", "export", path]
    process = subprocess.run(
        command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    # Status 2: no signature; 8: several contradictory signatures.
    if process.returncode == 2:
        return None
    if process.returncode == 8:
        return "several signatures"
    facts = dict(line.split("=", 1) for line in process.stdout.splitlines() if "=" in line)
    if "TYPE" in facts:
        return f"a signature of {facts['TYPE']}"
    if "PTTYPE" in facts:
        return f"a partition table ({facts['PTTYPE']})"
    why = (process.stderr.strip() or f"blkid ended with status {process.returncode}").splitlines()[
        0
    ]
    raise WriteampError(f"cannot check {path} for data: {why}")


def _beginning_of_export(uri: str) -> bytes:
    """Return the first bytes of an NBD export, where signatures are."""
    copier = shutil.which("nbdcopy")
    if copier is None:
        raise WriteampError(
            "nbdcopy is not installed, so the export cannot be checked for data. Install it "
            "(libnbd-bin), or name the export with --yes-destroy-data"
        )
    with subprocess.Popen(
        [copier, uri, "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as copying:
        assert copying.stdout is not None
        assert copying.stderr is not None
        beginning = copying.stdout.read(_SIGNATURES_BYTES)
        copying.kill()
        message = copying.stderr.read().decode(errors="replace").strip()
    if not beginning:
        raise WriteampError(f"cannot read {uri}: {message or 'the export is empty'}")
    return beginning


def _is_blank(path: str) -> bool:
    """Return whether a file contains only zeros."""
    with open(path, "rb", buffering=0) as file:
        while (at := _next_data(file)) is not None:
            file.seek(at)
            chunk = file.read(_CHUNK_BYTES)
            if chunk.count(0) != len(chunk):
                return False
    return True


def _next_data(file: FileIO) -> int | None:
    """Return the offset of the next bytes outside of holes; None at the end."""
    try:
        return os.lseek(file.fileno(), file.tell(), os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _number_of(path: str) -> str | None:
    """Return the number of a block device; None for other files, such as a swap file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISBLK(status.st_mode):
        return None
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
