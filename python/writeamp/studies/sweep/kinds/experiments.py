"""Sweep points that are experiments: simulations, timed or not, and lifetimes of drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from writeamp.devices.raid import files_of
from writeamp.devices.times import Changes
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Domain, as_ratio, shown
from writeamp.fields.setting import words_of
from writeamp.files import inputs
from writeamp.registry.declarations import default_victims
from writeamp.results.numbers import json_number
from writeamp.settings.experiment import Experiment, setting_places
from writeamp.settings.precondition import Precondition
from writeamp.settings.tables import moved
from writeamp.studies.endurance.lifetime import run_lifetime
from writeamp.studies.endurance.result import Endurance
from writeamp.studies.simulation import simulate_drive
from writeamp.studies.sweep.axes import Value
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds import comparisons
from writeamp.studies.sweep.kinds.kind import PointResult, PointTask, Table, digest, scalars_of
from writeamp.studies.sweep.kinds.specs import (
    KINDS,
    check_parameter,
    parameters_of,
    with_parameters,
)

# Prefix of axes that vary a value in the tables of a device profile.
_OF_DEVICE = "device."

# Results that rows have in columns of their own, or that differ between runs of one point.
_NOT_MEASURES = (
    "wa",
    "wa_ci95",
    "wa_of_replicas",
    "steady",
    "causes",
    "seed",
    "version",
    "elapsed_s",
    "host_pages_per_s",
    "flash_ops_per_s",
)


@dataclass(frozen=True)
class ExperimentKind:
    """Sweep points that are experiments of one function, such as `simulate`."""

    name: str
    titles: tuple[str, ...] = ("device", "load", "policy", "run")
    draws: bool = True

    def counts(self) -> tuple[str, ...]:
        """Return the names of the settings that are whole numbers."""
        return tuple(
            name
            for name, (kind, field_name) in setting_places(self.name).items()
            for field in fields(kind)  # type: ignore[arg-type]
            if field.name == field_name and words_of(field).number in ("count", "bytes")
        )

    def check_axis(self, name: str, where: str) -> None:
        """Reject an axis that is not a setting."""
        setting, dot, parameter = name.partition(".")
        places = setting_places(self.name)
        if dot and setting in KINDS and setting in places:
            check_parameter(setting, parameter, where)
        elif not (name in places or name.startswith(_OF_DEVICE)):
            valid = [
                *places,
                *(
                    f"{name_of_setting}.PARAMETER"
                    for name_of_setting in KINDS
                    if name_of_setting in places
                ),
            ]
            raise WriteampError(f"{where}: {unknown('axis', name, [*valid, 'device.TABLE.KEY'])}")

    def number_of(self, name: str, value: Value) -> Value:
        """Return a value of an axis; text of ratios and sizes is converted to a number."""
        if not isinstance(value, str):
            return value
        setting, dot, _ = name.partition(".")
        if dot:
            is_per_cent = setting in KINDS and value.endswith("%")
            return value if not is_per_cent else as_ratio(name, value)
        kind, field_name = setting_places(self.name)[name]
        field = next(field for field in fields(kind) if field.name == field_name)  # type: ignore[arg-type]
        if words_of(field).number not in ("ratio", "bytes"):
            return value
        domain: Domain = field.metadata["domain"]
        return domain.check(name, value)  # type: ignore[no-any-return]

    def template(
        self, tables: Table, folder: Path | None, first: Choice, where: str
    ) -> Callable[[Choice], PointTask]:
        """Return a function that converts the axes' values into a checked experiment."""
        source = Path() if folder is None else folder
        # Make paths absolute first, because policies in Python are imported from paths relative to
        # the file.
        placed = moved(dict(tables), source, None)
        try:
            completed = _completed(self.name, placed, _placed(self.name, first, source))
        except WriteampError as error:
            raise WriteampError(f"{where}: {error}") from None
        base = Experiment.from_dict(completed, verb=self.name, where=where)
        specs = _specs_of(placed)
        # The identity of a file is computed once, so that all points refer to the same content, and
        # a remote store is queried only once.
        identity_of = cache(inputs.identity)

        def task_of(choice: Choice) -> PointTask:
            changes = _changes(self.name, specs, base, _placed(self.name, choice, source))
            return _task(base.with_settings(**changes), identity_of)

        return task_of

    def run(self, settings: Table) -> PointResult:
        """Run the experiment, and return its result."""
        experiment = Experiment.from_dict(settings)
        if self.name == "endurance":
            return _result_of_lives(run_lifetime(experiment))
        if self.name == comparisons.VERB:
            return comparisons.result_of_row(experiment, _NOT_MEASURES)
        result = simulate_drive(experiment)
        low, high = result.ci
        # Theory is left out: it is a kind of points of its own, and may take longer than a short
        # run.
        document = result.to_dict(theory=False)
        return PointResult(
            wa=json_number(result.wa),
            wa_low=json_number(low),
            wa_high=json_number(high),
            steady=result.steady,
            causes=result.causes,
            measures=scalars_of(document, without=_NOT_MEASURES),
            warnings=tuple(result.warnings),
        )

    def columns(self, settings: Table) -> dict[str, Any]:
        """Return every setting that has a value, and every parameter of a spec."""
        columns: dict[str, Any] = {}
        for name, (kind, field_name) in setting_places(self.name).items():
            value = settings[kind.title].get(field_name)
            if name in KINDS:
                value = comparisons.alone(value)
            if value is not None:
                columns[name] = value
            if name in KINDS and value is not None:
                spec_parameters = parameters_of(name, value).items()
                columns |= {f"{name}.{parameter}": text for parameter, text in spec_parameters}
        return columns


def _completed(verb: str, tables: Table, first: Choice) -> dict[str, Any]:
    """Return the file's tables, completed by required settings that only axes have."""
    completed = {title: dict(table) if isinstance(table, Mapping) else table
             for title, table in tables.items()}  # fmt: skip
    for name, (kind, field_name) in setting_places(verb).items():
        field = next(field for field in fields(kind) if field.name == field_name)  # type: ignore[arg-type]
        table = completed.setdefault(kind.title, {})
        if not isinstance(table, dict):
            continue
        if words_of(field).required and name in first:
            table.setdefault(field_name, first[name])
        if verb == comparisons.VERB and name == "replicas":
            table.setdefault(field_name, 1)  # the sweep sets the number of replicas
        parameters = _parameters(name, first) if name in KINDS else {}
        if parameters and isinstance(comparisons.alone(table.get(field_name)), str):
            # If an axis varies the whole spec, the spec in the file is not used.
            if name in first and not words_of(field).required:
                del table[field_name]
            else:
                text = first.get(name, comparisons.alone(table[field_name]))
                table[field_name] = with_parameters(name, str(text), parameters)
    return completed


def _specs_of(tables: Table) -> dict[str, str]:
    """Return the specs in the file, which may lack parameters that axes state."""
    return {
        name: text
        for name in KINDS
        for table in tables.values()
        if isinstance(table, Mapping)
        and isinstance(text := comparisons.alone(table.get(name)), str)
    }


def _changes(
    verb: str, specs: Mapping[str, str], base: Experiment, choice: Choice
) -> dict[str, Any]:
    """Return the settings that the axes' values replace, by name; spec parameters come last."""
    places = setting_places(verb)
    changes: dict[str, Any] = {name: value for name, value in choice.items() if name in places}
    for setting in KINDS:
        parameters = _parameters(setting, choice)
        if parameters:
            text = changes.get(setting, specs.get(setting)) or _default(setting, changes, base)
            changes[setting] = with_parameters(setting, str(text), parameters)
    device_changes = {name.removeprefix(_OF_DEVICE): value for name, value in choice.items()
                 if name.startswith(_OF_DEVICE)}  # fmt: skip
    if device_changes:
        earlier_changes = changes.get("set") or base.device.set or ()
        changes["set"] = [*earlier_changes, *Changes().check("set", device_changes)]
    return changes


def _parameters(setting: str, choice: Choice) -> dict[str, Any]:
    prefix = f"{setting}."
    return {
        name.removeprefix(prefix): value
        for name, value in choice.items()
        if name.startswith(prefix)
    }


def _default(setting: str, changes: Mapping[str, Any], base: Experiment) -> str:
    """Return the default spec of a setting such as `workload`."""
    manager = changes.get("manager") or getattr(base.policy, "manager", "single")
    defaults = {
        "workload": "uniform",
        "manager": "single",
        "victims": default_victims(str(manager)),
    }
    if isinstance(getattr(base.policy, setting, getattr(base.load, setting, None)), tuple):
        raise WriteampError(
            f"{setting} is a list, so that an axis cannot vary a parameter of it; make {setting} "
            "an axis too"
        )
    if setting not in defaults:
        raise WriteampError(f"{setting} is not given, so that an axis cannot vary its parameters")
    return defaults[setting]


def _placed(verb: str, choice: Choice, source: Path) -> dict[str, Any]:
    """Return the values of axes, with paths relative to the file's folder made absolute."""
    places = setting_places(verb)
    field_of = {name: places[name][1] if name in places else name for name in choice}
    placed = moved({"": {field_of[name]: value for name, value in choice.items()}}, source, None)[
        ""
    ]
    return {name: placed[field_of[name]] for name in choice}


def _task(experiment: Experiment, identity_of: Callable[[str], str]) -> PointTask:
    if experiment.verb == comparisons.VERB:
        comparisons.check_one_row(experiment)
    if experiment.output_files:
        raise WriteampError(
            f"every point would write the Ready/Busy capture {experiment.output_files[0]}; omit "
            "rb_capture in a sweep"
        )
    settings = experiment.to_dict()
    if experiment.load.trace is not None:
        # A recorded trace has settings of its drive, which replace defaults, so the settings are
        # completed by it.
        experiment = Experiment.from_dict(settings)
        settings = experiment.to_dict()
    traces = {name: identity_of(name) for name in _traces_of(experiment)}

    def with_traces(its_hash: str) -> str:
        return digest([its_hash, *traces.values()]) if traces else its_hash

    return PointTask(
        settings=settings,
        hash=with_traces(experiment.hash),
        study=with_traces(experiment.hash_without_seed),
        seed=experiment.run.seed,
        files=traces | {name: identity_of(name) for name in _profiles_in(settings)},
    )


def _profiles_in(settings: Table) -> tuple[str, ...]:
    profile = settings["device"].get("profile")
    return files_of(profile) if isinstance(profile, str) else ()


def _traces_of(experiment: Experiment) -> tuple[str, ...]:
    """Return the files of the replayed trace, and of the trace that ages the drive."""
    trace = experiment.load.trace
    if trace is None or isinstance(trace, str):
        earlier = Precondition.of(experiment.load.precondition).trace
        return tuple(dict.fromkeys(path for path in (trace, earlier) if path is not None))
    raise WriteampError(
        f"load.trace is {shown(trace)}, which is in memory, but a sweep needs traces in files; "
        "write it by writeamp.traces.write"
    )


def _result_of_lives(result: Endurance) -> PointResult:
    low, high = result.ci
    return PointResult(
        wa=json_number(result.wa),
        wa_low=json_number(low),
        wa_high=json_number(high),
        causes=result.causes,
        measures=_with_intervals(result),
    )


def _with_intervals(result: Endurance) -> dict[str, Any]:
    measures = scalars_of(result.to_dict(), without=_NOT_MEASURES)
    for name, interval in (
        ("pe_fairness", result.pe_fairness_ci95),
        ("endurance_full_drive_writes", result.endurance_ci95),
    ):
        for end, value in zip(("low", "high"), interval, strict=True):
            if json_number(value) is not None:
                measures[f"{name}_{end}"] = value
    return measures
