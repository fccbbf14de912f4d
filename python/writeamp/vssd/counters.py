"""Counters of the virtual SSD as files, in the shapes that tools of real drives print.

smart.json is `nvme smart-log -o json`, ocp.json `nvme ocp smart-add-log -o json
--output-format-version=2`, ocp-v1.json the same with the older keys, ocp.bin its raw page, and
fdp.json `nvme fdp stats -o json`.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.files.output import replacing
from writeamp.vssd.control import Control, Document
from writeamp.vssd.fdp import fdp_statistics
from writeamp.vssd.ocp import ocp_log, ocp_page
from writeamp.vssd.smart import smart_log

_PERIOD_S = 1.0


def write_counters(directory: Path, counters: Document, blocks: Document, device: Device) -> None:
    """Write the counters' files, each whole or not at all.

    The directory is made if there is none.

    Args:
        directory: where the files go.
        counters: what the control socket answers to "counters".
        blocks: what it answers to "blocks".
        device: the drive that is served.

    Raises:
        WriteampError: they cannot be written.
    """
    _make(directory)
    _write_files(directory, _files(counters, blocks, device))


class Refresher:
    """Writes the counters' files once a second while a block runs, and once at its end.

    The files of the last writing are synchronised to the disk. Those before it are not: that would
    slow a program that writes to the same disk, and they are replaced within a second.
    """

    def __init__(self, directory: Path, control: Control, device: Device) -> None:
        """Write the counters of a running drive to a directory.

        Raises:
            WriteampError: the directory cannot be written to, or the drive does not answer.
        """
        self._directory = directory
        self._control = control
        self._device = device
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._refresh, daemon=True)
        self._write()

    def __enter__(self) -> Refresher:
        """Begin to refresh."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Write the files a last time.

        Raises:
            WriteampError: that was not possible, and the block ended well.
        """
        self._ended.set()
        self._thread.join()
        try:
            self._write()
        except (OSError, WriteampError):
            if kind is None:
                raise

    def _write(self) -> None:
        counters, blocks = self._control.counters(), self._control.blocks()
        write_counters(self._directory, counters, blocks, self._device)

    def _refresh(self) -> None:
        while not self._ended.wait(_PERIOD_S):
            try:
                counters, blocks = self._control.counters(), self._control.blocks()
                files = _files(counters, blocks, self._device)
                _write_files(self._directory, files, synced=False)
            except (OSError, WriteampError):
                continue  # if the disk fails for good the last writing does so too, and says so


def _files(counters: Document, blocks: Document, device: Device) -> dict[str, bytes]:
    return {
        "smart.json": _json(smart_log(counters, device.rated_erases)),
        "ocp.json": _json(ocp_log(counters, blocks, device)),
        "ocp-v1.json": _json(ocp_log(counters, blocks, device, version=1)),
        "ocp.bin": ocp_page(counters, blocks, device),
        "fdp.json": _json(fdp_statistics(counters)),
    }


def _json(document: Any) -> bytes:
    return (json.dumps(document) + "\n").encode()


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteampError(
            f"cannot make the directory {os.fspath(directory)!r} for counters: "
            f"{error.strerror or error}"
        ) from None


def _write_files(directory: Path, files: dict[str, bytes], *, synced: bool = True) -> None:
    for name, content in files.items():
        with replacing(directory / name, "counters", synced=synced) as file:
            file.write(content)
