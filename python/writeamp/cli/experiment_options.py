"""Options of the subcommands that run an experiment, made from its settings."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import findings
from writeamp.cli.setting_options import described, given_values, naming_options, setting_parameters
from writeamp.devices.device import device
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.settings.experiment import Experiment, setting_places

_File = Annotated[
    Path | None,
    typer.Argument(
        help="A file with the settings of an experiment; options of the command override them.",
        metavar="EXPERIMENT.toml",
        show_default=False,
    ),
]
_Trace = Annotated[
    Path,
    typer.Argument(
        help="Trace file, or - for standard input.", metavar="TRACE", show_default=False
    ),
]
_SaveConfig = Annotated[
    Path | None,
    typer.Option(
        "--save-config",
        help="Also write the experiment, with all options and defaults, to this .toml file.",
        metavar="FILE",
    ),
]


def register_experiment(
    app: typer.Typer,
    body: Callable[..., None],
    *,
    verb: str | None = None,
    without: Collection[str] = (),
    of_trace: bool = False,
) -> None:
    """Add a subcommand that runs an experiment; its name is the name of `body`.

    Args:
        app: the command line.
        body: function that runs the subcommand. It takes the experiment, and the subcommand's own
            options as keyword arguments.
        verb: "simulate", "compare" or "endurance": the function whose settings the experiment has;
            by default the name of `body`.
        without: settings of the experiment for which the subcommand has no option.
        of_trace: whether the argument of the subcommand is a trace instead of an experiment.
    """
    verb = verb or body.__name__
    places = {name: place for name, place in setting_places(verb).items() if name not in without}
    settings = setting_parameters(places)
    own = list(inspect.signature(body, eval_str=True).parameters.values())[1:]

    @wraps(body)
    def command(experiment: Path | None, save_config: Path | None, **arguments: Any) -> None:
        changes = given_values(
            {parameter.name: arguments.pop(parameter.name) for parameter in settings}
        )
        if of_trace:
            experiment, changes = None, changes | {"trace": experiment}
        with naming_options(places, changes):
            complete = _experiment(verb, experiment, changes)
            _check_outputs(complete, experiment, save_config, arguments)
            if save_config is not None:
                complete.to_toml(save_config)
            _find_mistakes(complete)
            body(complete, **arguments)

    parameters = [
        _own("experiment", _Trace, required=True) if of_trace else _own("experiment", _File),
        *settings,
        *own,
        _own("save_config", _SaveConfig),
    ]
    app.command(body.__name__)(described(command, parameters, [places]))


def _find_mistakes(experiment: Experiment) -> None:
    """Report mistakes in the fio jobs of an experiment before they are run."""
    load, settings = experiment.load, experiment.device
    if load.fio_name is not None:
        capacity = settings.capacity or device(settings.base, **settings.overrides()).capacity_bytes
        findings.of_fio(load.fio, load.fio_run, capacity)


def _own(name: str, annotation: Any, *, required: bool = False) -> inspect.Parameter:
    default = inspect.Parameter.empty if required else None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _experiment(verb: str, file: Path | None, changes: dict[str, Any]) -> Experiment:
    """Return the experiment of the file, changed by options, or without a file of the options."""
    if file is None:
        return Experiment.of(verb, **changes)
    try:
        experiment = Experiment.from_toml(file, verb=verb, to_run=True)
    except WriteampError as error:
        error.args = (f"{error}{_other_kind(verb, file)}",)
        raise
    return experiment.with_settings(**changes)


def _other_kind(verb: str, file: Path) -> str:
    """Return a hint for a file that is not an experiment: its kind, and the subcommand to use."""
    if file.suffix.lower() == ".toml" or not file.exists():
        return ""
    is_fio = file.suffix.lower() == ".fio"
    reader = f"; for fio jobs, use `writeamp doctor {shlex.quote(str(file))}`" if is_fio else ""
    return f"; {verb} takes an experiment, a .toml file{reader}"


def _check_outputs(
    experiment: Experiment, file: Path | None, save_config: Path | None, arguments: dict[str, Any]
) -> None:
    """Reject an output path that is also an input or another output.

    Every path in `arguments` (the subcommand's own options) is treated as a picture to save.
    """
    job = experiment.load.fio
    inputs = [*experiment.input_files, *(str(path) for path in (file, job) if path is not None)]
    outputs = {"plot": [path for path in arguments.values() if isinstance(path, Path)]}
    outputs["capture"] = list(map(Path, experiment.output_files))
    outputs["experiment"] = [] if save_config is None else [save_config]
    for kind, paths in outputs.items():
        for path in paths:
            output.check_target(path, kind, inputs=inputs)
    output.check_distinct(path for paths in outputs.values() for path in paths)
