"""Build backend of pyproject.toml: maturin's, but for what `make` has built before.

`pip install --editable . --config-settings libraries=built` points to the sources, beside which
`make` lays both libraries from one call of cargo; maturin would build one of them, each time. They
may come later than the install: `make` runs the two side by side.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import maturin
from maturin import *  # noqa: F403 (every hook but the one below)
from wheel.wheelfile import WheelFile

SOURCES = Path(__file__).resolve().parent.parent / "python"


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel of an editable install; return its name."""
    settings = config_settings or {}
    libraries = settings.pop("libraries", None)
    if libraries not in (None, "built"):
        raise ValueError(f"libraries is {libraries!r}; it must be 'built', or left out")
    if libraries is None:
        return maturin.build_editable(wheel_directory, settings, metadata_directory)
    with tempfile.TemporaryDirectory() as folder:
        metadata = maturin.prepare_metadata_for_build_wheel(folder, settings)
        name = f"{metadata.removesuffix('.dist-info')}-py3-none-any.whl"
        with WheelFile(Path(wheel_directory) / name, "w") as wheel:
            wheel.writestr("writeamp.pth", f"{SOURCES}\n")
            wheel.write_files(folder)
    return name
