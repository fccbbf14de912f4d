"""Measuring of simulated, virtual and real drives, for `twin measure`."""

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

# What a computer sends to a virtual and to a real drive in a second, and host pages that a core
# simulates.
_VIRTUAL_BYTES_A_SECOND = 1e8
_REAL_BYTES_A_SECOND = 4e8
_SIMULATED_PAGES_A_SECOND = 2e6
# A measurement that takes longer begins with a note on its size.
_LONG_S = 600


@dataclass(frozen=True)
class Measuring:
    """Measurement of a target: the chain that it serves, and where the windows are kept.

    `given` are the settings of a simulated drive.
    """

    asked: TwinTargetSettings
    planned: Chain | None
    settings: ChainSettings
    out: Path
    given: dict[str, Any]

    def windows(self) -> Windows:
        """Return the windows, which are in the file then.

        Raises:
            WriteampError: a target that cannot be measured so.
        """
        if self.asked.windows is not None:
            self._refuse_given("--windows were read elsewhere")
            found = windows_of_csv(self.asked.windows, self.planned, self._usual)
            found.check()
            found.write(self.out)
            return found
        target = self.asked.target
        assert target is not None
        if is_simulated(target):
            self._refuse_of_real()
            return self._of_simulated(target)
        if self.asked.timed or self.asked.repeats > 1:
            name = "timed" if self.asked.timed else "repeats"
            raise WriteampError(f"--{name} is of a simulated drive, and {target} is none")
        if self.asked.counters is not None:
            return self._of_real(target)
        socket = socket_of(target)
        return self._of_real(target) if socket is None else self._of_virtual(target, socket)

    def _usual(self, capacity_bytes: int) -> Chain:
        return chain_of(
            self.settings.phases, chunks=self.settings.chunks, capacity_bytes=capacity_bytes
        )

    def _of_virtual(self, target: str, socket: Path) -> Windows:
        self._refuse_given(f"{target} is none")
        destroys = self.asked.destroys
        if destroys not in (None, target):
            raise WriteampError(
                f"--yes-destroy-data names {destroys}, but the target is {target}; name the target "
                "itself"
            )
        with VirtualHost(socket) as host:
            chain = self._chain_on(host.capacity_bytes, host.page_bytes)
            meaning = {"target": str(socket.absolute()), "seed": self.asked.seed}
            kept = SavedWindows.at(self.out, chain, meaning)
            if host.holds_data and destroys is None and not kept.rows:
                raise WriteampError(
                    f"{target} holds data, all of which the chain discards; to do that, give "
                    f"--yes-destroy-data {target}"
                )
            return self._driven(host, kept, _VIRTUAL_BYTES_A_SECOND)

    def _of_real(self, target: str) -> Windows:
        size, destroys, name = self.given.get("size"), self.asked.destroys, target
        self._refuse_given(f"{target} is none", besides="size")
        if os.path.exists(target) and (socket := socket_of(target)) is not None:
            # fio takes a socket by its URI.
            name = f"nbd+unix:///?socket={socket.absolute()}"
            destroys = name if destroys == target else destroys
        if kind_of(name) == "file" and not os.path.exists(name) and size is None:
            raise WriteampError(
                f"{target!r} is neither a profile of a simulated drive, the socket of a virtual "
                "one, a device, nor a file; give --size to make such a file"
            )
        with real_host(
            name,
            counters=self.asked.counters,
            size_bytes=None if size is None else int(SIZE.check("size", size)),
            destroys=destroys,
            families=families_in(self.asked.families),
            tell=options.note,
        ) as host:
            chain = self._chain_on(host.place.size_bytes, PAGE_BYTES)
            kept = SavedWindows.at(self.out, chain, host.meaning | {"seed": self.asked.seed})
            host.check(chain, goes_on=bool(kept.rows))
            is_nbd = host.place.kind == "nbd"
            speed = _VIRTUAL_BYTES_A_SECOND if is_nbd else _REAL_BYTES_A_SECOND
            return self._driven(host, kept, speed)

    def _driven(self, host: Host, kept: SavedWindows, bytes_a_second: float) -> Windows:
        _tell_cost(kept, 1, bytes_a_second)
        with Bar("measuring", lambda done, whole: f"{done / whole:.0%}", by_own_pace=True) as bar:
            drive_chain(host, kept, seed=self.asked.seed, progress=bar.update)
        return kept.windows

    def _of_simulated(self, target: str) -> Windows:
        asked = self.asked
        if asked.timed and asked.repeats > 1:
            raise WriteampError("--repeats is for untimed chains; leave out one of the two")
        given = self.given | {"device": target, "seed": asked.seed}
        experiment = Experiment.of("simulate", **given)
        prepared = prepare(experiment)
        for sentence in prepared.notes:
            options.note(sentence)
        drive = prepared.drive
        chain = self._chain_on(drive.capacity_bytes, drive.page_bytes)
        kept = SavedWindows.at(self.out, chain, [experiment.hash, asked.timed, __version__])
        _tell_cost(kept, asked.repeats, _SIMULATED_PAGES_A_SECOND * chain.page_bytes)
        with Bar("measuring", lambda done, whole: f"{done / whole:.0%}") as bar:
            if asked.timed:
                found = measure_timed(given, chain, drive, bar.update)
                found.write(self.out)
                return found
            return measure(
                drive,
                policy_of(experiment.policy),  # type: ignore[arg-type]
                chain,
                seed=asked.seed,
                repeats=asked.repeats,
                kept=kept,
                progress=bar.update,
            )

    def _chain_on(self, capacity_bytes: int, page_bytes: int) -> Chain:
        if self.planned is not None:
            return self.planned.of_capacity(capacity_bytes, page_bytes)
        return chain_of(
            self.settings.phases,
            chunks=self.settings.chunks,
            capacity_bytes=capacity_bytes,
            page_bytes=page_bytes,
        )

    def _refuse_of_real(self) -> None:
        for name, value, what in (
            ("yes-destroy-data", self.asked.destroys, "drives that hold data"),
            ("counters", self.asked.counters, "drives with counters"),
            ("families", self.asked.families, "drives with counters"),
        ):
            if value is not None:
                raise WriteampError(f"--{name} is for {what}, and a simulated one is new")

    def _refuse_given(self, why: str, besides: str | None = None) -> None:
        for given in self.given.keys() - {besides}:
            name = given.replace("_", "-")
            raise WriteampError(f"--{name} is of a simulated drive, and {why}")


def _tell_cost(kept: SavedWindows, repeats: int, bytes_a_second: float) -> None:
    """Say bytes and hours before a measurement begins, or that it goes on."""
    written = repeats * kept.chain.written_bytes
    seconds = written / bytes_a_second
    if seconds >= _LONG_S:
        hours = f"about {seconds / 3600:.2g} hours"
        options.note(f"the measurement writes {shown_bytes(written)}, which takes {hours}")
    if kept.rows:
        options.note(f"continuing the measurement whose first windows are in {kept.path}")
