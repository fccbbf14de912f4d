"""Application layer of a virtual drive: known and unknown bytes, and their counting."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from writeamp.machine import bpf
from writeamp.machine.bpf import Tracepoint
from writeamp.machine.command import ProcessWrites
from writeamp.reports.report import Report
from writeamp.reports.sections.by_cause import by_cause
from writeamp.vssd.layers import Application, Layers
from writeamp.vssd.write_counter import WriteCounts, write_counter

WRITTEN = ProcessWrites(calls_bytes=5000, storage_bytes=2 << 30)
MIB = 1 << 20


@pytest.mark.parametrize(
    ("counted", "size_bytes", "reason"),
    [
        (WriteCounts(4000, 0, 0, has_unseen_writes=False), 4000, None),
        # At most a hundredth of what is known cannot change a factor by more.
        (WriteCounts(200 * MIB, 1, 2 * MIB, has_unseen_writes=False), 200 * MIB, None),
        (WriteCounts(199 * MIB, 1, 2 * MIB, has_unseen_writes=False), None, "mapped files"),
        (
            WriteCounts(0, 0, 0, has_unseen_writes=True),
            None,
            "this kernel's tracepoints do not count",
        ),
        ("no tracing", 5000, "no tracing, and wchar of /proc/PID/io includes pipes"),
    ],
)
def test_the_bytes_of_an_application(
    counted: WriteCounts | str, size_bytes: int | None, reason: str | None
) -> None:
    found = Application.of(counted, WRITTEN)
    assert found.size_bytes == size_bytes
    assert (reason or "") in (found.unknown or "")
    layers = Layers.of(found, file_system=10_000, device=10_000, flash=20_000)
    assert (layers.factors()["file_system"] is None) == (reason is not None)
    assert (layers.whole() is None) == (reason is not None)
    assert layers.factors()["flash"] == 2.0


@pytest.mark.parametrize(
    ("application", "is_drawn"),
    [
        (Application(4000, "tracepoints"), True),
        (Application(5000, "wchar", "pipes too"), False),
        (Application(None, "tracepoints", "mapped files"), False),
    ],
)
def test_a_report_draws_an_application_of_known_bytes(
    application: Application, is_drawn: bool
) -> None:
    layers = Layers.of(application, file_system=8192, device=8192, flash=16384)
    document = {"page_bytes": 4096, "causes": {"host": 2, "gc": 2}, "layers": layers.to_dict()}
    section = by_cause(Report("serve", (), document))
    figure = section.blocks[0].figure
    bytes_of = dict(zip(figure.bars, figure.texts, strict=True))
    assert bytes_of.pop("passed to write()", None) == ("3.906 KiB" if is_drawn else None)
    assert bytes_of == {
        "file system": "8 KiB",
        "host writes to the drive": "8 KiB",
        "flash": "16 KiB",
    }


def test_machine_code_jumps_over_constants_of_two_places() -> None:
    program = [
        bpf.jump_if(bpf.EQUAL, 1, 7, "end"),
        bpf.load_constant(2, 0xFFFF_FFFF_8160_4ED0),
        *bpf.leave("end"),
    ]
    code = bpf.assembled(program)
    assert len(code) == 8 * 5
    assert struct.unpack_from("<BBhi", code) == (0x15, 1, 2, 7)
    low, high = (struct.unpack_from("<I", code, at)[0] for at in (12, 20))
    assert (low, high) == (0x8160_4ED0, 0xFFFF_FFFF)


def test_fields_and_flags_of_a_tracepoint_are_read(tmp_path: Path) -> None:
    (tmp_path / "iomap" / "ended").mkdir(parents=True)
    (tmp_path / "iomap" / "ended" / "format").write_text(
        "name: ended\nID: 1134\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
        "\tfield:char name[32];\toffset:8;\tsize:32;\tsigned:0;\n"
        "\tfield:ssize_t ret;\toffset:56;\tsize:8;\tsigned:1;\n\n"
        'print fmt: "%s", __print_flags(x, "|", { (1 << 17), "DIRECT" }, { (1 << 18), "WRITE" })\n'
    )
    found = Tracepoint.read(tmp_path, "iomap/ended")
    assert found.number == 1134
    assert (found.fields["name"], found.fields["ret"]) == ((8, 32), (56, 8))
    assert found.flags["WRITE"] == 1 << 18


@pytest.mark.parametrize(
    ("file_system", "reason"),
    [("btrfs", "not support the tracepoints of btrfs"), ("ext4", "No such file")],
)
def test_what_cannot_be_counted_has_a_reason(file_system: str, reason: str) -> None:
    with write_counter(file_system, "/dev/no-such-loop") as counter:
        assert isinstance(counter, str)
        assert reason in counter
