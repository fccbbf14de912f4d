"""Check the words of pages, messages, docstrings and comments, and the names in the code.

`docs/STYLE.md` has the rules. This script finds what a program can find of them: constructions that
readers had to read twice, names that do not say what they hold, and long sentences in pages.
`pyproject.toml` has a budget for each kind of text, under `[tool.writeamp.words]`: flagged lines
per 1,000 lines, or a number of names or sentences. A budget may only fall.

`--list KIND [PATH ...]` prints each flagged line of one kind, for those who rewrite it.
"""

from __future__ import annotations

import argparse
import ast
import io
import math
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from check_first_lines import HAS_DOCSTRING, sources

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "papers/README.md")
# Quotes what it forbids.
QUOTES = ("docs/STYLE.md", "scripts/check_words.py")

# Each construction that is flagged: its name, and what matches it.
CONSTRUCTIONS = {
    "tell": r"(?:fore)?(?:tell|tells|telling|told)",
    "hear": r"(?:hear|hears|heard)",
    "say": r"(?:say|says|said|saying)",
    "know": r"(?:knows|knew)",
    "insist": r"insist(?:s|ed)?",
    "come to": r"(?:come|comes|came) to",
    "stand for": r"(?:stand|stands|stood) (?:for|in)",
    "go on": r"(?:go|goes|went|going) on",
    "take no notice": r"tak(?:e|es|ing) no notice",
    "is to be": r"(?:is|are|was|were) (?:not )?to be",
    "is no": r"(?<!there )(?:is|are|was|were) (?:no(?! (?:longer|more))|(?-i:none)|nothing)",
    "of none": r"of (?-i:none)",
    "what is": r"what (?:it|they|is|a|an|the|was|has|are|were|had)",
    "whatever": r"(?:whatever|whoever|whichever)",
    "nobody": r"(?:nobody|somebody|someone|everybody|anybody)",
    "nothing of": r"(?:nothing|everything|(?-i:none)) (?:of|that)",
    "such a": r"such an?",
    "by which": r"by (?:which|whom|what)",
    "alike": r"alike",
    "anew": r"anew",
}
_FLAGGED = re.compile(rf"(?<![\w-])(?:{'|'.join(CONSTRUCTIONS.values())})(?![\w-])", re.IGNORECASE)
# Names that say nothing of what they hold, and those that name an act of speech.
BANNED = frozenset(
    {"one", "found", "asked", "given", "known", "said", "kept", "part", "before", "told", "tells"}
    | {"hears", "heard", "meant", "whose", "somebody", "Tell", "Told", "Kept", "Keeping", "Account"}
    | {"StandIn", "Restate", "Held", "Books", "Clocked", "Serialized", "Ask", "Asked", "Found"}
)
MOST_WORDS = 30
_SENTENCE_ENDS = re.compile(r"(?<=[.!?:])\s+(?=[A-Z0-9`*(])")
_TEXT = re.compile(r"[A-Za-z]+ [A-Za-z]+ |[A-Za-z]{3,} [a-z]{2,}[.:]?$")


class Line(NamedTuple):
    """A line of text: where it stands, and its words."""

    path: Path
    number: int
    text: str


def flagged(text: str) -> list[str]:
    """Return the flagged constructions of a text, in order."""
    return [match[0] for match in _FLAGGED.finditer(text)]


# --- Python ---


@lru_cache(maxsize=1)
def _nodes(text: str) -> tuple[ast.AST, ...]:
    """Return all nodes of a file, outer ones first; three readers of one file share them."""
    return tuple(ast.walk(ast.parse(text)))


def python_comments(text: str) -> Iterator[tuple[int, str]]:
    """Give each line of each docstring and comment of a Python file that is not empty."""
    for node in _nodes(text):
        if isinstance(node, HAS_DOCSTRING):
            match node.body[:1]:
                case [ast.Expr(value=ast.Constant(value=str(doc), lineno=first))]:
                    yield from _lines(first, doc)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")


def python_messages(text: str) -> Iterator[tuple[int, str]]:
    """Give the strings of a Python file that hold words and are not docstrings."""
    docs = {id(node.value) for node in _nodes(text) if isinstance(node, ast.Expr)}
    parts: set[int] = set()
    for node in _nodes(text):
        match node:
            case ast.JoinedStr(values=values):
                parts |= {id(value) for value in values}
                words = "".join(
                    getattr(value, "value", "") if _is_text(value) else "{}" for value in values
                )
            case ast.Constant(value=str(words)) if id(node) not in docs | parts:
                pass
            case _:
                continue
        if _TEXT.search(words):
            yield from _lines(node.lineno, words)


def python_names(text: str) -> Iterator[tuple[int, str]]:
    """Give each name that a Python file binds."""
    for node in _nodes(text):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.MatchAs() | ast.MatchStar() if node.name:
                yield node.lineno, node.name


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _lines(number: int, text: str) -> Iterator[tuple[int, str]]:
    for offset, line in enumerate(text.split("\n")):
        if line.strip():
            yield number + offset, line.strip()


# --- Rust ---

_RUST_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|b?r(?P<hashes>#+)\".*?\"(?P=hashes)"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")|'(?:[^'\\\n]|\\[^\n]{1,8}?)'",
    re.DOTALL,
)
# Declared names, fields and parameters; and patterns, of which each word is a name.
_RUST_NAME = re.compile(
    r"\b(?:fn|struct|enum|trait|type|const|static|mod) (?:mut )?([A-Za-z_]\w*)"
    r"|\b([a-z_]\w*)\s*:(?!:)"
)
_RUST_PATTERN = re.compile(r"\blet ([^=;]*)[=;]|\bfor (.*?) in |\|([^|=]*)\||^(.*)=>")


def _rust_before_tests(text: str) -> str:
    return text.partition("\n#[cfg(test)]\nmod tests {")[0]


def rust_comments(text: str) -> Iterator[tuple[int, str]]:
    """Give each line of each comment of a Rust file, without its tests."""
    text = _rust_before_tests(text)
    for match in _RUST_TOKEN.finditer(text):
        if match["comment"]:
            words = match["comment"].lstrip("/!* ").rstrip()
            if words:
                yield text.count("\n", 0, match.start()) + 1, words


def rust_messages(text: str) -> Iterator[tuple[int, str]]:
    """Give the strings of a Rust file that hold words, without its tests."""
    text = _rust_before_tests(text)
    for match in _RUST_TOKEN.finditer(text):
        if match["string"]:
            words = re.sub(r"\\\n\s*", "", match["string"][1:-1])
            if _TEXT.search(words):
                yield text.count("\n", 0, match.start()) + 1, words


def rust_names(text: str) -> Iterator[tuple[int, str]]:
    """Give each name that a Rust file binds, without its tests."""
    code = _RUST_TOKEN.sub(lambda match: "\n" * match[0].count("\n"), _rust_before_tests(text))
    for number, line in enumerate(code.split("\n"), start=1):
        names = {match[1] or match[2] for match in _RUST_NAME.finditer(line)}
        for match in _RUST_PATTERN.finditer(line):
            names |= set(
                re.findall(r"(?<![.\w])[a-z_]\w*(?!\w|\(|::)", match[match.lastindex or 0])
            )
        for name in sorted(names):
            yield number, name


# --- Pages ---


def page_lines(text: str) -> Iterator[tuple[int, str]]:
    """Give each line of a page outside of its code, links without their addresses."""
    in_code = False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and line.strip() and not line.lstrip().startswith("<!--"):
            yield number, re.sub(r"`[^`]*`", "`x`", re.sub(r"\]\([^)]*\)", "]", line.strip()))


def long_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Give each sentence of a page, outside of its tables, with more than `MOST_WORDS` words."""
    paragraph: list[str] = []
    start = 0
    for number, line in [*page_lines(text), (-1, "")]:
        is_next = paragraph and number == start + len(paragraph) and not _begins(line)
        if not is_next:
            for sentence in _SENTENCE_ENDS.split(" ".join(paragraph)):
                if len(re.findall(r"[\w`][\w'`.-]*", sentence)) > MOST_WORDS:
                    yield start, sentence
            paragraph, start = [], number
        paragraph.append(line)
        if line.startswith(("|", "#")):
            paragraph = []


def _begins(line: str) -> bool:
    return line.startswith(("|", "#", "- ", "* ", "> ")) or re.match(r"\d+\. ", line) is not None


# --- The tree ---


def files(suffix: str, root: Path = ROOT) -> list[Path]:
    """Return the files to check: sources outside of tests, or pages."""
    if suffix == ".md":
        pages = [*sorted((root / "docs").glob("*.md")), *(root / name for name in PAGES)]
        return [page for page in pages if page.relative_to(root).as_posix() not in QUOTES]
    return [
        path
        for path in sources(root)
        if path.suffix == suffix
        and path.name not in {"arguments.py", "conftest.py", "tests.rs"}
        and not {"tests", "benches", "examples", "fuzz"} & set(path.relative_to(root).parts[:-1])
        and path.relative_to(root).as_posix() not in QUOTES
    ]


KINDS = {
    "pages": ((".md", page_lines),),
    "messages": ((".py", python_messages), (".rs", rust_messages)),
    "python": ((".py", python_comments),),
    "rust": ((".rs", rust_comments),),
    "names": ((".py", python_names), (".rs", rust_names)),
    "long_sentences": ((".md", long_sentences),),
}


def lines(kind: str, paths: Sequence[Path] = (), root: Path = ROOT) -> Iterator[Line]:
    """Give each line of one kind of text, of all files or of those below some paths."""
    for suffix, reader in KINDS[kind]:
        for path in files(suffix, root):
            if not paths or any(path.is_relative_to(wanted) for wanted in paths):
                for number, text in reader(path.read_text(encoding="utf-8")):
                    yield Line(path, number, text)


def faults(kind: str, every: Iterable[Line]) -> list[tuple[Line, str]]:
    """Return the lines with a fault, each with what is wrong with it."""
    if kind == "names":
        return [(line, line.text) for line in every if line.text in BANNED]
    if kind == "long_sentences":
        return [(line, f"{len(line.text.split())} words") for line in every]
    return [(line, ", ".join(words)) for line in every if (words := flagged(line.text))]


def measured(root: Path = ROOT) -> dict[str, float]:
    """Return the figure that each budget limits: a number, or flagged lines per 1,000 lines."""
    total, flagged_lines = Counter[str](), Counter[str]()
    for suffix in (".md", ".py", ".rs"):
        for path in files(suffix, root):
            text = path.read_text(encoding="utf-8")
            for kind, readers in KINDS.items():
                for reader in (reader for of, reader in readers if of == suffix):
                    every = [Line(path, number, line) for number, line in reader(text)]
                    total[kind] += len(every)
                    flagged_lines[kind] += len(faults(kind, every))
    return {
        kind: flagged_lines[kind]
        if kind in {"names", "long_sentences"}
        else math.ceil(10_000 * flagged_lines[kind] / max(1, total[kind])) / 10
        for kind in KINDS
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", metavar="KIND", choices=KINDS, help=", ".join(KINDS))
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args()
    if options.list:
        paths = [path.resolve() for path in options.paths]
        for line, fault in faults(options.list, lines(options.list, paths)):
            print(f"{line.path.relative_to(ROOT)}:{line.number}: [{fault}] {line.text}")
        return 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    budgets = project["tool"]["writeamp"]["words"]
    over = {kind: count for kind, count in measured().items() if count > budgets[kind]}
    for kind, count in over.items():
        print(f"{kind}: {count:g}, but the budget is {budgets[kind]:g}", file=sys.stderr)
        print(f"  list them: python scripts/check_words.py --list {kind}", file=sys.stderr)
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
