"""Pytest plugin: virtual drives for tests of a program's write amplification.

def test_it_writes_little(vssd):
    drive = vssd("tlc-datacenter", size="1GiB", precondition="random")
    subprocess.run(["fio", "--name=w", "--ioengine=nbd", f"--uri={drive.uri}", ...], check=True)
    assert drive.wa < 2.0

Every run of pytest loads the plugin, so slow imports wait until a test requests a drive.
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
# Options that set a drive's size; the default size applies only without them.
_SIZES = {"size", "blocks", "logical_blocks", "logical_pages"}
_drives = pytest.StashKey[list["VirtualSsd"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of pytest's section in a project's configuration."""
    parser.addini(
        _DEVICE,
        "device profile of virtual drives for which a test gives none",
        default=_DEFAULT_DEVICE,
    )
    parser.addini(
        _SIZE, "logical size of virtual drives for which a test gives none", default=_DEFAULT_SIZE
    )
    parser.addini(
        _REQUIRED,
        "if nbdkit is missing, fail tests of virtual drives instead of skipping them",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `vssd`."""
    config.addinivalue_line(
        "markers",
        "vssd(device, **options): device and options of a test's virtual drives, the arguments of "
        "writeamp.VirtualSsd",
    )


@pytest.fixture
def vssd(request: pytest.FixtureRequest) -> Iterator[MakeDrive]:
    """Return a function that makes virtual drives, which are removed after the test.

    A call is `vssd("tlc-datacenter", size="1GiB")`. Arguments are those of `writeamp.VirtualSsd`.
    Missing arguments come from the test's marker `vssd`, then from `vssd_device` and `vssd_size`
    of pytest's configuration.
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
    """Return a virtual drive with the settings of the marker `vssd` or pytest's configuration."""
    return vssd()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the counters of the test's drives to the report of a failed test."""
    report = yield
    if call.when == "call" and report.failed and _drives in item.stash:
        drives = item.stash[_drives]
        for number, drive in enumerate(drives, start=1):
            report.sections.append((f"virtual SSD {number}", _counts_as_text(drive)))
    return report


def _require_nbdkit(config: pytest.Config) -> None:
    from writeamp.errors import WriteampError  # noqa: PLC0415 (see above)
    from writeamp.machine.programs import require  # noqa: PLC0415

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


def _counts_as_text(drive: VirtualSsd) -> str:
    """Return lines with the bytes that the host wrote and the flash bytes by cause."""
    from writeamp.errors import WriteampError  # noqa: PLC0415 (see above)

    try:
        result = drive.result()
    except WriteampError as gone:
        return str(gone)
    rows = {"host wrote": result.host_bytes, "flash programmed": result.flash_bytes}
    page_bytes = result.device.page_bytes
    causes = sorted(result.causes.items(), key=lambda item: item[0] != "host")
    rows |= {f"  for {cause}": pages * page_bytes for cause, pages in causes}
    return "\n".join([str(result), *(f"{name:24}{size:20,} bytes" for name, size in rows.items())])
