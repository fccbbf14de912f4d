"""Commands of a shell script, with the variables that it gives itself; nothing is run.

A variable is known where the script assigns it a text once, or again the same one, on each way to
the command. All others, parameters and the output of commands among them, stay as they stand.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# What a shell puts in place of a word that only a run can tell.
OPEN_WORD = re.compile(r"\$[A-Za-z_0-9@*#?$!{(-]|`|\{\{")
_MARK = re.compile(r"<<(?!<)(-?)\s*(?:'([^']+)'|\"([^\"]+)\"|\\?([A-Za-z_]\w*))")
# All elements of an array, each a word of its own also in quotes.
_ARRAY = re.compile(r"\"?\$\{(\w+)\[[@*]\]\}\"?")
_OPEN_ARRAY = re.compile(r"\s*(?:\w+\s+)?(?:-\w+\s+)?[A-Za-z_]\w*\+?=\([^)]*")
_REFERENCE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?[-=][^}]{0,1000})?\})")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
# Variables that are counted up, or read: no text that a script gives them is theirs for long.
_STEPPED = re.compile(
    r"\b(\w+)=[\"']?\$\(\(|\b(\w+)\+=|\(\(\s*(\w+)\s*(?:\+\+|--|[-+*/]?=[^=])|\blet\s+[\"']?(\w+)"
    r"|\bread\s+(?:-\w+\s+)*(\w+)|\bgetopts\s+\S+\s+(\w+)"
)
_OPENING, _CLOSING = {"if", "case", "while", "until", "for", "select", "{"}, {"fi", "esac", "done"}
_PASSED_OVER = {"then", "do", "else", "elif", "!", "time", "in"}
_DECLARING = {"export", "local", "readonly", "declare", "typeset"}
# Programs that run the commands of a word.
_RUNNING = {"ssh", "eval", "pdsh", "clush", "watch", "su"}
_PASSING_ON = {"cat", "tee", "sed", "envsubst", "sudo"}
_MOST_JOINED_LINES = 100
# Commands in commands, as in $(…) and `bash -c`: time may double with each level.
_DEEPEST = 8
# shlex takes time that grows with the square of a word's length.
_LONGEST_TO_SPLIT = 32 << 10


class ShellCommand(NamedTuple):
    """A simple command.

    Attributes:
        words: its words, quotes removed.
        is_repeated: it stands in a loop.
        is_sure: it runs whatever the script finds.
        document: text on its standard input, if the script gives it; None if not.
        exported: variables that the command sees.
        is_in_background: the script goes on while it runs.
    """

    words: tuple[str, ...]
    is_repeated: bool
    is_sure: bool
    document: str | None
    exported: dict[str, str]
    is_in_background: bool = False


class _Document(NamedTuple):
    """Here-document: its lines, and whether variables in it are replaced."""

    text: str
    is_literal: bool


@dataclass
class _Block:
    """Block that may not be run, or again and again: what was known before it, and what changed."""

    saved: dict[str, str]
    changed: set[str] = field(default_factory=set)
    is_loop: bool = False
    is_condition: bool = False


def documents_of(text: str) -> list[str]:
    """Return the here-documents of a script."""
    return [one.text for _, documents in _lines(text) for one in documents]


def commands_of(text: str) -> Iterator[ShellCommand]:
    """Yield the simple commands of a script in their order."""
    yield from _ScriptReader(text).commands()


class _ScriptReader:
    """Reader of a script, which knows what its variables hold at each command."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values: dict[str, str] = {}
        self._exported: set[str] = set()
        self._blocks: list[_Block] = []
        self._stepped = {one for found in _STEPPED.findall(text) for one in found if one}

    def commands(self) -> Iterator[ShellCommand]:
        yield from self._commands(self._text)

    def _commands(self, text: str, depth: int = 0) -> Iterator[ShellCommand]:
        if depth > _DEEPEST:
            return
        for line, documents in _lines(text):
            waiting = list(documents)
            piped: str | None = None
            segments = _scan(line)[0]
            array = ""
            for place, (before, raw) in enumerate(segments):
                after = segments[place + 1][0] if place + 1 < len(segments) else ""
                opened = [waiting.pop(0) for _ in range(min(len(waiting), len(_MARK.findall(raw))))]
                document = self._filled(opened[-1]) if opened else piped if before == "|" else None
                replaced = self._replaced(_MARK.sub(" ", raw))
                if array and before == "(":
                    self._set_array(array, replaced)
                    array = ""
                    continue
                for inner in _substituted(replaced):
                    yield from self._commands(inner, depth + 1)
                words = self._keywords(_split(replaced))
                is_sure = before not in {"&&", "||"}
                if words and after == "(" and _ASSIGNMENT.fullmatch(words[-1]):
                    array = words[-1]
                scripts = _scripts_in(words)
                for inner in scripts:
                    yield from self._commands(inner, depth + 1)
                if scripts:
                    continue
                self._assign(words, is_sure=is_sure and after != "(")
                if words:
                    command = self._command(words, document, is_sure=is_sure)
                    yield command._replace(is_in_background=after == "&")
                passes_on = bool(words) and words[0] in _PASSING_ON and after == "|"
                piped = document if passes_on else None

    def _command(self, words: list[str], document: str | None, *, is_sure: bool) -> ShellCommand:
        is_repeated = any(one.is_loop for one in self._blocks)
        is_sure = is_sure and not any(one.is_condition for one in self._blocks)
        exported = {one: self._values[one] for one in self._exported if one in self._values}
        own = list(words)
        while own and (found := _ASSIGNMENT.fullmatch(own[0])):
            exported[found[1]] = found[3]
            own.pop(0)
        return ShellCommand(tuple(own), is_repeated, is_sure, document, exported)

    def _keywords(self, words: list[str]) -> list[str]:
        """Return words without those of the shell's grammar, which open and close blocks."""
        while words:
            word = words[0]
            if word in _OPENING:
                is_loop = word in {"while", "until", "for", "select"}
                is_condition = word in {"if", "case"}
                self._blocks.append(
                    _Block(dict(self._values), is_loop=is_loop, is_condition=is_condition)
                )
                if word in {"for", "select"}:
                    self._begin_loop(words)
                    return []
                if word == "case":
                    return []
            elif word in _CLOSING or word == "}":
                self._close()
            elif word in {"else", "elif"} and self._blocks:
                self._values = dict(self._blocks[-1].saved)
            elif word not in _PASSED_OVER:
                return words
            words = words[1:]
        return words

    def _begin_loop(self, words: list[str]) -> None:
        """Take the variable of a loop, which is known if it has one value only."""
        if len(words) > 1:
            only = words[3] if len(words) == 4 and words[2] == "in" else "*"
            self._set(words[1], None if re.search(r"[*?\[{]", only) else only)

    def _close(self) -> None:
        if not self._blocks:
            return
        block = self._blocks.pop()
        kept = {one: text for one, text in block.saved.items() if one not in block.changed}
        self._values = kept
        if self._blocks:
            self._blocks[-1].changed |= block.changed

    def _assign(self, words: list[str], *, is_sure: bool) -> None:
        """Take what a command assigns, if it does nothing else."""
        if not words:
            return
        rest = words[1:] if words[0] in _DECLARING else words
        if words[0] == "export":
            self._exported |= {one.partition("=")[0] for one in rest}
        found = [_ASSIGNMENT.fullmatch(one) for one in rest if not one.startswith("-")]
        if words[0] not in _DECLARING and not all(found):
            return
        for one in found:
            if one is not None:
                is_text = is_sure and not one[2] and not OPEN_WORD.search(one[3])
                self._set(one[1], one[3] if is_text else None)

    def _set(self, name: str, text: str | None) -> None:
        if text is None or name in self._stepped or OPEN_WORD.search(text):
            self._values.pop(name, None)
        else:
            self._values[name] = text
        if self._blocks and self._values.get(name) != self._blocks[-1].saved.get(name):
            self._blocks[-1].changed.add(name)

    def _set_array(self, assignment: str, elements: str) -> None:
        """Take the elements of an array, or what is added to them."""
        name, adds, _ = assignment.partition("+=")
        name = f"{name.partition('=')[0]}[@]"
        earlier = self._values.get(name) if adds else ""
        self._set(name, None if earlier is None else f"{earlier} {elements}".strip())

    def _replaced(self, raw: str) -> str:
        """Return the text of a command with its variables, but for what stands in '...'."""
        raw = _ARRAY.sub(lambda found: self._values.get(f"{found[1]}[@]", found[0]), raw)
        parts = re.split(r"('[^']*')", raw)
        # An apostrophe within "..." is none that quotes.
        if raw.count('"') and any(part.count('"') % 2 for part in parts[::2]):
            return _REFERENCE.sub(self._value, raw)
        return "".join(
            part if place % 2 else _REFERENCE.sub(self._value, part)
            for place, part in enumerate(parts)
        )

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return self._values.get(name, f"${{{name}}}" if found[2] else f"${name}")

    def _filled(self, document: _Document) -> str:
        if document.is_literal:
            return document.text
        return _REFERENCE.sub(self._value, document.text).replace("\\$", "$")


def _lines(text: str) -> Iterator[tuple[str, list[_Document]]]:
    """Yield lines, continued ones joined, with the here-documents that follow them."""
    lines = text.splitlines()
    ends = {one.lstrip("\t") for one in lines}
    last_section = max((n for n, one in enumerate(lines) if one.lstrip()[:1] == "["), default=-1)
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        joined = 0
        while place < len(lines) and joined < _MOST_JOINED_LINES:
            if line.endswith("\\") and not line.endswith("\\\\"):
                line = f"{line[:-1]} {lines[place].lstrip()}"
            elif _OPEN_ARRAY.fullmatch(line):
                line += " " + re.sub(r"(^|\s)#.*", "", lines[place])
            elif _closes(line, lines[place : place + _MOST_JOINED_LINES]):
                line = f"{line}\n{lines[place]}"
            else:
                break
            place, joined = place + 1, joined + 1
        documents = []
        for found in _MARK.finditer(line):
            end = len(lines)
            if (found[2] or found[3] or found[4]) in ends:
                end = next((n for n in range(place, end) if _ends(lines[n], found)), end)
            # A shell takes a document without its end up to the end of the script.
            if end < len(lines) or place <= last_section:
                body = [one.lstrip("\t") if found[1] else one for one in lines[place:end]]
                is_literal = found[4] is None or f"\\{found[4]}" in found[0]
                documents.append(_Document("\n".join(body) + "\n", is_literal))
                place = end + 1
        yield line, documents


def _ends(line: str, mark: re.Match[str]) -> bool:
    return (line.lstrip("\t") if mark[1] else line) == (mark[2] or mark[3] or mark[4])


def _closes(line: str, following: list[str]) -> bool:
    """Return whether a quote that a line leaves open ends on one that follows."""
    quote = _scan(line)[1]
    return quote != "" and any(quote in one for one in following)


def _scan(line: str) -> tuple[list[tuple[str, str]], str]:
    """Return the commands of a line with their connectors, and the quote that stays open."""
    found: list[tuple[str, str]] = []
    connector, start, place, quote, depth = "", 0, 0, "", 0
    while place < len(line):
        char = line[place]
        if char == "\\" and quote != "'":
            place += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif line.startswith("$(", place) or (depth and char == "("):
            depth += 1
            place += char == "$"
        elif depth:
            depth -= char == ")"
        elif char == "#" and (place == 0 or line[place - 1] in " \t;&|("):
            end = line.find("\n", place)
            found.append((connector, line[start:place]))
            connector, start, place = ";", len(line), len(line) if end < 0 else end
            start = place
        elif char in ";&|()\n" and not _is_redirection(line, place):
            double = line[place : place + 2]
            length = 2 if double in {"&&", "||", ";;"} else 1
            found.append((connector, line[start:place]))
            connector, start = line[place : place + length], place + length
            place = start - 1
        place += 1
    found.append((connector, line[start:]))
    return found, quote


def _substituted(text: str) -> Iterator[str]:
    """Yield the commands whose output a text takes, outermost ones, without arithmetic."""
    closing, done = _closing_parentheses(text), 0
    for found in re.finditer(r"`([^`]*)`|\$\((?!\()", re.sub(r"'[^']*'", _blank, text)):
        if found.start() < done:
            continue
        if found[1] is not None:
            yield text[found.start(1) : found.end(1)]
        elif found.end() - 1 in closing:
            done = closing[found.end() - 1]
            yield text[found.end() : done]


def _closing_parentheses(text: str) -> dict[int, int]:
    """Return the place of the parenthesis that closes each one that is closed."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for place, char in enumerate(text):
        if char == "(":
            opened.append(place)
        elif char == ")" and opened:
            found[opened.pop()] = place
    return found


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _scripts_in(words: list[str]) -> list[str]:
    """Return the texts that a command runs as scripts, as `bash -c` and `ssh` do."""
    own = [one for one in words if one not in {"sudo", "nohup", "time", "exec"}]
    if own[:1] == ["eval"]:
        return [" ".join(own[1:])]
    behind_c = [
        text
        for shell, option, text in zip(words, words[1:], words[2:], strict=False)
        if re.fullmatch(r"-[a-z]*c", option) and re.search(r"(^|/)(\w*sh|su|root)$", shell)
    ]
    of_program = [one for one in own[1:] if " " in one] if own[:1] and own[0] in _RUNNING else []
    return behind_c or of_program


def _is_redirection(line: str, place: int) -> bool:
    """Return whether an ampersand is of 2>&1 or &>file."""
    return line[place] == "&" and (
        line[place - 1 : place] == ">" or line[place + 1 : place + 2] == ">"
    )


def _split(text: str) -> list[str]:
    """Return the words of a command; what a command prints stays one word."""
    # Possessive quantifiers, so that unclosed text is scanned only once.
    text = re.sub(r"\$\(\(?\s*+([^\s()]*+)(?:[^()]++|\([^()]*+\))*+\)?\)", r"$(\1)", text)
    text = re.sub(r"`\s*+([^\s`]*+)[^`]*+`", r"$(\1)", text)
    if len(text) > _LONGEST_TO_SPLIT:
        return text.split()
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed
        return text.split()
