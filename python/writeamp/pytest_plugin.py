"""Pytest plugin: virtual drives for tests of how much a program makes a drive write.

def test_it_writes_little(vssd):
    drive = vssd("tlc-datacenter", size="1GiB")
    subprocess.run(["fio", "--name=w", "--ioengine=nbd", f"--uri={drive.uri}", ...], check=True)
    assert drive.wa < 2.0

It is loaded by every run of pytest, so it imports what takes time when a test asks for a drive.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

import writeamp as wa

if TYPE_CHECKING:
    from writeamp.vssd.virtual_ssd import VirtualSsd

    MakeDrive: TypeAlias = Callable[..., VirtualSsd]

_DEVICE, _SIZE, _REQUIRED = "vssd_device", "vssd_size", "vssd_required"
_DEFAULT_DEVICE, _DEFAULT_SIZE = "tlc-datacenter", "1GiB"
# What says the size of a drive; a default in place of what is said would contradict it.
_SIZES = {"size", "blocks", "logical_blocks", "logical_pages"}
_drives = pytest.StashKey[list["VirtualSsd"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings that stand in pytest's section of a project's configuration."""
    parser.addini(_DEVICE, "device of virtual drives that tests give none", default=_DEFAULT_DEVICE)
    parser.addini(_SIZE, "size of virtual drives that tests give none", default=_DEFAULT_SIZE)
    parser.addini(
        _REQUIRED,
        "fail tests of virtual drives where nbdkit is missing, instead of skipping them",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker."""
    config.addinivalue_line(
        "markers",
        "vssd(device, **options): device and options of the virtual drives of a test, as "
        "writeamp.VirtualSsd takes them",
    )


@pytest.fixture
def vssd(request: pytest.FixtureRequest) -> Iterator[MakeDrive]:
    """Make virtual drives that are taken down after the test.

    A call is `vssd("tlc-datacenter", size="1GiB")`. Arguments are those of `writeamp.VirtualSsd`.
    What is left out comes from the marker `vssd` of the test, then from `vssd_device` and
    `vssd_size` of pytest's configuration.
    """
    with ExitStack() as undo:

        def make(device: Any = None, **options: Any) -> VirtualSsd:
            _require_nbdkit(request.config)
            device, options = _with_defaults(request, device, options)
            drive = undo.enter_context(wa.VirtualSsd(device, **options))
            request.node.stash.setdefault(_drives, []).append(drive)
            return drive

        yield make


@pytest.fixture
def vssd_drive(vssd: MakeDrive) -> VirtualSsd:
    """Return one virtual drive, as the marker `vssd` or pytest's configuration says."""
    return vssd()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show in the report of a failed test what its drives have counted."""
    report = yield
    if call.when == "call" and report.failed and _drives in item.stash:
        drives = item.stash[_drives]
        for number, drive in enumerate(drives, start=1):
            report.sections.append((f"virtual SSD {number}", _told(drive)))
    return report


def _require_nbdkit(config: pytest.Config) -> None:
    from writeamp.errors import WriteampError  # noqa: PLC0415 (see above)
    from writeamp.vssd.programs import require  # noqa: PLC0415

    try:
        require("nbdkit")
    except WriteampError as missing:
        if config.getini(_REQUIRED):
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


def _with_defaults(
    request: pytest.FixtureRequest, device: Any, options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    marker = request.node.get_closest_marker("vssd")
    if marker is not None:
        options = marker.kwargs | options
        device = device or next(iter(marker.args), None)
    if not _SIZES & options.keys():
        options["size"] = request.config.getini(_SIZE)
    return device or request.config.getini(_DEVICE), options


def _told(drive: VirtualSsd) -> str:
    """Return the host's writes and the pages programmed for them, by cause, as lines."""
    from writeamp.errors import WriteampError  # noqa: PLC0415 (see above)

    try:
        found = drive.result()
    except WriteampError as gone:
        return str(gone)
    rows = {"host wrote": found.host_bytes, "flash programmed": found.flash_bytes}
    page_bytes = found.device.page_bytes
    causes = sorted(found.causes.items(), key=lambda one: one[0] != "host")
    rows |= {f"  for {cause}": pages * page_bytes for cause, pages in causes}
    return "\n".join([str(found), *(f"{name:24}{size:20,} bytes" for name, size in rows.items())])
