"""The address of the repository: one place has it, and a release without it is refused."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import writeamp as wa
from places import ROOT
from writeamp import citations
from writeamp.errors import how_to_install

sys.path.insert(0, str(ROOT / "scripts"))
import check_release
import repository_links
from repository_links import ADDRESS, LINK, with_address

README = (ROOT / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Extras for those who change writeamp.
OF_DEVELOPERS = {"dist", "docs", "lint", "test"}


def test_every_link_of_readme_is_absolute_and_names_an_existing_file() -> None:
    targets = [target for _, _, target in LINK.findall(README) if not target.startswith("#")]
    assert targets
    ours = [target for target in targets if ADDRESS.match(target)]
    assert [target for target in targets if not target.startswith("https://")] == []
    assert len(ours) > 20
    for target in ours:
        path, _, anchor = ADDRESS.sub("", target).partition("#")
        assert (ROOT / path).exists(), target
        if anchor:
            headings = re.findall("^#+ (.*)$", (ROOT / path).read_text("utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings]
            assert anchor in anchors, target


def test_a_link_gets_the_address_in_place_of_none_or_another() -> None:
    old, new = "https://old.example/me/writeamp", "https://example.org/you/wa"
    links = {
        "[a](docs/answer.md#one)": f"[a]({new}/blob/main/docs/answer.md#one)",
        "![b](docs/images/a.png)": f"![b]({new}/raw/main/docs/images/a.png)",
        "[c](benches/results)": f"[c]({new}/tree/main/benches/results)",
        f"[d]({old}/blob/main/docs/learn.md)": f"[d]({new}/blob/main/docs/learn.md)",
        "[e](#here)": "[e](#here)",
        "[f](https://example.org/page.md)": "[f](https://example.org/page.md)",
    }
    assert with_address("\n".join(links), new) == "\n".join(links.values())


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://github.com/OWNER/writeamp", "is the placeholder"),
        ("https://github.com/me", "write an address such as"),
        ("", "write an address such as"),
        ("https://github.com/me/writeamp/", "write an address such as"),
        ("https://example.org/me/another", "run `make generate`"),
    ],
)
def test_an_address_that_cannot_be_released_is_refused(address: str, words: str) -> None:
    sentence = check_release.fault(address)
    assert sentence is not None
    assert words in sentence
    assert "\n" not in sentence


def test_a_release_with_the_address_everywhere_is_not_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    placeholder, address = repository_links.repository(), "https://github.com/somebody/writeamp"
    for path in (*repository_links.generated(), ROOT / "CITATION.cff"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text("utf-8"), "utf-8")
    (tmp_path / "benches/results").mkdir(parents=True)  # linked as a folder
    for module in (check_release, repository_links):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    project, cited = tmp_path / "pyproject.toml", tmp_path / "CITATION.cff"
    project.write_text(
        project.read_text("utf-8").replace(f'y = "{placeholder}"', f'y = "{address}"')
    )
    for path, text in repository_links.generated().items():
        path.write_text(text, "utf-8")
    assert "CITATION.cff lack" in str(check_release.fault(repository_links.repository()))
    cited.write_text(cited.read_text("utf-8").replace(placeholder, address))
    assert check_release.fault(address) is None
    for path in tmp_path.rglob("*.*"):
        assert path.is_dir() or placeholder not in path.read_text("utf-8")


def test_a_tag_must_name_the_version() -> None:
    version = wa.__version__
    assert check_release.tag_fault(f"v{version}") is None
    assert f"tag v{version}" in str(check_release.tag_fault("v99.0.0"))


def test_the_release_script_needs_no_package_and_ends_with_status_2() -> None:
    script = [sys.executable, "-S", ROOT / "scripts/check_release.py"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    if citations.PLACEHOLDER in repository_links.repository():
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
    else:
        assert (done.returncode, done.stderr) == (0, "")


def test_the_placeholder_is_the_same_where_it_is_refused_and_left_out() -> None:
    assert citations.PLACEHOLDER == repository_links.PLACEHOLDER


def extras_of(page: str) -> dict[str, str]:
    """Return the other cells of each row of the table of extras, by the extra."""
    table = page.partition("| extra |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.*?`) \| (.*) \|$", table, re.MULTILINE)
    return {name: cells for names, cells in rows for name in re.findall(r"`(\w+)`", names)}


def test_the_table_of_extras_has_those_of_the_package() -> None:
    extras = PROJECT["optional-dependencies"]
    rows = extras_of(README)
    assert set(rows) == set(extras)
    for extra in set(extras) - OF_DEVELOPERS:
        packages = re.findall(r"^[\w-]+", "\n".join(extras[extra]), re.MULTILINE)
        listed = re.findall(r"[\w-]+", rows[extra].rpartition("|")[2].lower())
        assert [package for package in packages if package.lower() not in listed] == [], extra


def test_every_extra_that_an_error_names_is_one_of_the_table() -> None:
    named = [
        call.args[0].value
        for folder in ("python/writeamp", "papers/writeamp_papers")
        for path in (ROOT / folder).rglob("*.py")
        if how_to_install.__name__ in (text := path.read_text("utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == how_to_install.__name__
        and isinstance(call.args[0], ast.Constant)
    ]
    assert set(named) == set(extras_of(README)) - OF_DEVELOPERS


def test_pages_install_extras_that_there_are() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "papers").rglob("*.md")]
    named = {
        extra
        for page in pages
        for extras in re.findall(r"writeamp\[([\w,-]+)\]", page.read_text("utf-8"))
        for extra in extras.split(",")
    }
    assert named
    assert named <= set(PROJECT["optional-dependencies"])
