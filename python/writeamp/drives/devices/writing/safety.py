"""Safety checks that refuse to write to whatever holds somebody's data."""

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

# Set on files that writeamp has made; their content is nobody's.
_MARK = "user.writeamp.target"

# Where blkid is, which is on no path but the administrators'.
_OF_ADMINISTRATORS = ":/usr/sbin:/sbin"
_CHUNK_BYTES = 1 << 20
_SIGNATURES_BYTES = 8 << 20
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Machine:
    """Folders in which the kernel says what is in use."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")

    def folder_of(self, number: str) -> Path:
        """Return the kernel's folder of a device, by its number."""
        return self.sys / "dev" / "block" / number


def check_device(path: str, *, destroys: str | None, machine: Machine | None = None) -> None:
    """Refuse a block device that is in use, or that holds something, unless it is named.

    What is in use is refused in any case: it would be destroyed under whoever uses it.

    Args:
        path: the device.
        destroys: the device of which everything may be destroyed.
        machine: where the kernel says what is in use.

    Raises:
        WriteampError: it must not be written to.
    """
    number, machine = _checked_number(path), machine or Machine()
    uses = list(_uses(path, number, machine)) or list(_hidden_uses(path))
    if uses:
        raise WriteampError(f"{path} is in use: {'; '.join(uses)}; take it out of use first")
    if destroys is None or _number_of(destroys) != number:
        found = list(_contents(path, number, machine))
        if found:
            raise _refusal(path, found)


def check_export(uri: str, *, size_bytes: int, destroys: str | None) -> None:
    """Refuse an NBD export that begins with a signature, unless it is named.

    Raises:
        WriteampError: it must not be written to, or cannot be read.
    """
    if destroys == uri:
        return
    with NamedTemporaryFile(prefix="writeamp-") as copy:
        copy.write(_beginning_of_export(uri))
        copy.truncate(max(size_bytes, copy.tell()))
        copy.flush()
        found = _signature(copy.name)
    if found:
        raise _refusal(uri, [found])


def check_file(path: str, *, destroys: str | None) -> None:
    """Refuse a file that writeamp has not made, unless it is empty or named.

    Raises:
        WriteampError: it must not be written to.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise WriteampError(f"{path} is neither a file nor a block device; give one of these")
    loop = next(_loops_of(status, Machine()), None)
    if loop is not None:
        raise WriteampError(f"{path} is in use: {loop} shows it as a device; detach that first")
    is_named = destroys is not None and os.path.samestat(os.stat(destroys), status)
    if not (is_named or is_ours(path) or _is_blank(path)):
        raise _refusal(path, ["data that writeamp has not written"])


def mark_as_ours(path: str) -> None:
    """Note on a new file that it is ours, where the file system can hold such notes."""
    try:
        os.setxattr(path, _MARK, b"1")
    except OSError:
        # The file is then taken for somebody's as soon as it holds data.
        return


def is_ours(path: str) -> bool:
    """Return whether writeamp has made a file."""
    try:
        os.getxattr(path, _MARK)
    except OSError:
        return False
    return True


def _checked_number(path: str) -> str:
    number = _number_of(path)
    if number is None:
        raise WriteampError(f"{path} is no block device, or is gone; give one that is there")
    return number


def _refusal(name: str, found: list[str]) -> WriteampError:
    return WriteampError(
        f"{name} holds {', '.join(found)}, which would be destroyed; give another target, or "
        f"--yes-destroy-data {name}"
    )


def _uses(path: str, number: str, machine: Machine) -> Iterator[str]:
    """Give the users of a device or of a partition of it."""
    parts = {number: path} | dict(_partitions(machine.folder_of(number)))
    mounts = _lines(machine.proc / "self" / "mountinfo")
    swaps = [line.split()[0] for line in _lines(machine.proc / "swaps")[1:] if line.split()]
    swapped = {_number_of(swap) for swap in swaps} - {None}
    for one, name in parts.items():
        for words in map(str.split, mounts):
            if len(words) > 4 and words[2] == one:
                yield f"{name} is mounted at {words[4]}"
        if one in swapped:
            yield f"{name} is swap space"
        for holder in _names(machine.folder_of(one) / "holders"):
            yield f"{name} is part of {holder}"


def _hidden_uses(path: str) -> Iterator[str]:
    """Give the uses that the kernel alone knows, as a mount in another namespace."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise WriteampError(f"cannot open {path}: {error.strerror}") from None
        yield "the kernel holds it"


def _contents(path: str, number: str, machine: Machine) -> Iterator[str]:
    parts = dict(_partitions(machine.folder_of(number)))
    if parts:
        yield f"{len(parts)} partition{'s' if len(parts) > 1 else ''}"
    found = _signature(path)
    if found:
        yield found


def _partitions(folder: Path) -> Iterator[tuple[str, str]]:
    """Give number and name of each partition of a device."""
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
    """Return the signature that blkid finds on a device or in an image."""
    probe = shutil.which("blkid", path=f"{os.environ.get('PATH', '')}{_OF_ADMINISTRATORS}")
    if probe is None:
        raise WriteampError(
            "blkid is not installed, so nobody can tell what the target holds; install util-linux, "
            "or name the target with --yes-destroy-data"
        )
    command = [probe, "--probe", "--output", "export", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    # 2: nothing was found; 8: more than one signature, which contradict each other.
    if done.returncode == 2:
        return None
    if done.returncode == 8:
        return "several signatures"
    facts = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if "TYPE" in facts:
        return f"a signature of {facts['TYPE']}"
    if "PTTYPE" in facts:
        return f"a partition table ({facts['PTTYPE']})"
    why = (done.stderr.strip() or f"blkid ended with status {done.returncode}").splitlines()[0]
    raise WriteampError(f"cannot tell what {path} holds: {why}")


def _beginning_of_export(uri: str) -> bytes:
    """Return the first bytes of an NBD export, where signatures are."""
    copier = shutil.which("nbdcopy")
    if copier is None:
        raise WriteampError(
            "nbdcopy is not installed, so nobody can tell what the export holds; install it "
            "(libnbd-bin), or name the export with --yes-destroy-data"
        )
    with subprocess.Popen(
        [copier, uri, "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as copying:
        assert copying.stdout is not None
        assert copying.stderr is not None
        beginning = copying.stdout.read(_SIGNATURES_BYTES)
        copying.kill()
        said = copying.stderr.read().decode(errors="replace").strip()
    if not beginning:
        raise WriteampError(f"cannot read {uri}: {said or 'the export is empty'}")
    return beginning


def _is_blank(path: str) -> bool:
    """Return whether a file holds nothing but zeros."""
    with open(path, "rb", buffering=0) as file:
        while (at := _next_data(file)) is not None:
            file.seek(at)
            chunk = file.read(_CHUNK_BYTES)
            if chunk.count(0) != len(chunk):
                return False
    return True


def _next_data(file: FileIO) -> int | None:
    """Return the offset of the next bytes that are no hole; None at the end."""
    try:
        return os.lseek(file.fileno(), file.tell(), os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []


def _number_of(path: str) -> str | None:
    """Return the number of a block device; None of anything else, as a file that is swap space."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISBLK(status.st_mode):
        return None
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
