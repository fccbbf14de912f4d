"""Typer application that refuses repeated options and explains misspelt ones."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from writeamp.cli.notes import with_verbose
from writeamp.cli.report_option import with_report
from writeamp.errors import WriteampError

_SEVERAL = ("texts", "paths")
# What names of files and folders are called in help.
_PATHS = {"FILE", "DIR", "FOLDER", "PATH", "SNAP", "INPUT", "SOURCE", "TRACE", "MODEL", "PAGE"}
# What other tools and data sheets call what an option here says; the first that a verb has counts.
_OTHER_WORDS = {
    "pe-cycles": ("w-max",),
    "erase-cycles": ("w-max",),
    "endurance": ("w-max",),
    "over-provisioning": ("op",),
    "spare": ("op",),
    "policy": ("managers", "manager", "victims"),
    "gc": ("victims",),
    "runtime": ("time", "writes"),
    "duration": ("time", "writes"),
    "output": ("out", "keep", "plot"),
    "jobs": ("threads",),
    "workers": ("threads",),
}
# Two letters exchanged in a word of four are this much alike.
_ALIKE = 0.75
_MOST = 3


class _OnceCommand(TyperCommand):
    """A command that refuses a second value, of which typer would silently take the last."""

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser, which looks at what it found."""
        parser = super().make_parser(ctx)
        for one in self.params:
            # The older word for a folder of runs, which help does not show.
            if isinstance(one, TyperOption) and "--keep" in one.opts:
                parser.add_option(obj=one, opts=["--out"], dest=one.name, action="store", nargs=1)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            try:
                found = parse(args=args)
            except typer.TyperException as error:
                known = vars(error)
                if "possibilities" not in known:
                    raise
                raise no_such_option(_verb(ctx), known["option_name"], _flags(ctx)) from None
            if not ctx.resilient_parsing:
                _refuse_twice(_verb(ctx), found[2])
                _refuse_empty(ctx.command.get_params(ctx), found[0])
            return found

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser


class App(typer.Typer):
    """A typer whose commands take one value of an option, unless it is said to have several."""

    def command(self, name: str | None = None, **how: Any) -> Callable[[Any], Any]:
        """Return a decorator that adds a function as a command, with `--report` if it has one."""

        def add(body: Any) -> Any:
            asked: dict[str, Any] = {
                "cls": _OnceCommand,
                "help": _paragraphs(inspect.getdoc(body) or ""),
            } | how
            return super(App, self).command(name, **asked)(with_verbose(with_report(body)))

        return add


def _paragraphs(text: str) -> str:
    """Return a docstring whose paragraphs the terminal breaks; a line of an example stays one."""
    return re.sub(r"(?<!\n)\n(?![\s]|Example)", " ", text)


def _flags(ctx: Any) -> list[str]:
    """Return the names of all options of a command."""
    options = [one for one in ctx.command.get_params(ctx) if isinstance(one, TyperOption)]
    return [flag for one in options if not one.hidden for flag in (*one.opts, *one.secondary_opts)]


def _verb(ctx: Any) -> str:
    """Return the words after the name of the program."""
    if ctx.parent is None:
        return ""
    return f"{_verb(ctx.parent)} {ctx.info_name}".strip()


def _refuse_twice(verb: str, given: list[Any]) -> None:
    """Refuse options that take one value and are given several."""
    for option, times in Counter(given).items():
        takes_one = isinstance(option, TyperOption) and not (option.multiple or option.count)
        # A flag without an opposite says the same twice.
        says_one = takes_one and (not option.is_flag or option.secondary_opts)
        if says_one and times > 1:
            flag = max(option.opts, key=len)
            named = "--keep (or --out, its older name)" if flag == "--keep" else flag
            raise WriteampError(f"{named} is given {_times(times)}; {_who(verb, flag)}")


def _refuse_empty(parameters: list[Any], given: dict[str, Any]) -> None:
    """Refuse an empty name of a file, which means the current folder to Path."""
    for one in parameters:
        value = given.get(one.name)
        several = value if isinstance(value, list | tuple) else (value,)
        if "" in several and _PATHS.intersection(re.findall("[A-Z]+", one.metavar or "")):
            name = max(one.opts, key=len) if isinstance(one, TyperOption) else "the name"
            raise WriteampError(f"{name} is empty; give {one.metavar}")


def _times(times: int) -> str:
    return "twice" if times == 2 else f"{times} times"


def _who(verb: str, flag: str) -> str:
    """Return a clause that says which verb takes how many of an option."""
    from writeamp.settings.experiment import VERBS  # noqa: PLC0415 (slow)

    by_compare = ""
    if verb in VERBS:
        several = [name for name in (flag, f"{flag}s") if name in _several_of("compare")]
        as_named = f" as {several[0]}" if several and several[0] != flag else ""
        by_compare = f", compare takes several{as_named}" if several else ""
    return f"{verb} takes one{by_compare}"


def _several_of(verb: str) -> set[str]:
    """Return the options that a verb takes several of."""
    from writeamp.fields.setting import words_of  # noqa: PLC0415
    from writeamp.settings.experiment import setting_places  # noqa: PLC0415 (slow)

    places = setting_places(verb).items()
    return {
        f"--{name.replace('_', '-')}"
        for name, (kind, field) in places
        if words_of(kind.__dataclass_fields__[field]).number in _SEVERAL  # type: ignore[attr-defined]
    }


def no_such_option(verb: str, given: str, valid: Iterable[str]) -> WriteampError:
    """Return the error for an option that a verb has not, with those that may be meant."""
    meant = options_like(given, valid)
    if not meant:
        return WriteampError(f"No such option: {given}; writeamp {verb} --help has all")
    return WriteampError(f"No such option: {given} (did you mean {' or '.join(meant)}?)")


def options_like(given: str, valid: Iterable[str]) -> list[str]:
    """Return the likeliest options: spelled alike, called so elsewhere, or of the same words.

    >>> options_like("--pe-cycle", ["--w-max", "--map-cache", "--page-bytes"])
    ['--w-max']
    >>> options_like("--blcoks", ["--blocks", "--logical-blocks"])
    ['--blocks']
    >>> options_like("--pages", ["--op", "--pages-per-block", "--page-bytes"])
    ['--pages-per-block', '--page-bytes']
    """
    names = [one.removeprefix("--") for one in valid if one.startswith("--")]
    name = given.removeprefix("--").lower().replace("_", "-")
    scores = {one: _alike(name, one) for one in names}
    for other, options in _OTHER_WORDS.items():
        option = next((one for one in options if one in scores), None)
        if option is not None:
            scores[option] = max(scores[option], _alike(name, other))
    best = sorted((one for one in names if scores[one] >= _ALIKE), key=lambda one: -scores[one])
    words = name.split("-")
    of_words = [one for one in names if _singular(words) & _singular(one.split("-"))]
    return [f"--{one}" for one in list(dict.fromkeys(best or of_words))[:_MOST]]


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.replace("-", ""), other.replace("-", "")).ratio()


def _singular(words: Iterable[str]) -> set[str]:
    return {word.removesuffix("s") for word in words}
