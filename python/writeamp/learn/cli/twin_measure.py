"""Measurement of simulated, virtual and real drives, for `twin measure`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp import __version__
from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.devices.device import SIZE
from writeamp.drives.counters.families import families_in
from writeamp.drives.devices.writing import kind_of
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.targets.choice import is_simulated
from writeamp.learn.twin.chain import PAGE_BYTES, Chain, chain_of
from writeamp.learn.twin.driving import Host, VirtualHost, drive_chain, socket_of
from writeamp.learn.twin.measuring import measure, measure_timed
from writeamp.learn.twin.real_host import real_host
from writeamp.learn.twin.settings import ChainSettings, TwinTargetSettings
from writeamp.learn.twin.windows import SavedWindows, Windows, windows_of_csv
from writeamp.runs.inputs import prepare
from writeamp.runs.plan import policy_of
from writeamp.settings.experiment import Experiment
from writeamp.units.byte_sizes import shown_bytes

# Rough speeds for estimates of the duration: bytes per second to a virtual and to a real drive, and
# simulated host pages per second.
_VIRTUAL_BYTES_A_SECOND = 1e8
_REAL_BYTES_A_SECOND = 4e8
_SIMULATED_PAGES_A_SECOND = 2e6
# A measurement that is expected to take more seconds begins with a note on its bytes and hours.
_LONG_S = 600


@dataclass(frozen=True)
class Measuring:
    """Measurement of a drive by a chain of workloads.

    Attributes:
        target: settings of the target.
        planned: chain of workloads from the plan file of --plan; None without it.
        chain: settings of the chain, used only without a plan file.
        out: file to which the windows are written.
        drive: settings of a simulated drive, only those that the user gave.
    """

    target: TwinTargetSettings
    planned: Chain | None
    chain: ChainSettings
    out: Path
    drive: dict[str, Any]

    def windows(self) -> Windows:
        """Measure the windows, write them to the file, and return them.

        Raises:
            WriteampError: the settings do not fit the target.
        """
        if self.target.windows is not None:
            self._refuse_simulated_only("with --windows, no drive is measured")
            windows = windows_of_csv(self.target.windows, self.planned, self._usual)
            windows.check()
            windows.write(self.out)
            return windows
        target = self.target.target
        assert target is not None
        if is_simulated(target):
            self._refuse_real_only()
            return self._of_simulated(target)
        if self.target.timed or self.target.repeats > 1:
            name = "timed" if self.target.timed else "repeats"
            raise WriteampError(f"--{name} is for simulated drives only; {target} is not simulated")
        if self.target.counters is not None:
            return self._of_real(target)
        socket = socket_of(target)
        return self._of_real(target) if socket is None else self._of_virtual(target, socket)

    def _usual(self, capacity_bytes: int) -> Chain:
        return chain_of(self.chain.phases, chunks=self.chain.chunks, capacity_bytes=capacity_bytes)

    def _of_virtual(self, target: str, socket: Path) -> Windows:
        self._refuse_simulated_only(f"{target} is not simulated")
        destroys = self.target.destroys
        if destroys not in (None, target):
            raise WriteampError(
                f"--yes-destroy-data is {destroys}, but --target is {target}; give the same name "
                "to both"
            )
        with VirtualHost(socket) as host:
            chain = self._chain_on(host.capacity_bytes, host.page_bytes)
            meaning = {"target": str(socket.absolute()), "seed": self.target.seed}
            saved = SavedWindows.at(self.out, chain, meaning)
            if host.holds_data and destroys is None and not saved.rows:
                raise WriteampError(
                    f"{target} holds data, and the chain destroys all of it; to allow this, give "
                    f"--yes-destroy-data {target}"
                )
            return self._driven(host, saved, _VIRTUAL_BYTES_A_SECOND)

    def _of_real(self, target: str) -> Windows:
        size, destroys, name = self.drive.get("size"), self.target.destroys, target
        self._refuse_simulated_only(f"{target} is not simulated", besides="size")
        if os.path.exists(target) and (socket := socket_of(target)) is not None:
            # fio accepts a socket only as an NBD URI, so a path is converted.
            name = f"nbd+unix:///?socket={socket.absolute()}"
            destroys = name if destroys == target else destroys
        if kind_of(name) == "file" and not os.path.exists(name) and size is None:
            raise WriteampError(
                f"{target!r} is not a device profile, the socket of a virtual drive, a block "
                "device "
                "or a file; to create a file of this name, give --size"
            )
        with real_host(
            name,
            counters=self.target.counters,
            size_bytes=None if size is None else int(SIZE.check("size", size)),
            destroys=destroys,
            families=families_in(self.target.families),
            warn=options.note,
        ) as host:
            chain = self._chain_on(host.place.size_bytes, PAGE_BYTES)
            saved = SavedWindows.at(self.out, chain, host.meaning | {"seed": self.target.seed})
            host.check(chain, goes_on=bool(saved.rows))
            is_nbd = host.place.kind == "nbd"
            speed = _VIRTUAL_BYTES_A_SECOND if is_nbd else _REAL_BYTES_A_SECOND
            return self._driven(host, saved, speed)

    def _driven(self, host: Host, saved: SavedWindows, bytes_a_second: float) -> Windows:
        _note_cost(saved, 1, bytes_a_second)
        with Bar(
            "measuring", lambda done, whole: f"{done / whole:.0%}", has_slow_steps=True
        ) as bar:
            drive_chain(host, saved, seed=self.target.seed, progress=bar.update)
        return saved.windows

    def _of_simulated(self, target: str) -> Windows:
        request = self.target
        if request.timed and request.repeats > 1:
            raise WriteampError("--repeats and --timed exclude each other; give only one")
        settings = self.drive | {"device": target, "seed": request.seed}
        experiment = Experiment.of("simulate", **settings)
        prepared = prepare(experiment)
        for sentence in prepared.notes:
            options.note(sentence)
        drive = prepared.drive
        chain = self._chain_on(drive.capacity_bytes, drive.page_bytes)
        saved = SavedWindows.at(self.out, chain, [experiment.hash, request.timed, __version__])
        _note_cost(saved, request.repeats, _SIMULATED_PAGES_A_SECOND * chain.page_bytes)
        with Bar("measuring", lambda done, whole: f"{done / whole:.0%}") as bar:
            if request.timed:
                windows = measure_timed(settings, chain, drive, bar.update)
                windows.write(self.out)
                return windows
            return measure(
                drive,
                policy_of(experiment.policy),  # type: ignore[arg-type]
                chain,
                seed=request.seed,
                repeats=request.repeats,
                saved=saved,
                progress=bar.update,
            )

    def _chain_on(self, capacity_bytes: int, page_bytes: int) -> Chain:
        if self.planned is not None:
            return self.planned.of_capacity(capacity_bytes, page_bytes)
        return chain_of(
            self.chain.phases,
            chunks=self.chain.chunks,
            capacity_bytes=capacity_bytes,
            page_bytes=page_bytes,
        )

    def _refuse_real_only(self) -> None:
        for name, value, kind in (
            ("yes-destroy-data", self.target.destroys, "drives that hold data"),
            ("counters", self.target.counters, "drives with counters"),
            ("families", self.target.families, "drives with counters"),
        ):
            if value is not None:
                raise WriteampError(
                    f"--{name} is for {kind}, but the target is a simulated drive; leave it out"
                )

    def _refuse_simulated_only(self, why: str, besides: str | None = None) -> None:
        for name in self.drive.keys() - {besides}:
            option = name.replace("_", "-")
            raise WriteampError(f"--{option} is for simulated drives only; {why}")


def _note_cost(saved: SavedWindows, repeats: int, bytes_a_second: float) -> None:
    """Print bytes and hours of a long measurement, and that it continues an earlier one, if so."""
    written = repeats * saved.chain.written_bytes
    seconds = written / bytes_a_second
    if seconds >= _LONG_S:
        hours = f"about {seconds / 3600:.2g} hours"
        options.note(f"the whole measurement writes {shown_bytes(written)}, which takes {hours}")
    if saved.rows:
        options.note(f"continuing the measurement whose first windows are in {saved.path}")
