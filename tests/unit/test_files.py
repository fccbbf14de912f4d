"""Files by name: paths, addresses and what stands for them; and temporary folders."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

import writeamp as wa
from writeamp.errors import WriteampError
from writeamp.files import inputs, temporary
from writeamp.files.temporary import temporary_folder

ROW = "128166372003061629,hm,0,Write,{},4096,100\n"
TRACE = "".join(ROW.format(at * 4096) for at in range(40))


def test_the_identity_of_a_file_changes_with_its_content_alone(tmp_path: Path) -> None:
    file, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    file.write_text("first")
    copy.write_text("first")
    first = inputs.identity(str(file))
    assert inputs.identity(str(copy)) == first
    os.utime(file, ns=(0, 1))
    assert inputs.identity(str(file)) == first
    file.write_text("other")
    assert inputs.identity(str(file)) != first
    with pytest.raises(WriteampError, match=r"cannot read .*no-such"):
        inputs.identity(str(tmp_path / "no-such"))


def test_a_path_is_read_where_the_content_that_is_expected_is_held(tmp_path: Path) -> None:
    content = tmp_path / "content"
    content.write_text(TRACE)
    path, its_identity = str(tmp_path / "far" / "trace.csv"), inputs.identity(str(content))
    inputs.hold(content, its_identity)
    try:
        with inputs.expecting({path: its_identity}):
            assert wa.traces.read(path, "msr").requests.height == 40
            assert inputs.identity(path) == its_identity
        with (
            inputs.expecting({path: "another"}),
            pytest.raises(WriteampError, match="no such file"),
        ):
            wa.traces.read(path, "msr")
    finally:
        inputs.release(content, its_identity)
    with inputs.expecting({path: its_identity}), pytest.raises(WriteampError, match="no such file"):
        wa.traces.read(path, "msr")


def test_addresses_of_one_basename_are_two_files_and_each_is_read_anew(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    rows = {"a": 40, "b": 50}
    for name, count in rows.items():
        (tmp_path / name).mkdir()
        text = "".join(ROW.format(at * 4096) for at in range(count))
        (tmp_path / name / "trace.csv").write_text(text)
    for name, count in rows.items():
        address = f"file://{tmp_path}/{name}/trace.csv"
        assert wa.traces.read(address, "msr").requests.height == count
    (tmp_path / "a" / "trace.csv").write_text(TRACE + TRACE + TRACE)
    assert wa.traces.read(f"file://{tmp_path}/a/trace.csv", "msr").requests.height == 120


def test_a_trace_that_changes_while_the_sweep_runs_ends_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)
    plan = {
        "load": {"trace": str(trace), "trace_format": "msr"},
        "device": {"blocks": 64, "pages_per_block": 16},
        "sweep": {"axes": {"op": [0.2, 0.3, 0.4]}},
    }

    def change(done: int, _: int) -> None:
        if done == 1:
            trace.write_text(TRACE * 2)

    with pytest.raises(WriteampError, match=r"trace\.csv has changed since the sweep began"):
        wa.sweep(plan, keep=tmp_path / "out", runner=wa.runners.Here(), progress=change)
    again = wa.sweep(plan, keep=tmp_path / "out", runner=wa.runners.Here())
    assert (again.done, again.skipped) == (3, 0)


def test_a_trace_at_an_address_is_read_like_a_file(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.pipe("/bucket/trace.csv", TRACE.encode())
    address = "memory://bucket/trace.csv"
    found = wa.traces.read(address, "msr")
    assert found.requests.height == 40
    first = inputs.identity(address)
    store.pipe("/bucket/trace.csv", TRACE.encode() * 2)
    assert inputs.identity(address) != first
    plan = {
        "load": {"trace": address, "trace_format": "msr"},
        "device": {"blocks": 64, "pages_per_block": 16},
        "sweep": {"axes": {"op": [0.2]}},
    }
    done = wa.sweep(plan, keep=tmp_path, runner=wa.runners.Here())
    assert (done.done, done.to_frame()["trace"].to_list()) == (1, [address])


@pytest.mark.parametrize("address", ["memory://no-such.csv", "nosuchscheme://a/b"])
def test_an_address_that_cannot_be_read_is_refused(address: str) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(WriteampError, match=f"cannot read {address}"):
        wa.traces.read(address, "msr")
    with pytest.raises(WriteampError, match=f"cannot read {address}"):
        inputs.identity(address)


@pytest.fixture
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
