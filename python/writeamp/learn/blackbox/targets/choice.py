"""Targets by name: a profile, a file, a block device or an NBD export."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Unpack

from writeamp.devices.device import SIZE, SizeLike
from writeamp.devices.profile import profile_names
from writeamp.devices.raid import is_array
from writeamp.drives.devices.writing import kind_of
from writeamp.errors import WriteampError, unknown_argument
from writeamp.fields.setting import flag_of
from writeamp.fields.shown_settings import with_settings_of
from writeamp.learn.blackbox.targets.real import RealTarget
from writeamp.learn.blackbox.targets.settings import TARGET_PLACES, RealSettings, SimulatedSettings
from writeamp.learn.blackbox.targets.simulated import SimulatedTarget
from writeamp.learn.blackbox.targets.target import MeasurementTarget
from writeamp.runners import Runner

if TYPE_CHECKING:
    from writeamp.learn.blackbox.targets.arguments import TargetArguments

_OF_SIMULATED, _OF_REAL = (
    {one.name: flag_of(one) for one in fields(kind)} for kind in (SimulatedSettings, RealSettings)
)


def is_simulated(name: str) -> bool:
    """Return whether a text names a profile, or an array of profiles.

    A file or a device of that name is given as ./NAME.
    """
    return name in profile_names() or name.endswith(".toml") or is_array(name)


@with_settings_of(TARGET_PLACES)
def target_of(
    name: str,
    *,
    size: SizeLike | None = None,
    destroys: str | None = None,
    runner: Runner | None = None,
    **settings: Unpack[TargetArguments],
) -> MeasurementTarget:
    """Return the target that a text names.

    Args:
        name: a profile, an array of profiles, the path of a file or a block device, or an NBD URI.
        size: what the host of a simulated device sees, or the part of a real one that is used; a
            file that does not exist is made with it.
        destroys: the one real target of which everything may be destroyed.
        runner: who runs simulated points.
        settings: of points on a simulated or on a real target; listed below.

    Returns:
        `MeasurementTarget` for `collect`: `name`, `kind`, `space_bytes`, `notes`.

    Raises:
        WriteampError: there is no such target, or it is not safe to write to; or a setting is for
            the other kind.
    """
    for key in settings:
        if key not in TARGET_PLACES:
            raise unknown_argument("target_of", key, TARGET_PLACES)
    given: dict[str, Any] = {key: one for key, one in settings.items() if one is not None}
    if is_simulated(name):
        if destroys is not None:
            raise WriteampError(
                "--yes-destroy-data is for real targets; a simulated one has no data"
            )
        _refuse(given, _OF_REAL, _OF_SIMULATED, "real targets", name)
        return SimulatedTarget(name, size=size, settings=SimulatedSettings(**given), runner=runner)
    _refuse(given, _OF_SIMULATED, _OF_REAL, "simulated targets", name)
    if size is None and kind_of(name) == "file" and not os.path.exists(name):
        raise WriteampError(
            f"there is no profile, file or device {name!r}; give --size to make such a file, or "
            f"one of the profiles: {', '.join(profile_names())}"
        )
    size_bytes = None if size is None else int(SIZE.check("size", size))
    return RealTarget(
        name, size_bytes=size_bytes, settings=RealSettings(**given), destroys=destroys
    )


def _refuse(
    given: Collection[str], others: Mapping[str, str], own: Collection[str], of: str, target: str
) -> None:
    """Refuse settings of the other kind of target, which are given by name."""
    for name, flag in others.items():
        if name in given and name not in own:
            raise WriteampError(f"{flag} is for {of}, and {target} is none")
