"""Devices and files that must not be written to: devices with data, files of others."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from writeamp.drives.devices.writing import opened, safety
from writeamp.drives.devices.writing.safety import Machine, check_device, check_export, check_file
from writeamp.errors import WriteampError

MIB = 1 << 20
SIZE = 32 * MIB
DEVICE = "/dev/null-like"
NUMBER = "250:0"

needs_loops = pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/dev/loop-control") or shutil.which("blkid") is None,
    reason="needs root, loop devices and blkid",
)
needs_nbd = pytest.mark.skipif(
    not all(map(shutil.which, ("nbdkit", "nbdcopy", "nbdinfo", "blkid"))),
    reason="needs nbdkit, libnbd's tools and blkid",
)


@contextmanager
def loop(image: Path) -> Iterator[str]:
    """Show an image as a device."""
    made = subprocess.run(
        ["losetup", "--find", "--show", image], capture_output=True, text=True, check=True
    )
    device = made.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Make an image without anything in it."""
    path = tmp_path / "drive.img"
    with path.open("xb") as file:
        file.truncate(SIZE)
    return path


def refused(device: str, *words: str, destroys: str | None = None) -> None:
    with pytest.raises(WriteampError) as error:
        check_device(device, destroys=destroys)
    assert all(word in str(error.value) for word in words), error.value


@needs_loops
def test_a_device_without_anything_may_be_written(image: Path) -> None:
    with loop(image) as device:
        check_device(device, destroys=None)


def make_file_system(image: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", image], check=True)


def make_swap_space(image: Path) -> None:
    subprocess.run(["mkswap", image], check=True, capture_output=True)


def make_partition(image: Path) -> None:
    """Write a partition table with one partition of 8 MiB from 1 MiB on, as MS-DOS has it."""
    first_sector, sectors, linux = 2048, 16384, 0x83
    entry = struct.pack("<B3xB3xII", 0, linux, first_sector, sectors)
    with image.open("r+b") as file:
        file.seek(446)
        file.write(entry + bytes(48) + b"\x55\xaa")


@needs_loops
@pytest.mark.parametrize(
    ("make", "word"),
    [
        (make_file_system, "ext4"),
        (make_swap_space, "swap"),
        (make_partition, "partition table (dos)"),
    ],
)
def test_a_device_that_holds_something_needs_to_be_named(
    image: Path, make: Callable[[Path], None], word: str
) -> None:
    make(image)
    with loop(image) as device:
        refused(device, word, f"--yes-destroy-data {device}")
        refused(device, word, destroys="/dev/null")
        check_device(device, destroys=device)


@needs_loops
def test_a_mounted_device_is_refused_even_if_it_is_named(image: Path, tmp_path: Path) -> None:
    make_file_system(image)
    (tmp_path / "m").mkdir()
    with loop(image) as device:
        subprocess.run(["mount", device, tmp_path / "m"], check=True)
        try:
            refused(device, "mounted", "m", destroys=device)
        finally:
            subprocess.run(["umount", tmp_path / "m"], check=True)


@needs_loops
def test_the_option_must_name_the_target_itself(image: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.img"
    shutil.copy(image, other)
    with loop(image) as device, pytest.raises(WriteampError, match="Both must be the same"):
        opened(device, None, str(other))


@needs_loops
def test_the_device_may_be_named_by_a_link_to_it(image: Path, tmp_path: Path) -> None:
    make_file_system(image)
    with loop(image) as device:
        (tmp_path / "link").symlink_to(device)
        assert opened(device, None, str(tmp_path / "link")).size_bytes == SIZE


class Kernel:
    """A kernel's words in /sys and /proc about a device."""

    def __init__(self, folder: Path) -> None:
        """Make the folders of a device that nobody uses."""
        self.machine = Machine(folder / "sys", folder / "proc")
        self.block = folder / "sys" / "dev" / "block"
        (self.block / NUMBER / "holders").mkdir(parents=True)
        (folder / "proc" / "self").mkdir(parents=True)
        self.mounts = folder / "proc" / "self" / "mountinfo"
        self.swaps = folder / "proc" / "swaps"

    def add_partition(self, number: str) -> None:
        """Let the device have a partition."""
        part = self.block / NUMBER / "part1"
        part.mkdir()
        (part / "partition").write_text("1\n")
        (part / "dev").write_text(f"{number}\n")
        (self.block / number / "holders").mkdir(parents=True)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """Make a kernel whose only device is called `DEVICE`."""
    numbers = {DEVICE: NUMBER, "/dev/swapped": "250:1"}
    monkeypatch.setattr(safety, "_number_of", numbers.get)
    monkeypatch.setattr(safety, "_hidden_uses", lambda path: [])
    monkeypatch.setattr(safety, "_signature", lambda path: None)
    return Kernel(tmp_path)


def test_a_device_that_nothing_uses_passes(kernel: Kernel) -> None:
    check_device(DEVICE, destroys=None, machine=kernel.machine)


@pytest.mark.parametrize("number", [NUMBER, "250:1"])
def test_members_of_lvm_and_raid_are_refused_even_if_named(kernel: Kernel, number: str) -> None:
    kernel.add_partition("250:1")
    (kernel.block / number / "holders" / "dm-0").mkdir()
    with pytest.raises(WriteampError, match="part of dm-0"):
        check_device(DEVICE, destroys=DEVICE, machine=kernel.machine)


@pytest.mark.parametrize(
    ("said_in", "line", "refusal"),
    [
        (
            "mounts",
            "36 35 250:1 / /home rw,noatime - ext4 /dev/part1 rw\n",
            "part1 is mounted at /home",
        ),
        (
            "swaps",
            "Filename Type Size Used Priority\n/dev/swapped partition 8 0 -2\n",
            "part1 is swap space",
        ),
    ],
    ids=["mount", "swap space"],
)
def test_a_partition_in_use_keeps_its_device_from_being_written(
    kernel: Kernel, said_in: str, line: str, refusal: str
) -> None:
    kernel.add_partition("250:1")
    getattr(kernel, said_in).write_text(line)
    with pytest.raises(WriteampError, match=refusal):
        check_device(DEVICE, destroys=DEVICE, machine=kernel.machine)


def test_a_device_with_partitions_must_be_named(kernel: Kernel) -> None:
    kernel.add_partition("250:1")
    with pytest.raises(WriteampError, match="1 partition,"):
        check_device(DEVICE, destroys=None, machine=kernel.machine)
    check_device(DEVICE, destroys=DEVICE, machine=kernel.machine)


def test_without_blkid_nobody_can_tell_and_so_it_is_refused(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(safety, "_OF_ADMINISTRATORS", "")
    with pytest.raises(WriteampError, match="blkid is not installed"):
        safety._signature(str(image))


def test_a_file_with_data_of_others_must_be_named(image: Path) -> None:
    with image.open("r+b") as file:
        file.seek(20 * MIB)
        file.write(b"a letter")
    with pytest.raises(WriteampError, match=f"--yes-destroy-data {image}"):
        check_file(str(image), destroys=None)
    check_file(str(image), destroys=str(image))


def test_an_empty_image_may_be_written(image: Path) -> None:
    check_file(str(image), destroys=None)


def test_a_file_that_we_have_made_may_be_written_again(tmp_path: Path) -> None:
    path = tmp_path / "new.img"
    assert opened(str(path), SIZE, None).is_new
    if not safety.is_ours(str(path)):
        pytest.skip("the file system holds no notes on files")
    path.write_bytes(b"x" * SIZE)
    assert not opened(str(path), SIZE, None).is_new


@needs_loops
def test_an_image_that_is_shown_as_a_device_is_refused(image: Path) -> None:
    with loop(image) as device, pytest.raises(WriteampError, match=device):
        check_file(str(image), destroys=str(image))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match="neither a file nor a block device"):
        check_file(str(tmp_path), destroys=None)


@needs_nbd
def test_an_export_that_begins_with_a_file_system_must_be_named(image: Path, folder: Path) -> None:
    socket = folder / "socket"
    uri = f"nbd+unix:///?socket={socket}"
    serve = ["nbdkit", "--foreground", "--unix", socket, "file", image]
    make_file_system(image)
    with subprocess.Popen(serve) as server:
        try:
            while not socket.exists():
                assert server.poll() is None
            with pytest.raises(WriteampError, match="ext4"):
                check_export(uri, size_bytes=SIZE, destroys=None)
            check_export(uri, size_bytes=SIZE, destroys=uri)
        finally:
            server.terminate()
