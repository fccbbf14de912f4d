"""What holds for every test."""

from pathlib import Path

import pytest
from hypothesis import settings

# A deadline is a timed assertion, which a busy machine fails.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a short name, in which sockets fit."""
    return tmp_path_factory.mktemp("s")


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run sweeps in this process unless a test asks for workers."""
    monkeypatch.setattr("writeamp.runners.choice.processors", lambda: 1)
