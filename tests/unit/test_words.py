"""Words of pages, messages, docstrings and names: budgets hold, and each fault is found."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import check_words
from check_words import BANNED, CONSTRUCTIONS, KINDS, MOST_WORDS, flagged

# A sentence with each construction, and a plain one with words that only look like it.
EXAMPLES = {
    "tell": ("It tells the WA.", "A teller and a foretaste."),
    "hear": ("The host is not heard.", "Hearsay and shear."),
    "say": ("The file says its format.", "An essay on the unsaid."),
    "know": ("It knows the op.", "The known op."),
    "insist": ("It insists on a victim.", "A consistent insistence."),
    "come to": ("The pages come to 12.", "Pages become tokens, and come together."),
    "stand for": ("A page stands for a sector.", "A standard forms."),
    "go on": ("The run goes on.", "Go online."),
    "take no notice": ("Take no notice.", "Taking notice."),
    "is to be": ("The file is to be read.", "The file is tobacco."),
    "is no": ("The file is no trace.", "There is no block, `x` is None, and it is no longer open."),
    "of none": ("One of none.", "A loan of nonesuch."),
    "what is": ("Return what it holds.", "Ask what counts."),
    "whatever": ("Whatever comes.", "However it ends."),
    "nobody": ("Somebody reads it.", "A busybody."),
    "nothing of": ("Everything that fits.", "Everything fits."),
    "such a": ("Such a drive ends.", "Such drives end."),
    "by which": ("The rule by which it moves.", "Divide by 2."),
    "alike": ("Both are treated alike.", "A likely case."),
    "anew": ("It is read anew.", "A new run."),
}
BAD, GOOD = "It tells the WA.", "It prints the WA."
LONG = "word " * MOST_WORDS + "end."


def faults(kind: str, folder: Path, name: str, text: str) -> list[tuple[int, str]]:
    """Return the place and the text of each fault of one file, as the only one of a tree."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    for page in check_words.PAGES:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).touch()
    lines = check_words.lines(kind, root=folder)
    return [(line.number, line.text) for line, _ in check_words.faults(kind, lines)]


# A budget may be higher than its count by this much, so that not every rewrite has to lower it.
SLACK = 1.0


def test_budgets_are_close_to_the_counts() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    budgets = project["tool"]["writeamp"]["words"]
    assert set(budgets) == set(KINDS)
    slack = {kind: budgets[kind] - count for kind, count in check_words.measured().items()}
    assert {kind: more for kind, more in slack.items() if not 0 <= more <= SLACK} == {}


def test_each_construction_has_examples() -> None:
    assert set(EXAMPLES) == set(CONSTRUCTIONS)


@pytest.mark.parametrize(("bad", "good"), EXAMPLES.values(), ids=EXAMPLES)
def test_a_construction_is_flagged_and_its_like_is_not(bad: str, good: str) -> None:
    assert len(flagged(bad)) == 1
    assert flagged(good) == []


@pytest.mark.parametrize(
    ("kind", "name", "text", "place"),
    [
        ("pages", "docs/a.md", f"# A\n\n{{}}\n\n```\n{BAD}\n```\n`tells` [x](tells.md)\n", 3),
        ("long_sentences", "docs/a.md", "Short.\nOne. {}\n", 1),
        ("python", "python/a.py", f'"""A.\n\n{{}}\n"""\n_A = "{BAD}"\n', 3),
        ("python", "python/a.py", '"""A."""\n\n_A = 1  # {}\n', 3),
        ("messages", "python/a.py", f'"""{BAD}"""\n_A = f"{{{{_B}}}} and {{}}"  # {BAD}\n', 2),
        ("messages", "python/a.py", '"""A."""\n_A = "one: "\n_B = """Two.\n{}"""\n', 4),
        ("rust", "crates/a.rs", f'// A.\n/// {{}}\nconst A: &str = "{BAD}";\n', 2),
        ("rust", "crates/a.rs", "/* {} */\n#[cfg(test)]\nmod tests {{\n    // It tells.\n}}\n", 1),
        (
            "messages",
            "crates/a.rs",
            f'// {BAD}\nconst A: char = \'"\';\nconst B: &str = "{{}}";\n',
            3,
        ),
    ],
)
def test_a_fault_is_found_in_its_kind_of_text(
    kind: str, name: str, text: str, place: int, tmp_path: Path
) -> None:
    bad, good = (LONG, "Short.") if kind == "long_sentences" else (BAD, GOOD)
    assert [number for number, _ in faults(kind, tmp_path, name, text.format(bad))] == [place]
    assert faults(kind, tmp_path, name, text.format(good)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "def {}():\n    pass\n"),
        ("a.py", "def f(*, {}=1):\n    pass\n"),
        ("a.py", "class A:\n    {}: int = 1\n"),
        ("a.py", "f = [x for {} in y]\n"),
        ("a.py", "match x:\n    case {{1: {}}}:\n        pass\n"),
        ("a.rs", "fn {}() {{}}\n"),
        ("a.rs", "fn f(a: u8, {}: u8) {{}}\n"),
        ("a.rs", "fn f() {{\n    let mut {} = 1;\n}}\n"),
        ("a.rs", "struct S {{\n    {}: u8,\n}}\n"),
        ("a.rs", "fn f() {{\n    g.map(|{}| 1);\n}}\n"),
        ("a.rs", "fn f() {{\n    if let Some({}) = g {{}}\n}}\n"),
    ],
)
def test_a_banned_name_is_found(name: str, text: str, tmp_path: Path) -> None:
    assert "found" in BANNED
    assert [
        word for _, word in faults("names", tmp_path, f"python/{name}", text.format("found"))
    ] == ["found"]
    assert faults("names", tmp_path, f"python/{name}", text.format("row")) == []
