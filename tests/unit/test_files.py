"""Files by name: paths, what stands for them elsewhere, and addresses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import writeamp as wa
from writeamp.errors import WriteampError
from writeamp.files import inputs

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
        wa.sweep(plan, out=tmp_path / "out", workers=1, progress=change)
    again = wa.sweep(plan, out=tmp_path / "out", workers=1)
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
    done = wa.sweep(plan, out=tmp_path, workers=1)
    assert (done.done, done.to_frame()["trace"].to_list()) == (1, [address])


@pytest.mark.parametrize("address", ["memory://no-such.csv", "nosuchscheme://a/b"])
def test_an_address_that_cannot_be_read_is_refused(address: str) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(WriteampError, match=f"cannot read {address}"):
        wa.traces.read(address, "msr")
    with pytest.raises(WriteampError, match=f"cannot read {address}"):
        inputs.identity(address)
