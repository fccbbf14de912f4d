"""Temporary folders: removed with their process, or by the next one if it was killed."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from writeamp.files import temporary
from writeamp.files.temporary import temporary_folder


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def dead(path: Path) -> Path:
    """Make a folder as a killed process leaves it: with a lock that nobody holds."""
    (path / "inside").mkdir(parents=True)
    (path / "lock").touch()
    (path / "inside" / "file").write_text("data")
    return path


def test_a_folder_is_private_and_named_by_its_process_and_goes_with_the_block(root: Path) -> None:
    with temporary_folder("answer-") as folder:
        assert folder.name.startswith("writeamp-answer-")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "file").write_text("data")
    assert list(root.iterdir()) == []


def test_only_folders_of_dead_processes_are_removed(root: Path) -> None:
    killed = dead(root / "writeamp-files-1-abc")
    with temporary_folder() as alive:
        assert not killed.exists()
        with temporary_folder():
            assert alive.exists()


def test_folders_that_are_not_certainly_ours_stay(root: Path) -> None:
    # Without a lock, of another name, a file, a link to a dead folder, a link as lock.
    (root / "writeamp-unlocked").mkdir()
    (root / "writeamp-file").touch()
    outside = dead(root / "elsewhere")
    (root / "writeamp-link").symlink_to(outside)
    (root / "writeamp-linked-lock").mkdir()
    (root / "writeamp-linked-lock" / "lock").symlink_to(outside / "lock")
    before = sorted(root.rglob("*"))
    with temporary_folder():
        pass
    assert sorted(root.rglob("*")) == before


def test_links_in_a_dead_folder_are_removed_and_what_they_lead_to_stays(root: Path) -> None:
    outside = dead(root / "elsewhere")
    killed = dead(root / "writeamp-1-abc")
    (killed / "link").symlink_to(outside)
    with temporary_folder():
        assert not killed.exists()
    assert (outside / "inside" / "file").read_text() == "data"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_folders_of_other_users_stay(root: Path) -> None:
    foreign = dead(root / "writeamp-1-abc")
    os.chown(foreign, 12345, 12345)
    with temporary_folder():
        assert (foreign / "inside" / "file").exists()


def test_a_folder_with_a_mount_in_it_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = dead(root / "writeamp-1-abc")
    monkeypatch.setattr(temporary, "_points", lambda: ["/", str(killed / "inside")])
    with temporary_folder():
        assert (killed / "inside" / "file").exists()
