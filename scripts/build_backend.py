"""Build backend of pyproject.toml: maturin, except for libraries that `make` builds.

`pip install --editable . --config-settings libraries=built` installs a link to the sources. `make`
puts both libraries there with one call of cargo, possibly in parallel with the install; maturin
would build one of them on each install.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import maturin
from maturin import *  # noqa: F403 (every hook but those below)
from wheel.wheelfile import WheelFile

sys.path.append(str(Path(__file__).resolve().parent))
from lay_examples import laid_examples

SOURCES = Path(__file__).resolve().parent.parent / "python"


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel with the examples; return its name."""
    with laid_examples():
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel of an editable install; return its name."""
    settings = config_settings or {}
    libraries = settings.pop("libraries", None)
    if libraries not in (None, "built"):
        raise ValueError(f"libraries is {libraries!r}; use 'built', or leave it out")
    if libraries is None:
        return maturin.build_editable(wheel_directory, settings, metadata_directory)
    with tempfile.TemporaryDirectory() as folder:
        metadata = maturin.prepare_metadata_for_build_wheel(folder, settings)
        name = f"{metadata.removesuffix('.dist-info')}-py3-none-any.whl"
        with WheelFile(Path(wheel_directory) / name, "w") as wheel:
            wheel.writestr("writeamp.pth", f"{SOURCES}\n")
            wheel.write_files(folder)
    return name
