"""Parts that extend the core: their entry points, and what is said where one is missing."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import writeamp as wa
from in_process import refusal, run
from places import ROOT
from writeamp.answers.way import Way
from writeamp.cli import verbs
from writeamp.errors import WriteampError
from writeamp.extensions import PAPERS_MISSING, extensions, loaded
from writeamp.learn.blackbox.model_kinds import ModelKind

pytestmark = pytest.mark.usefixtures("plain_messages")

GROUPS = ("verbs", "ways", "lists", "findings", "learners")


@pytest.fixture
def forgotten() -> Iterator[Callable[[], None]]:
    """Give a function that forgets what was found, which is also forgotten at the end."""
    caches = (extensions, verbs.verbs, verbs.load)

    def forget() -> None:
        for one in caches:
            one.cache_clear()

    yield forget
    forget()


@pytest.fixture
def install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgotten: Callable[[], None]
) -> Callable[[str], None]:
    """Give a function that installs a package with some entry points, as pip does."""

    def installed(points: str) -> None:
        (tmp_path / "hello.py").write_text(HELLO)
        info = tmp_path / "hello-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(tmp_path)
        forgotten()

    return installed


@pytest.mark.parametrize("group", [f"writeamp.{name}" for name in GROUPS])
def test_entry_points_are_those_that_python_itself_finds(group: str) -> None:
    expected = {one.name: one.value for one in entry_points(group=group)}
    assert {name: one.value for name, one in extensions(group).items()} == expected
    assert expected


def test_every_entry_point_of_the_house_leads_to_something() -> None:
    for name in GROUPS:
        for one in extensions(f"writeamp.{name}").values():
            assert one.load() is not None


def test_a_package_adds_a_verb_and_replaces_none(install: Callable[[str], None]) -> None:
    install("""
        [console_scripts]
        hello = hello:no
        [writeamp.verbs]
        # greets
        hello = hello:HELLO
        simulate = hello:HELLO
        list = writeamp.cli.core_verbs:PREDICT
        two words = hello:HELLO
    """)
    assert "Greet" in run("--help", "").out
    assert "Greetings" in run("--help", "").out
    assert run("hello", "").out == "hello\n"
    assert extensions("writeamp.verbs")["simulate"].value == "writeamp.cli.core_verbs:SIMULATE"
    assert extensions("writeamp.verbs")["list"].value == "writeamp.cli.core_verbs:LIST"
    assert "two words" not in verbs.verbs()


HELLO = """
import typer
from writeamp.cli.verbs import Verb

HELLO = Verb("hello", "Greet.", "Greetings")
STRANGE = 1
NUMBERS = Verb("hello", 7, [])
MARKED = Verb("gone", "Greet [/foo]\\x1b.", "[/bar]")
NAMELESS = Verb("hello", "Greet.", "Greetings")
UNREGISTERED = Verb("json", "Greet.", "Greetings")

def register(app):
    app.command("hello")(hello)

def hello():
    print("hello")
"""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("hello:GONE", "has no attribute 'GONE'"),
        ("gone.module:X", "No module named 'gone'"),
        ("ending", "SystemExit: 3"),
        ("hello:STRANGE", "it is not a writeamp.cli.verbs.Verb"),
        ("hello:NUMBERS", "it is not a writeamp.cli.verbs.Verb of three texts"),
        ("hello:MARKED", "gone registers no verb broken"),
        ("hello:NAMELESS", "hello registers no verb broken"),
        ("hello:UNREGISTERED", "json registers no verb broken"),
    ],
)
def test_a_verb_that_cannot_be_used_says_why_and_leaves_the_others_alone(
    value: str, words: str, tmp_path: Path, install: Callable[[str], None]
) -> None:
    (tmp_path / "ending.py").write_text("raise SystemExit(3)")
    (tmp_path / "other-1.0.dist-info").mkdir()
    (tmp_path / "other-1.0.dist-info/entry_points.txt").write_bytes(b"[writeamp.verbs]\n\xff = a\n")
    install(f"[writeamp.verbs]\nbroken = {value}\n")
    helped = run("--help", "")
    assert helped.status == 0
    assert "broken" in helped.out
    assert "\x1b" not in helped.out
    assert run("predict", "--op 0.1").status == 0
    said = refusal("broken", "")
    assert words in said
    assert said.startswith("writeamp: broken of the package hello cannot be used (")


@pytest.mark.parametrize("group", ["ways", "lists", "findings", "learners"])
def test_other_extensions_that_cannot_be_used_are_left_out_with_a_warning(
    group: str, install: Callable[[str], None]
) -> None:
    install(f"[writeamp.{group}]\nbroken = hello:GONE\nodd = hello:HELLO\n")
    found = extensions(f"writeamp.{group}")
    assert {"broken", "odd"} < found.keys()
    ours = {name for name, one in found.items() if one.is_ours}
    with pytest.warns(RuntimeWarning) as warned:
        assert loaded(found.values(), KINDS[group]).keys() == ours
    assert [str(one.message).partition(":")[0] for one in warned] == [
        f"{name} of the package hello cannot be used (hello, {attribute})"
        for name, attribute in (("broken", "GONE"), ("odd", "HELLO"))
    ]


KINDS = {"ways": Way, "lists": FunctionType, "findings": ModuleType, "learners": ModelKind}


def test_a_checkout_that_is_not_installed_is_told_so(
    monkeypatch: pytest.MonkeyPatch, forgotten: Callable[[], None]
) -> None:
    monkeypatch.setattr(verbs, "extensions", lambda group: {})
    forgotten()
    said = refusal("predict", "--op 0.1")
    assert "is on Python's path but not installed" in said


def test_without_the_papers_the_verb_and_the_module_name_the_package(
    monkeypatch: pytest.MonkeyPatch, forgotten: Callable[[], None]
) -> None:
    def others(group: str) -> dict[str, object]:
        return {name: one for name, one in found(group).items() if name != "reproduce"}

    found = extensions
    forgotten()
    monkeypatch.setattr(verbs, "extensions", others)
    assert "reproduce" in run("--help", "").out
    helped = run("reproduce", "--help")
    assert helped.status == 0
    assert "writeamp-papers" in helped.out
    for arguments in ("park2017", "", "park2017 --full --json", "--plots build"):
        assert refusal("reproduce", arguments) == f"writeamp: {PAPERS_MISSING}\n"
    monkeypatch.setitem(sys.modules, "writeamp_papers", None)
    with pytest.raises(WriteampError) as refused:
        wa.reproduce("park2017")
    assert str(refused.value) == PAPERS_MISSING
    monkeypatch.delitem(sys.modules, "writeamp.reproduce", raising=False)
    with pytest.raises(ModuleNotFoundError) as missing:
        importlib.import_module("writeamp.reproduce")
    assert str(missing.value) == PAPERS_MISSING


def test_the_module_reproduce_is_the_function() -> None:
    function = wa.reproduce
    assert importlib.import_module("writeamp.reproduce") is function is wa.reproduce


def test_both_packages_have_one_version() -> None:
    papers = tomllib.loads((ROOT / "papers/pyproject.toml").read_text())["project"]
    assert papers["version"] == wa.__version__
    assert papers["dependencies"] == [f"writeamp=={wa.__version__}"]
