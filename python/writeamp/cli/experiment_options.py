"""The options of the verbs that do an experiment, made from its settings."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli.setting_options import asked, described, naming_options, setting_parameters
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.settings.experiment import Experiment, setting_places

_File = Annotated[
    Path | None,
    typer.Argument(
        help="A file with an experiment; options change what it says.",
        metavar="EXPERIMENT.toml",
        show_default=False,
    ),
]
_SaveConfig = Annotated[
    Path | None,
    typer.Option(
        "--save-config", help="Write the complete experiment to a .toml file.", metavar="FILE"
    ),
]


def register_experiment(
    app: typer.Typer,
    body: Callable[..., None],
    *,
    verb: str | None = None,
    without: Collection[str] = (),
) -> None:
    """Add the verb that `body` is called.

    Args:
        app: the command line.
        body: takes the experiment, and by keyword the options of its own.
        verb: whose experiment it takes; by default its own.
        without: settings of that verb that it has no options for.
    """
    verb = verb or body.__name__
    places = {name: one for name, one in setting_places(verb).items() if name not in without}
    settings = setting_parameters(places)
    own = list(inspect.signature(body, eval_str=True).parameters.values())[1:]

    @wraps(body)
    def command(experiment: Path | None, save_config: Path | None, **given: Any) -> None:
        changes = asked({one.name: given.pop(one.name) for one in settings})
        with naming_options(places, changes):
            found = _experiment(verb, experiment, changes)
            _check_outputs(found, experiment, save_config, given)
            if save_config is not None:
                found.to_toml(save_config)
            body(found, **given)

    parameters = [
        _own("experiment", _File),
        *settings,
        *own,
        _own("save_config", _SaveConfig),
    ]
    app.command(body.__name__)(described(command, parameters, [places]))


def _own(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _experiment(verb: str, file: Path | None, given: dict[str, Any]) -> Experiment:
    """Return the file's experiment as the options that are given change it."""
    if file is None:
        return Experiment.of(verb, **given)
    try:
        found = Experiment.from_toml(file, verb=verb, to_run=True)
    except WriteampError as error:
        error.args = (f"{error}{_other_kind(verb, file)}",)
        raise
    return found.with_settings(**given)


def _other_kind(verb: str, file: Path) -> str:
    """Return what a verb takes, for who gave it another kind of file, and who takes that."""
    if file.suffix.lower() == ".toml" or not file.exists():
        return ""
    is_fio = file.suffix.lower() == ".fio"
    reader = f"; `writeamp doctor {shlex.quote(str(file))}` reads fio's jobs" if is_fio else ""
    return f"; {verb} takes an experiment, which is a .toml file{reader}"


def _check_outputs(
    found: Experiment, file: Path | None, save_config: Path | None, given: dict[str, Any]
) -> None:
    """Refuse an output that is an input or another output; what a verb takes as paths is drawn."""
    inputs = [*found.input_files, *([] if file is None else [str(file)])]
    outputs = {"plot": [path for path in given.values() if isinstance(path, Path)]}
    outputs["capture"] = list(map(Path, found.output_files))
    outputs["experiment"] = [] if save_config is None else [save_config]
    for what, paths in outputs.items():
        for path in paths:
            output.check_target(path, what, inputs=inputs)
    output.check_distinct(path for paths in outputs.values() for path in paths)
