"""Targets by name: a profile, a file, a block device or an NBD export."""

from __future__ import annotations

import os
from typing import Any

from writeamp.blackbox.targets.place import kind_of
from writeamp.blackbox.targets.real import RealSettings, RealTarget
from writeamp.blackbox.targets.simulated import SimulatedSettings, SimulatedTarget
from writeamp.blackbox.targets.target import Target
from writeamp.devices.device import SIZE, SizeLike
from writeamp.devices.profile import profile_names
from writeamp.devices.raid import is_array
from writeamp.errors import WriteampError
from writeamp.runners import Runner
from writeamp.units.durations import DURATION

_OPTIONS = {
    "precision": "--precision",
    "most_s": "--time",
    "runtime_s": "--runtime",
    "precondition": "--precondition",
    "round_s": "--round",
}
_OF_SIMULATED = ("precision", "most_s")
_OF_REAL = ("runtime_s", "precondition", "round_s")


def is_simulated(name: str) -> bool:
    """Return whether a text names a profile, or an array of profiles.

    A file or a device of that name is given as ./NAME.
    """
    return name in profile_names() or name.endswith(".toml") or is_array(name)


def target_of(
    name: str,
    *,
    size: SizeLike | None = None,
    destroys: str | None = None,
    runner: Runner | None = None,
    **settings: Any,
) -> Target:
    """Return the target that a text names.

    Args:
        name: a profile, an array of profiles, the path of a file or a block device, or an NBD URI.
        size: what the host of a simulated device sees, or the part of a real one that is used; a
            file that does not exist is made with it.
        destroys: the one real target of which everything may be destroyed.
        runner: who runs simulated points.
        settings: fields of `SimulatedSettings` or `RealSettings`; None is the default, and
            durations may be texts such as "2s".

    Raises:
        WriteampError: there is no such target, or it is not safe to write to; or a setting is for
            the other kind.
    """
    given = {key: _checked(key, one) for key, one in settings.items() if one is not None}
    if is_simulated(name):
        if destroys is not None:
            raise WriteampError(
                "--yes-destroy-data is for real targets; a simulated one has no data"
            )
        _refuse(given, _OF_REAL, "real targets", name)
        return SimulatedTarget(name, size=size, settings=SimulatedSettings(**given), runner=runner)
    _refuse(given, _OF_SIMULATED, "simulated targets", name)
    if size is None and kind_of(name) == "file" and not os.path.exists(name):
        raise WriteampError(
            f"there is no profile, file or device {name!r}; give --size to make such a file, or "
            f"one of the profiles: {', '.join(profile_names())}"
        )
    size_bytes = None if size is None else int(SIZE.check("size", size))
    return RealTarget(
        name, size_bytes=size_bytes, settings=RealSettings(**given), destroys=destroys
    )


def _checked(name: str, value: Any) -> Any:
    """Return a setting; durations may be texts with a unit."""
    return DURATION.check(_OPTIONS[name], value) if name.endswith("_s") else value


def _refuse(given: dict[str, Any], names: tuple[str, ...], of: str, target: str) -> None:
    for name in names:
        if name in given:
            raise WriteampError(f"{_OPTIONS[name]} is for {of}, and {target} is none")
