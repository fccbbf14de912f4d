"""Typer application that rejects repeated options, and suggests names for unknown options."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from writeamp.cli.cite_option import group_with_cite, with_cite
from writeamp.cli.findings import with_own_findings
from writeamp.cli.light_typer import import_help, verb_of, without_early_adapters
from writeamp.cli.notes import with_verbose
from writeamp.cli.report_option import with_report
from writeamp.errors import WriteampError
from writeamp.fields.old_names import OPTIONS

_SEVERAL = ("texts", "paths")
# Metavars (value placeholders in the help) of options whose values are paths. An empty value of
# these options is rejected.
_PATHS = {"FILE", "DIR", "FOLDER", "PATH", "SNAP", "INPUT", "SOURCE", "TRACE", "MODEL", "PAGE"}
# Names that other tools and data sheets use, with our options for the same thing. The first option
# that the subcommand has is suggested.
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
# Names that are less similar than this are not suggested. It is the similarity of two words of four
# letters that differ by one exchange of two letters, such as `data` and `dtaa`.
_LEAST_SIMILARITY = 0.75
_MOST = 3


class _OnceCommand(TyperCommand):
    """Command that rejects a repeated option, where typer would silently use the last value."""

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser, which checks the parsed options."""
        parser = super().make_parser(ctx)
        options = [option for option in self.params if isinstance(option, TyperOption)]
        for option in options:
            action = "append" if option.multiple else "store"
            for older in _older_options(option):
                parser.add_option(obj=option, opts=[older], dest=option.name, action=action)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            if not ctx.resilient_parsing:
                _refuse_spaces(options, args)
            try:
                parsed = parse(args=args)
            except typer.TyperException as error:
                details = vars(error)
                if "possibilities" not in details:
                    raise
                raise no_such_option(verb_of(ctx), details["option_name"], _flags(ctx)) from None
            if not ctx.resilient_parsing:
                _refuse_twice(verb_of(ctx), parsed[2])
                _refuse_empty(ctx.command.get_params(ctx), parsed[0])
            return parsed

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; the help of an argument with a metavar shows no Python type."""
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            if isinstance(parameter, TyperArgument) and parameter.metavar is not None:
                parameter.display_type_rich = _no_type  # type: ignore[method-assign]
        return without_early_adapters(parameters)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        import_help()
        super().format_help(ctx, formatter)


class App(typer.Typer):
    """Typer whose options take one value, unless they are declared to take several."""

    def command(self, name: str | None = None, **how: Any) -> Callable[[Any], Any]:
        """Return a decorator that adds a function as a command with the common options."""

        def add(body: Any) -> Any:
            settings: dict[str, Any] = {
                "cls": _OnceCommand,
                "help": _paragraphs(inspect.getdoc(body) or ""),
            } | how
            complete = with_cite(with_verbose(with_report(with_own_findings(body))))
            return super(App, self).command(name, **settings)(complete)

        return add

    def add_typer(self, typer_instance: typer.Typer, **how: Any) -> None:
        """Add a group of commands, whose only own option is `--cite`."""
        super().add_typer(typer_instance, callback=group_with_cite(), **how)


def _no_type(ctx: Any) -> None:
    """Return no text for the column of types in the help."""


def _older_options(option: TyperOption) -> list[str]:
    """Return the older names of an option, which the help does not show."""
    return [OPTIONS[flag] for flag in option.opts if flag in OPTIONS]


def _paragraphs(text: str) -> str:
    """Return a docstring with the lines of each paragraph joined; examples keep their lines."""
    return re.sub(r"(?<!\n)\n(?![\s]|Example)", " ", text)


def _flags(ctx: Any) -> list[str]:
    """Return the names of all visible options of a command."""
    options = [option for option in ctx.command.get_params(ctx) if isinstance(option, TyperOption)]
    return [
        flag
        for option in options
        if not option.hidden
        for flag in (*option.opts, *option.secondary_opts)
    ]


def _refuse_twice(verb: str, options: list[Any]) -> None:
    """Reject an option that takes one value but is given several times."""
    for option, times in Counter(options).items():
        takes_one = isinstance(option, TyperOption) and not (option.multiple or option.count)
        # A flag without an opposite (`--no-…`) may be repeated, since that has no further effect.
        is_ambiguous = takes_one and (not option.is_flag or option.secondary_opts)
        if is_ambiguous and times > 1:
            flag = max(option.opts, key=len)
            older = _older_options(option)
            name = f"{flag} (or {older[0]}, its older name)" if older else flag
            raise WriteampError(f"{name} is given {_times(times)}; {_allowed(verb, flag)}")


def _refuse_spaces(options: list[TyperOption], args: list[str]) -> None:
    """Reject specs after an option that are separated by spaces, as in `--managers a b`."""
    for option in options:
        for flag in {*option.opts} & {*args} if "SPEC,SPEC" in (option.metavar or "") else ():
            specs = list(takewhile(_is_spec, args[args.index(flag) + 1 :]))
            if len(specs) > 1:
                raise WriteampError(
                    f"{flag} has {len(specs)} values separated by spaces; separate them by commas: "
                    f"{flag} {','.join(specs)}"
                )


def _is_spec(word: str) -> bool:
    """Return whether a word is the spec of a policy or workload of writeamp."""
    from writeamp.registry.entries import engine_entries  # noqa: PLC0415 (slow)

    name = re.split("[:(,]", word, maxsplit=1)[0]
    return any(
        name == entry.name
        for kind in ("managers", "victims", "workloads")
        for entry in engine_entries(kind)
    )


def _refuse_empty(parameters: list[Any], values: dict[str, Any]) -> None:
    """Reject an empty file name, which `Path` would interpret as the current folder."""
    for parameter in parameters:
        value = values.get(parameter.name)
        several = value if isinstance(value, list | tuple) else (value,)
        if "" in several and _PATHS.intersection(re.findall("[A-Z]+", parameter.metavar or "")):
            name = (
                max(parameter.opts, key=len) if isinstance(parameter, TyperOption) else "the name"
            )
            raise WriteampError(f"{name} is empty; give {parameter.metavar}")


def _times(times: int) -> str:
    return "twice" if times == 2 else f"{times} times"


def _allowed(verb: str, flag: str) -> str:
    """Return the sentence that an option may be given once.

    If `compare` accepts several values of it, the sentence has this as a hint.
    """
    from writeamp.settings.experiment import VERBS  # noqa: PLC0415 (slow)

    by_compare = ""
    if verb in VERBS:
        several = [name for name in (flag, f"{flag}s") if name in _several_of("compare")]
        as_named = f" as {several[0]}" if several and several[0] != flag else ""
        by_compare = f" (compare takes several{as_named})" if several else ""
    return f"{verb} takes it once{by_compare}"


def _several_of(verb: str) -> set[str]:
    """Return the options that a subcommand accepts several times."""
    from writeamp.fields.setting import words_of  # noqa: PLC0415
    from writeamp.settings.experiment import setting_places  # noqa: PLC0415 (slow)

    places = setting_places(verb).items()
    return {
        f"--{name.replace('_', '-')}"
        for name, (kind, field) in places
        if words_of(kind.__dataclass_fields__[field]).number in _SEVERAL  # type: ignore[attr-defined]
    }


def example_of(ctx: Any) -> str:
    """Return the example in the help of a context's command as a hint, or ""."""
    example = re.search(r"Example: (writeamp .*)", (ctx and ctx.command.help) or "")
    return f" For example: {example[1]}" if example else ""


def no_such_option(verb: str, flag: str, valid: Iterable[str]) -> WriteampError:
    """Return the error for an unknown option, with the names most similar to it."""
    likely = options_like(flag, valid)
    if not likely:
        return WriteampError(f"No such option: {flag}; `writeamp {verb} --help` lists all options")
    return WriteampError(f"No such option: {flag} (did you mean {' or '.join(likely)}?)")


def options_like(flag: str, valid: Iterable[str]) -> list[str]:
    """Return the most likely options: similar names, other tools' names, or shared words.

    >>> options_like("--pe-cycle", ["--w-max", "--map-cache", "--page-bytes"])
    ['--w-max']
    >>> options_like("--blcoks", ["--blocks", "--logical-blocks"])
    ['--blocks']
    >>> options_like("--pages", ["--op", "--pages-per-block", "--page-bytes"])
    ['--pages-per-block', '--page-bytes']
    """
    names = [option.removeprefix("--") for option in valid if option.startswith("--")]
    name = flag.removeprefix("--").lower().replace("_", "-")
    scores = {other: _similarity(name, other) for other in names}
    for other, options in _OTHER_WORDS.items():
        option = next((own for own in options if own in scores), None)
        if option is not None:
            scores[option] = max(scores[option], _similarity(name, other))
    best = sorted(
        (option for option in names if scores[option] >= _LEAST_SIMILARITY),
        key=lambda option: -scores[option],
    )
    words = name.split("-")
    of_words = [option for option in names if _singular(words) & _singular(option.split("-"))]
    return [f"--{option}" for option in list(dict.fromkeys(best or of_words))[:_MOST]]


def _similarity(word: str, other: str) -> float:
    return SequenceMatcher(None, word.replace("-", ""), other.replace("-", "")).ratio()


def _singular(words: Iterable[str]) -> set[str]:
    return {word.removesuffix("s") for word in words}
