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
    {setting_field.name: flag_of(setting_field) for setting_field in fields(kind)}
    for kind in (SimulatedSettings, RealSettings)
)


def is_simulated(name: str) -> bool:
    """Return whether a text names a profile, or an array of profiles.

    For a file or a device of that name, the path is ./NAME.
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
    """Return the target with this name.

    Args:
        name: a profile, an array of profiles, the path of a file or a block device, or an NBD URI.
        size: the space of a simulated device, or the part of a real target that is used; a file
            that does not exist is made with this size.
        destroys: the real target whose data may be destroyed.
        runner: runs the simulated points.
        settings: settings of the measurement on a simulated or a real target; listed below.

    Returns:
        `MeasurementTarget` for `collect`: `name`, `kind`, `space_bytes`, `notes`.

    Raises:
        WriteampError: the target does not exist or is not safe to write to, or a setting is for
            the other kind of target.
    """
    for key in settings:
        if key not in TARGET_PLACES:
            raise unknown_argument("target_of", key, TARGET_PLACES)
    chosen: dict[str, Any] = {key: value for key, value in settings.items() if value is not None}
    if is_simulated(name):
        if destroys is not None:
            raise WriteampError(
                "--yes-destroy-data is for real targets only; a simulated one has no data"
            )
        _refuse(chosen, _OF_REAL, _OF_SIMULATED, "real targets", name)
        return SimulatedTarget(name, size=size, settings=SimulatedSettings(**chosen), runner=runner)
    _refuse(chosen, _OF_SIMULATED, _OF_REAL, "simulated targets", name)
    if size is None and kind_of(name) == "file" and not os.path.exists(name):
        raise WriteampError(
            f"no profile, file or device has the name {name!r}; give --size to make a file, or "
            f"choose one of the profiles: {', '.join(profile_names())}"
        )
    size_bytes = None if size is None else int(SIZE.check("size", size))
    return RealTarget(
        name, size_bytes=size_bytes, settings=RealSettings(**chosen), destroys=destroys
    )


def _refuse(
    chosen: Collection[str], others: Mapping[str, str], own: Collection[str], of: str, target: str
) -> None:
    """Reject settings that are only for the other kind of target."""
    for name, flag in others.items():
        if name in chosen and name not in own:
            raise WriteampError(f"{flag} is for {of} only, and {target} is not one")
