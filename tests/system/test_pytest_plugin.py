"""The pytest plugin: it makes virtual drives, takes them down, and tells of them on failure."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence

import pytest

from places import ROOT
from served import needs

pytest_plugins = "pytester"

PLUGIN = "writeamp.pytest_plugin"

# Stands for the drive, whose own tests need nbdkit, and says when it is made and taken down.
FAKE = """
    import types
    import pytest
    import writeamp as wa
    from writeamp.errors import WriteampError
    from writeamp.machine import programs

    class Drive:
        uri = "nbd+unix:///?socket=fake"
        wa = 2.5
        is_gone = False

        def __init__(self, device, **options):
            self.asked = (device, options)

        def __enter__(self):
            print("made", *self.asked)
            return self

        def __exit__(self, *_):
            print("taken down", *self.asked)

        def result(self):
            if self.is_gone:
                raise WriteampError("no virtual drive answers")
            return Result()

    class Result:
        host_bytes = 4_096_000
        flash_bytes = 10_240_000
        causes = {"host": 1000, "gc": 1500}
        device = types.SimpleNamespace(page_bytes=4096)

        def __str__(self):
            return "WA 2.5000 of a fake"

    def is_missing(name):
        raise WriteampError(f"{name} is not installed; it is in a package")

    @pytest.fixture(autouse=True)
    def fake(request, monkeypatch):
        monkeypatch.setattr(wa, "VirtualSsd", Drive, raising=False)
        missing = request.node.get_closest_marker("missing")
        monkeypatch.setattr(programs, "require", is_missing if missing else lambda name: None)
"""
INI = """
    [pytest]
    markers = missing
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Make a project whose tests see the plugin, whether or not it is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    # A run in this process forgets what it imported; what is patched must be one module in all.
    importlib.import_module("writeamp.machine.programs")
    pytester.makeconftest(FAKE)
    pytester.makeini(INI)
    return pytester


def outcome(
    project: pytest.Pytester, content: str, *more: str, shows: Sequence[str] = (), **outcomes: int
) -> pytest.RunResult:
    """Run a file of tests, and check how many had which outcome and what is shown."""
    project.makepyfile(content)
    done = project.runpytest_inprocess("-p", PLUGIN, "-rs", *more)
    done.assert_outcomes(**outcomes)
    done.stdout.fnmatch_lines([*shows])
    return done


TOO_MUCH = """
    def test_too_much(vssd_drive):
        assert vssd_drive.wa < 2.0
"""
MISSING = """
    import pytest

    @pytest.mark.missing
    def test_a_drive(vssd_drive):
        pass
"""


def test_the_factory_makes_drives_and_takes_them_down_in_order(project: pytest.Pytester) -> None:
    content = """
        def test_two(vssd):
            first = vssd("ssd-v", size="64MiB", manager="sepgc")
            second = vssd("tlc-datacenter", blocks=100)
            assert first.uri == second.uri
            print("tested")
    """
    shows = [
        "*made ssd-v {'size': '64MiB', 'manager': 'sepgc'}",
        "made tlc-datacenter {'blocks': 100}",
        "tested",
        "*taken down tlc-datacenter *",
        "taken down ssd-v *",
    ]
    outcome(project, content, "-s", shows=shows, passed=1)


def test_what_is_left_out_comes_from_marker_then_configuration(project: pytest.Pytester) -> None:
    project.makeini(INI + "    vssd_device = qlc\n    vssd_size = 8MiB\n")
    content = """
        import pytest

        def test_plain(vssd_drive):
            assert vssd_drive.asked == ("qlc", {"size": "8MiB"})

        @pytest.mark.vssd("ssd-v", size="1GiB", victims="fifo")
        def test_marked(vssd_drive, vssd):
            assert vssd_drive.asked == ("ssd-v", {"size": "1GiB", "victims": "fifo"})
            assert vssd(size="2GiB").asked == ("ssd-v", {"size": "2GiB", "victims": "fifo"})
            assert vssd("generic").asked[0] == "generic"

        @pytest.mark.vssd(blocks=100)
        def test_size_by_blocks(vssd_drive):
            assert vssd_drive.asked == ("qlc", {"blocks": 100})
    """
    outcome(project, content, "--strict-markers", passed=3)


def test_without_any_word_the_drive_is_a_datacenter_drive_of_1_gib(
    project: pytest.Pytester,
) -> None:
    content = """
        def test_plain(vssd_drive):
            assert vssd_drive.asked == ("tlc-datacenter", {"size": "1GiB"})
    """
    outcome(project, content, passed=1)


def test_a_failed_test_shows_bytes_by_cause(project: pytest.Pytester) -> None:
    shows = [
        "E * assert 2.5 < 2.0",
        "*virtual SSD 1*",
        "WA 2.5000 of a fake",
        "host wrote *4,096,000 bytes",
        "flash programmed *10,240,000 bytes",
        "*for host *4,096,000 bytes",
        "*for gc *6,144,000 bytes",
    ]
    outcome(project, TOO_MUCH, shows=shows, failed=1)


def test_a_drive_that_is_gone_does_not_hide_why_a_test_failed(project: pytest.Pytester) -> None:
    gone = TOO_MUCH.replace("assert", "vssd_drive.is_gone = True\n        assert")
    outcome(project, gone, shows=["E * assert 2.5 < 2.0", "*no virtual drive answers"], failed=1)


def test_a_test_that_passes_shows_nothing_of_its_drives(project: pytest.Pytester) -> None:
    done = outcome(project, TOO_MUCH.replace("< 2.0", "< 3"), "-rA", passed=1)
    done.stdout.no_fnmatch_line("*virtual SSD*")


def test_without_nbdkit_tests_of_drives_are_skipped_by_its_name(project: pytest.Pytester) -> None:
    outcome(project, MISSING, shows=["SKIPPED *nbdkit is not installed*"], skipped=1)


def test_where_drives_are_required_a_missing_nbdkit_is_an_error(project: pytest.Pytester) -> None:
    project.makeini(INI + "    vssd_required = true\n")
    outcome(project, MISSING, shows=["*nbdkit is not installed*"], errors=1)


def test_the_project_declares_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (target,) = project["entry-points"]["pytest11"].values()
    assert hasattr(importlib.import_module(target), "vssd")


def test_runs_that_use_no_drive_load_nothing_of_the_library(project: pytest.Pytester) -> None:
    project.makeconftest("")
    project.makepyfile(
        """
        import sys

        def test_modules():
            loaded = {name for name in sys.modules if name.startswith("writeamp")}
            late = {"writeamp.fields", "writeamp.fields.late_names"}
            assert loaded == {"writeamp", "writeamp.pytest_plugin", *late}
            assert "numpy" not in sys.modules
        """
    )
    project.runpytest_subprocess("-p", PLUGIN).assert_outcomes(passed=1)


def test_the_library_does_not_need_pytest() -> None:
    code = "import sys; sys.modules['pytest'] = None; import writeamp.cli; import writeamp.vssd"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


@needs("nbdcopy")
def test_a_real_drive_tells_its_wa(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(
        """
        import os
        import subprocess

        def write(drive, path):
            path.write_bytes(os.urandom(8 << 20))
            subprocess.run(["nbdcopy", "--flush", path, drive.uri], check=True)

        def test_in_order(vssd, tmp_path):
            drive = vssd("generic", size="16MiB")
            write(drive, tmp_path / "data")
            assert drive.host_bytes == 8 << 20
            assert drive.wa == 1

        def test_too_much(vssd, tmp_path):
            drive = vssd("generic", size="16MiB")
            write(drive, tmp_path / "data")
            assert drive.wa < 0.5
        """
    )
    done = pytester.runpytest_subprocess("-p", PLUGIN)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*virtual SSD 1*", "flash programmed *8,388,608 bytes"])
