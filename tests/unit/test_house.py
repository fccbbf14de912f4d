"""Rules of the house: no module hides behind a function, public functions show their use."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import writeamp as wa
import writeamp_papers
from places import ROOT
from samples import library_classes
from writeamp.cli import verbs
from writeamp.results.any_result import AnyResult

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (wa, wa.models, wa.meanfield, wa.allocation, wa.traces, wa.volumes)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}

# Packages whose names are imported when they are first asked for.
PACKAGES = [Path(package.__path__[0]) for package in (wa, writeamp_papers)]
LATE = (
    "allocation",
    "blackbox",
    "custom",
    "meanfield",
    "measure",
    "models",
    "plots",
    "traces",
    "twin",
    "volumes",
)


# Names of functions, which docstrings refer to.
ELSEWHERE = {
    name for module in (wa, *(getattr(wa, one) for one in LATE)) for name in module.__all__
}


def names_of(kind: type) -> set[str]:
    """Return the attributes of a class, its fields among them."""
    return {
        *dir(kind),
        *(name for one in kind.__mro__ for name in vars(one).get("__annotations__", {})),
    }


def test_no_module_is_shadowed_by_what_its_package_exports() -> None:
    for found in pkgutil.walk_packages(wa.__path__, "writeamp."):
        # One is no Python, the other a plugin that only nbdkit loads.
        if found.name in ("writeamp._engine", "writeamp._nbdkit"):
            continue
        module = importlib.import_module(found.name)
        package, _, name = found.name.rpartition(".")
        assert getattr(importlib.import_module(package), name) is module, found.name


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_has_an_example_that_the_tests_run(name: str) -> None:
    assert ">>>" in (PUBLIC[name].__doc__ or "")


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give the functions of the library, and the methods of its classes, by name."""
    modules = [wa, wa.runners, *(getattr(wa, name) for name in LATE)]
    for module in modules:
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.isfunction(one):
                yield f"{module.__name__}.{name}", one
            elif inspect.isclass(one) and issubclass(one, AnyResult):
                for inner, method in vars(one).items():
                    if inner[0] != "_" and inspect.isfunction(method):
                        yield f"{module.__name__}.{name}.{inner}", method


@cache
def all_classes() -> list[type]:
    """Return the classes of the library, which takes long to collect."""
    return list(library_classes())


def returns_fault(function: Callable[..., Any]) -> str | None:
    """Return what is wrong with the section `Returns` of a docstring; None if nothing is.

    A method may say it in its first line. Names behind that of a class must be attributes of it,
    but for those in parentheses.
    """
    returned = str(function.__annotations__.get("return"))
    doc = inspect.getdoc(function) or ""
    if returned in ("None", "NoReturn"):
        return None
    section = re.search(r"^(?:Returns|Yields):\n((?:    .*\n?)+)", doc, re.MULTILINE)
    if section is None:
        is_said = "." in function.__qualname__ and re.match(r"(Return|Describe|Compare) ", doc)
        return None if is_said else "has no section Returns"
    words = re.findall(r"`([A-Za-z_]\w*)", re.sub(r" \([^)]*\)", "", section[1]))
    kinds = [one for one in all_classes() if one.__name__ in words]
    attributes = {name for kind in kinds for name in names_of(kind)}
    unknown = [one for one in words if one[0].islower() and one not in attributes | ELSEWHERE]
    return f"has no {unknown}" if kinds and unknown else None


def test_public_functions_say_what_they_return() -> None:
    found = {name: fault for name, one in public_callables() if (fault := returns_fault(one))}
    assert found == {}


def called_in(code: str) -> set[str]:
    """Return the dotted names that code calls, decorates with, or enters."""
    calls = {
        ast.unparse(one.func) for one in ast.walk(ast.parse(code)) if isinstance(one, ast.Call)
    }
    classes = (one for one in ast.walk(ast.parse(code)) if isinstance(one, ast.ClassDef))
    return calls | {ast.unparse(name) for one in classes for name in one.decorator_list}


def test_the_script_of_a_user_calls_every_public_function() -> None:
    """Mypy checks it: a function that it does not call may have a type that is no use."""
    assert called_in("@a.b\nclass A: c.d(e(1))") == {"a.b", "c.d", "e"}
    called = called_in((ROOT / "tests/data/user_script.py").read_text())
    modules = {"": wa} | {f"{name}.": getattr(wa, name) for name in (*LATE, "runners")}
    public = {
        f"wa.{place}{name}"
        for place, module in modules.items()
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    assert public - called == set()


def test_a_docstring_without_what_is_returned_is_found() -> None:
    def silent() -> wa.Result:
        """Run it."""

    def wrong() -> wa.Result:
        """Run it.

        Returns:
            `Result`: `wa` (with `anything`), `waa`; see `simulate`.
        """

    assert returns_fault(silent) == "has no section Returns"
    assert returns_fault(wrong) == "has no ['waa']"


def verbs_of_the_command() -> set[str]:
    """Return every verb, and those of a group with its name."""
    return {
        f"{name} {inner}" if inner else name
        for name in verbs.verbs()
        for inner in getattr(verbs.load(name), "commands", [""])
    }


def functions_by_verb(page: str) -> dict[str, list[str]]:
    """Return the functions that a table names for each verb; "none: …" stands for a reason."""
    rows = re.findall(r"^\| `([a-z ]+)` \| (.+) \|$", page, re.MULTILINE)
    return {
        verb: [cell] if cell.startswith("none: ") else re.findall(r"`(wa\.[\w.]+)`", cell)
        for verb, cell in rows
    }


def test_every_verb_has_a_public_function() -> None:
    page = (ROOT / "docs/library.md").read_text()
    named = functions_by_verb(page.partition("## Functions of the verbs")[2])
    assert {verb for verb in verbs_of_the_command() if not named.get(verb)} == set()
    for name in (one for functions in named.values() for one in functions if one[:3] == "wa."):
        assert callable(attrgetter(name.removeprefix("wa."))(wa)), name


def test_users_reach_theory_by_the_names_they_know() -> None:
    for name in ("models", "meanfield", "allocation", "traces"):
        assert isinstance(getattr(wa, name), ModuleType)
        assert importlib.import_module(f"writeamp.{name}") is getattr(wa, name)


@pytest.mark.parametrize("name", ["", *LATE])
def test_names_that_are_imported_late_are_listed_before(name: str) -> None:
    module = getattr(wa, name) if name else wa
    assert set(module.__all__) <= set(dir(module))


# A sum with 1; files without one need not be parsed, which takes long.
SUM_WITH_1 = re.compile(r"\b1(\.0)?[\s()]*\+|\+[\s()]*1(\.0)?\b")


def sums_with_op(source: str) -> Iterator[int]:
    """Give the lines on which 1 is added to an op."""
    if not SUM_WITH_1.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            terms = [ast.unparse(node.left), ast.unparse(node.right)]
            names = [one.partition("(")[0].rpartition(".")[2] for one in terms]
            if {"1", "1.0"} & set(terms) and any(one.split("_")[-1] == "op" for one in names):
                yield node.lineno


def test_op_becomes_other_ratios_in_one_module() -> None:
    assert sorted(sums_with_op("a / (1 + op)\nb * (self.op + 1.0)\n1 + profile_op(c)")) == [1, 2, 3]
    # What Dayan et al. print is their own arithmetic.
    others = {"units/ratios.py", "dayan2015/allocation.py"}
    found = [
        f"{file.relative_to(root)}:{line}"
        for root in PACKAGES
        for file in sorted(root.rglob("*.py"))
        if str(file.relative_to(root)) not in others
        for line in sums_with_op(file.read_text())
    ]
    assert found == []


CLASS = re.compile(r"^ *class (\w+)[:(\[]", re.MULTILINE)


def test_at_most_ten_class_names_are_used_twice_and_none_more_often() -> None:
    assert CLASS.findall("class A:\n    class B(A): ...\n\nclass C[T]: ...") == ["A", "B", "C"]
    texts = [file.read_text("utf-8") for file in PACKAGES[0].rglob("*.py")]
    counts = Counter(name for text in texts for name in CLASS.findall(text))
    assert len([name for name, times in counts.items() if times > 1]) <= 10
    assert max(counts.values()) <= 2


# Modules that open a file themselves, and which. `files.inputs` opens what a user names: it
# refuses devices and limits what is read.
OPENING = {
    "learn/blackbox/formulas/of_profiles.py": "of the package",
    "drives/devices/writing/place.py": "the drive that is measured",
    "drives/devices/writing/new_file.py": "a file that it makes",
    "drives/devices/writing/safety.py": "the machine, and the drive that is measured",
    "cli/boundary.py": "/dev/null",
    "cli/engine_age.py": "of the package",
    "devices/endurance.py": "of the package",
    "drives/devices/device.py": "the machine",
    "drives/counters/families.py": "of the package",
    "drives/counters/sources/printed_logs.py": "of the package",
    "fio/values.py": "of the package",
    "extensions.py": "of installed packages",
    "files/download.py": "a file that it makes",
    "files/examples.py": "of the package",
    "files/output.py": "files that are written",
    "pages/frame.py": "of the package",
    "files/inputs.py": "itself",
    "files/pipes.py": "itself",
    "finished.py": "of the package",
    "huang2011/tree_choice.py": "of the package",
    "known.py": "of the package",
    "park2017/benchmarks.py": "a file that it makes",
    "park2017/file_loads.py": "files that it makes",
    "runners/dask/connection.py": "a file that it makes",
    "studies/dataset.py": "a lock",
    "recorder/disk.py": "the machine",
    "recorder/file_systems/btrfs.py": "the device that is recorded",
    "recorder/file_systems/volume.py": "the device that is recorded",
    "recorder/names.py": "files of the recorded file system",
    "recorder/parts.py": "a folder that it makes",
    "recorder/processes.py": "the machine",
    "recorder/recording.py": "a file that it makes",
    "recorder/tracing.py": "the machine",
    "files/tables.py": "itself",
    "files/temporary.py": "files that it makes",
    "system.py": "the machine",
    "learn/twin/plan.py": "the drive that is measured",
    "learn/twin/table.py": "its own cache",
    "volumes/spills.py": "files that it makes",
    "traces/public_traces.py": "of the package",
    "traces/recording.py": "a file that a virtual drive makes",
    "machine/command.py": "the terminal and the machine",
    "vssd/control.py": "the machine",
    "vssd/drive.py": "data of the virtual drive",
    "machine/dead_mounts.py": "the machine",
    "machine/guardian.py": "the machine",
    "vssd/listening.py": "the machine",
    "vssd/mount.py": "the machine",
    "machine/programs.py": "a file that it makes",
    "vssd/recorder.py": "a file that it makes",
    "machine/bpf.py": "the machine",
    "vssd/write_counter.py": "the machine",
}
OPENERS = {
    "open",
    "read_text",
    "read_bytes",
    "fromfile",
    "read_parquet",
    "scan_parquet",
    "scan_csv",
}
# What has a function of such a name, and opens no file by it, or by `files.inputs`.
NO_OPENERS = {"inputs", "toml_text", "cls", "kind", "Fleet", "SweepDataset"}


def _opens_a_file(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Attribute):
        owner = ast.unparse(called.value)
        is_opener = called.attr in OPENERS and owner not in NO_OPENERS
        return is_opener or (owner, called.attr) == ("np", "load")
    return isinstance(called, ast.Name) and called.id == "open"


def test_files_that_users_name_are_opened_in_one_place() -> None:
    opening = {
        str(path.relative_to(root))
        for root in PACKAGES
        for path in root.rglob("*.py")
        if any(f"{name}(" in (text := path.read_text("utf-8")) for name in (*OPENERS, "load"))
        and any(map(_opens_a_file, ast.walk(ast.parse(text))))
    }
    assert opening == OPENING.keys()
