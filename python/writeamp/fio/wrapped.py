"""Texts with calls of fio in another language, converted to a shell script.

Supported are templates, makefiles, Windows batch files, and the YAML of Kubernetes, Ansible and
others. Other texts stay unchanged.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from textwrap import dedent

from writeamp.fio.job_file import is_job_file

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}|<%=(.*?)%>")
_STATEMENT = re.compile(r"\{%.*?%\}|<%-?(?!=).*?%>", re.DOTALL)
# Longer texts are traces.
_MOST_CHARACTERS = 1 << 20
_SHEBANG = re.compile(r"#!.*sh\b")
_MAKEFILE = re.compile(r"^[\w./%-]+ *::?(?!=).*\n(?:#.*\n)*\t", re.MULTILINE)
_TARGET = re.compile(r"[\w./%-]+ *:")
_MAKE_VARIABLE = re.compile(r"(?:export +)?(\w+) *(\??|:{0,2}|\+)= *(.*)")
_BATCH = re.compile(
    r"^[^\S\n]*(@?echo off|rem\b|::|set \"?\w+=|timeout /t|cd /d|.*\^$)",
    re.MULTILINE | re.IGNORECASE,
)
_BATCH_SET = re.compile(r"set +(\"?)(\w+)=(.*?)\1\s*", re.IGNORECASE)
_BATCH_COMMENT = re.compile(r"rem\b|::", re.IGNORECASE)
_BATCH_VARIABLE = re.compile(r"%(\w+)%")
_YAML = re.compile(
    r"^[^\S\n]*(?:- )?(?:apiVersion|kind|hosts|tasks|steps|services|args|command|shell):",
    re.MULTILINE,
)
_YAML_BEGIN = re.compile(r"(?:[^\S\n]*(?:#.*)?\n)*+(?:---|- |[\w.\"'/-]+:(?:\s|$))")
_BLOCK = re.compile(r"(?:- )?[\"']?([\w./-]+)[\"']?: *([|>])[-+0-9]* *|- *()([|>])[-+0-9]* *")
_LIST = re.compile(r"(?:- )?(command|args|entrypoint|cmd|script|run): *(.*)")
_KEY = re.compile(r"(?:- )?[\w.\"'/-]+: *")
_WORD = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([^\s,\[\]]+)")


def as_script(text: str) -> str:
    """Return the script that a text represents, or the text if its language is unsupported."""
    if len(text) > _MOST_CHARACTERS:
        return text
    if "{{" in text or "<%" in text:
        text = _TEMPLATE.sub(_in_one_word, _STATEMENT.sub("", text))
    if _SHEBANG.match(text) or "fio" not in text:
        return text
    if _MAKEFILE.search(text):
        return "\n".join(_of_makefile(text))
    if _YAML_BEGIN.match(text) and _YAML.search(text) and not is_job_file(text):
        return "\n".join(_of_yaml(text.splitlines()))
    # A job file may have a comment of this form.
    if _BATCH.search(text) and not is_job_file(text):
        return "\n".join(_of_batch(text))
    return text


def _in_one_word(match: re.Match[str]) -> str:
    inner = re.sub(r"[\s'\":]+", "", match[1] or match[2])
    return f"{{{{{inner}}}}}"


def _of_makefile(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        variable = _MAKE_VARIABLE.fullmatch(line)
        shown = re.sub(r"\$\((\w+)\)", r"${\1}", line).replace("$$", "$")
        if variable:
            # The caller may override a variable that only has a default.
            is_fixed = variable[2] in {"", ":", "::"}
            yield f"{variable[1]}={shlex.quote(variable[3])}" if is_fixed else ""
        elif not _TARGET.match(line):
            yield shown.lstrip("\t@-")


def _of_batch(text: str) -> Iterator[str]:
    values: dict[str, str] = {}
    for raw in re.sub(r"\^\r?\n", " ", text).splitlines():
        line = _BATCH_VARIABLE.sub(
            lambda match: values.get(match[1].lower(), f"${{{match[1]}}}"), raw.lstrip(" \t@")
        )
        variable = _BATCH_SET.fullmatch(line)
        if variable:
            values[variable[2].lower()] = variable[3]
        elif not _BATCH_COMMENT.match(line):
            line = re.sub(r"%%(\w)\b", r"${\1}", line).replace("%%", "%")
            yield line.replace("\\", "\\\\")


def _of_yaml(lines: list[str]) -> Iterator[str]:
    """Yield the commands of containers and tasks, and job files before the calls that read them."""
    calls: list[str] = []
    words: list[str] = []
    place = 0
    while place < len(lines):
        line, place = lines[place].strip(), place + 1
        block, listed = _BLOCK.fullmatch(line), _LIST.fullmatch(line)
        if block:
            body, place = _indented(lines, place)
            is_folded = (block[2] or block[4]) == ">"
            if is_job_file(body) and block[1]:
                yield f"cat > {block[1]} <<'END_OF_{block[1]}'\n{body}\nEND_OF_{block[1]}"
            else:
                calls.append(" ".join(body.split()) if is_folded else body)
        elif listed and (listed[2].startswith("[") or not listed[2]):
            if listed[1] != "args":
                calls, words = [*calls, shlex.join(words)], []
            items, place = _items(lines, place, listed[2])
            # Items of a script are commands; items of a call are words.
            is_call = listed[1] not in {"script", "run"}
            words, calls = (words + items, calls) if is_call else (words, calls + items)
        elif (key := _KEY.match(line)) and "fio" in line[key.end() :]:
            calls.append(line[key.end() :].strip())
        elif line.startswith("- ") and re.search(r"\bfio\s", line):
            calls.append(line[2:].strip("\"' "))
    yield from (*calls, shlex.join(words))


def _indented(lines: list[str], place: int) -> tuple[str, int]:
    """Return the indented block below a line, and its end."""
    margin = len(lines[place - 1]) - len(lines[place - 1].lstrip("- "))
    margin -= lines[place - 1].lstrip().startswith(("- |", "- >"))
    end = place
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > margin
    ):
        end += 1
    return dedent("\n".join(lines[place:end])), end


def _items(lines: list[str], place: int, first: str) -> tuple[list[str], int]:
    """Return the items of a list that begins at a line or below it, and its end."""
    if first:
        while "]" not in first and place < len(lines):
            first, place = f"{first} {lines[place].strip()}", place + 1
        return [a or b or c for a, b, c in _WORD.findall(first.strip("[] "))], place
    items = []
    while place < len(lines) and lines[place].lstrip().startswith("- "):
        item, place = lines[place].strip(), place + 1
        if _BLOCK.fullmatch(item):
            item, place = _indented(lines, place)
            items.append(item)
        else:
            items.append(item[2:].strip().strip("\"'"))
    return items, place
