"""One experiment as one value: the drive, its load, its policy, and how it is run.

`writeamp.simulate`, `compare` and `endurance` and their verbs on the command line make one from
their arguments; a file holds one (docs/experiments.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import tomli_w

from writeamp._engine import Load as EngineLoad
from writeamp.devices import toml_text
from writeamp.devices.candidates import Candidates
from writeamp.devices.device import device, profile_op
from writeamp.devices.raid import files_of
from writeamp.errors import WriteampError, unknown, unknown_argument
from writeamp.fields.arguments import checked
from writeamp.fields.domains import shown
from writeamp.fields.setting import Places, Settings, by_group, places_in, words_of
from writeamp.files import output
from writeamp.files.inputs import STANDARD_INPUT
from writeamp.registry.declarations import default_victims
from writeamp.registry.specs import Spec, unread_policies
from writeamp.settings.argument_mixups import check_mixups
from writeamp.settings.compared import LoadsSettings, PoliciesSettings
from writeamp.settings.device import DeviceSettings
from writeamp.settings.learnt import replaced_by, with_candidates
from writeamp.settings.precondition import Precondition
from writeamp.settings.recorded import with_recorded
from writeamp.settings.settings import (
    ComparisonSettings,
    EnduranceSettings,
    LoadSettings,
    PolicySettings,
    RunSettings,
    SimulationSettings,
)
from writeamp.settings.tables import moved, plain, settings_of, table_of
from writeamp.settings.timed import TimedSettings

_Path: TypeAlias = str | Path
_S = TypeVar("_S", bound=Settings)

_RUNS: dict[str, type[RunSettings]] = {
    kind.verb: kind for kind in (SimulationSettings, ComparisonSettings, EnduranceSettings)
}
VERBS = tuple(_RUNS)


@checked
@dataclass(frozen=True)
class Experiment:
    """One experiment: a drive, its load, its policies, and how it is run and measured.

    The type of `run` says which of `writeamp.simulate`, `compare` and `endurance` it is for;
    `writeamp.run` calls that. The value can be pickled and compared; a trace is held as its path
    and how to read it, or, if it was given in memory, as itself and a digest.

    >>> import writeamp as wa
    >>> experiment = wa.Experiment.of("simulate", workload="zipf:s=0.99", op=0.15, writes=100_000)
    >>> experiment.load.workload.params["s"]
    '0.99'
    >>> experiment.with_settings(seed=2).run.seed
    2
    >>> experiment.hash == wa.Experiment.of(
    ...     "simulate", workload="zipf(s=9.9e-1)", op=0.15, writes=100_000, seed=1
    ... ).hash
    True
    """

    device: DeviceSettings
    load: LoadSettings
    policy: PolicySettings | PoliciesSettings
    run: RunSettings
    candidates: Candidates | None = None
    """What the drive may be, where its profile was learnt from a real one: see `wa.twin`."""

    def __post_init__(self) -> None:
        """Refuse a policy that the run is not for."""
        wanted = _policy_type(type(self.run))
        if not isinstance(self.policy, wanted):
            raise WriteampError(f"{self.verb} takes its policy as {wanted.__name__}")
        if type(self.load) is not _load_type(type(self.run)):
            given = {one.name: getattr(self.load, one.name) for one in fields(self.load)}
            object.__setattr__(self, "load", _load_type(type(self.run))(**given))
        for one in fields(self.load):
            idle = self.verb in words_of(one).not_for
            if idle and getattr(self.load, one.name) != one.default:
                raise WriteampError(f"{one.name} is not for {self.verb}; leave it out")
        if self.device.capacity is not None:
            self._check_capacity()

    @property
    def verb(self) -> str:
        """Name of the measurement that it is for: "simulate", "compare" or "endurance"."""
        return self.run.verb

    @staticmethod
    def of(verb: str, **settings: Any) -> Experiment:
        """Return an experiment from keyword arguments, those of `writeamp.simulate` and the like.

        Args:
            verb: "simulate", "compare" or "endurance".
            settings: by name; what is left out, or None where there is no default, has its default.

        Raises:
            WriteampError: an unknown verb, a value outside its domain, or values that contradict
                each other.
            TypeError: an argument that the verb has not.
        """
        kinds = setting_types(verb)
        given = by_group(verb, kinds, setting_places(verb), settings)
        check_mixups(settings)
        values, candidates = with_candidates(verb, with_recorded(verb, given))
        made = [kind(**values[kind.title]) for kind in kinds]
        return Experiment(*made, candidates=candidates)  # type: ignore[arg-type, misc]

    def with_settings(self, **settings: Any) -> Experiment:
        """Return the experiment with some settings replaced, named as in `of`.

        One that excludes others (`op` and `fill`, `blocks` and `logical_pages`, `workload` and
        `trace`) replaces them.
        """
        places = setting_places(self.verb)
        changes: dict[type[Settings], dict[str, Any]] = {}
        for name, value in settings.items():
            if name not in places:
                raise unknown_argument("with_settings", name, places)
            kind, field_name = places[name]
            changes.setdefault(kind, {})[field_name] = value
        parts = [self.device, self.load, self.policy, self.run]
        changed = [_changed(part, changes.get(type(part), {})) for part in parts]
        of_all = {
            name: one
            for name, one in settings.items()
            if self.verb != "compare" or name != "victims"
        }
        candidates = replaced_by(self.candidates, of_all)
        return Experiment(*changed, candidates=candidates)  # type: ignore[arg-type, misc]

    def to_dict(self) -> dict[str, Any]:
        """Return the complete experiment as JSON types; settings without a value are left out."""
        parts = (self.device, self.load, self.policy, self.run)
        return {"verb": self.verb} | {part.title: table_of(part) for part in parts}

    @staticmethod
    def from_dict(
        tables: Mapping[str, Any], *, verb: str | None = None, where: str = "experiment"
    ) -> Experiment:
        """Return the experiment that `to_dict` gave; what is left out has its default.

        Args:
            tables: the verb and a table for each of device, load, policy and run.
            verb: what it must be for; needed if the tables do not say.
            where: what it was read from, for errors.

        Raises:
            WriteampError: an unknown key or a value outside its domain, with the place of it.
        """
        if not isinstance(tables, Mapping):
            raise WriteampError(f"{where} is {shown(tables)}; it must be a table of settings")
        found = tables.get("verb", verb)
        if found is None:
            raise WriteampError(f"{where}: verb is missing; valid: {', '.join(VERBS)}")
        if verb is not None and found != verb:
            raise WriteampError(f"{where}:verb is {shown(found)}; it must be {verb!r} here")
        if not isinstance(found, str) or found not in _RUNS:
            raise WriteampError(f"{where}:verb: {unknown('verb', str(found), VERBS)}")
        kinds = setting_types(found)
        known = ["verb", *(kind.title for kind in kinds)]
        for key in tables:
            if key not in known:
                raise WriteampError(f"{where}:{key}: {unknown('key', key, known)}")
        given = {kind.title: tables.get(kind.title, {}) for kind in kinds}

        def parts(values: Mapping[str, Any]) -> list[Settings]:
            return [
                settings_of(kind, values[kind.title], where=f"{where}:{kind.title}")
                for kind in kinds
            ]

        parts(given)  # so that faults are those of what is given
        values, candidates = with_candidates(found, with_recorded(found, given))
        return Experiment(*parts(values), candidates=candidates)  # type: ignore[arg-type, misc]

    @staticmethod
    def from_toml(path: _Path, *, verb: str | None = None, to_run: bool = False) -> Experiment:
        """Read an experiment from a file; the paths in it are relative to its folder.

        A policy in Python that the file names is imported only when the experiment is run,
        compared or hashed.

        Args:
            path: the file.
            verb: what it must be for; needed if the file does not say.
            to_run: import such a policy now, so that what is wrong with it is told at once.

        Raises:
            WriteampError: the file cannot be read, is not TOML, or is as `from_dict` refuses it.
        """
        tables = toml_text.parse(toml_text.read_text(path, "experiment"), str(path))
        here = moved(tables, Path(path).parent, Path())
        with nullcontext() if to_run else unread_policies():
            return Experiment.from_dict(here, verb=verb, where=str(path))

    def to_toml(self, path: _Path | None = None) -> str:
        """Return the complete experiment as TOML; with a path, write it there too.

        Paths in a file are relative to its folder. The file appears whole, or stays as it was.

        Raises:
            WriteampError: the file cannot be written.
        """
        tables = self.to_dict()
        if path is not None and STANDARD_INPUT in self.input_files:
            raise WriteampError(
                f"cannot write experiment {str(path)!r}: its trace comes on standard input, which "
                "is gone when the file is read; give the trace as a file"
            )
        if path is not None:
            tables = moved(tables, Path(), Path(path).parent)
        text = tomli_w.dumps(tables)
        if path is not None:
            try:
                content = text.encode()
            except UnicodeEncodeError:
                raise WriteampError(
                    f"cannot write experiment {str(path)!r}: it names a file whose name is not "
                    "UTF-8, and TOML holds nothing else"
                ) from None
            with output.replacing(path, "experiment", inputs=self.input_files) as file:
                file.write(content)
        return text

    @property
    def input_files(self) -> tuple[str, ...]:
        """The files that it reads, which no result of it may replace: traces and profiles."""
        named = (*self.load.traces, Precondition.of(self.load.precondition).trace)
        traces = tuple(trace for trace in named if isinstance(trace, str))
        profile = self.device.profile
        return traces + (files_of(profile) if isinstance(profile, str) else ())

    @property
    def output_files(self) -> tuple[str, ...]:
        """The files that it writes whatever is asked of its result: the Ready/Busy capture."""
        capture = getattr(self.run, "rb_capture", None)
        return () if capture is None else (str(capture),)

    @property
    def is_timed(self) -> bool:
        """True if it is run in virtual time.

        It is if that, a duration or a Ready/Busy capture is asked for, if the workload says how its
        requests are paced, or if a trace plays on a device that is timed by default; if that has an
        SLC cache, so do requests in bytes.
        """
        if not isinstance(self.run, SimulationSettings):
            return False
        if self.run.asks_for_time:
            return True
        asks_for_slc = False
        if self.load.trace is None:
            workload = str(self.load.workload or "uniform")
            if EngineLoad.spec(workload, 1).is_timed():
                return True
            asks_for_slc = _is_of_requests(Spec.of("workloads", workload))
            if not asks_for_slc:
                return False
        settings = self.device
        drive = device(settings.base, **settings.overrides())
        return drive.is_timed_by_default and (drive.has_slc_cache or not asks_for_slc)

    @property
    def hash(self) -> str:
        """The SHA-256 of what the experiment means, in hexadecimal digits.

        It is the same for every spelling that means the same, whether a value is given or a
        default. What changes speed only (`threads`, `batch_pages`) and the engine's version are
        not in it; a trace file is in it by its path.
        """
        return _digest(self._meaning)

    @property
    def hash_without_seed(self) -> str:
        """Hash of all settings but the seed, which is all that replicas differ in."""
        run = {name: one for name, one in self._meaning["run"].items() if name != "seed"}
        return _digest(self._meaning | {"run": run})

    @cached_property
    def _meaning(self) -> dict[str, Any]:
        """Return the settings in their one form, from which the hash is made."""
        load = meaning_of_settings(self.load)
        if self.load.trace is None and self.load.workload is None:
            load["workload"] = Spec.of("workloads", "uniform").canonical
        if not self.load.traces or "repeat" not in setting_places(self.verb):
            load["repeat"] = 1  # as it was said before a trace could be repeated as needed
        run = meaning_of_settings(self.run)
        if self.is_timed:
            run["timed"] = True
        policy = meaning_of_settings(self.policy)
        if isinstance(self.policy, PolicySettings):
            asked = self.policy.victims or default_victims(str(self.policy.manager))
            policy["victims"] = Spec.of("victims", asked).canonical
        learnt = {} if self.candidates is None else {"candidates": asdict(self.candidates)}
        return learnt | {
            "verb": self.verb,
            "device": self._drive(),
            "load": load,
            "policy": policy,
            "run": run,
        }

    def _check_capacity(self) -> None:
        """Refuse a capacity where no smaller drive could stand for the one that is meant."""
        is_sized = self.device.counts_size
        if is_sized and isinstance(self.run, EnduranceSettings):
            return  # the drive of that size stands for the one of the capacity
        is_aged = Precondition.of(self.load.precondition).trace is not None
        if self.load.trace is not None or is_aged:
            raise WriteampError(
                "capacity is simulated by a smaller drive, and the addresses of a trace cannot be "
                "scaled to one; leave it out for a drive that the trace just fills, or give --size"
            )
        if is_sized:
            raise WriteampError(
                "capacity is simulated by a smaller drive of a size that it chooses; give it, or "
                "one of size, blocks, logical_blocks, logical_pages, which is simulated exactly"
            )
        if self.is_timed or self.device.changes_times:
            raise WriteampError(
                "capacity is simulated by a smaller drive, and times, channels and caches do not "
                "scale as write amplification does; give --size for a timed run"
            )
        if getattr(self.run, "host_bytes", None) is not None:
            raise WriteampError(
                "host_bytes and capacity do not go together, since the drive that is simulated is "
                "smaller; give --writes, which are scaled as it is, or --size"
            )

    def _drive(self) -> dict[str, Any]:
        """Return the drive as built, or what is known of one that a trace will size."""
        settings = self.device
        base = settings.base
        drive = device(base, **settings.overrides())
        # Times decide nothing where no time passes, so profiles may come to have them.
        with_times = self.is_timed or drive.is_timed_by_default or settings.changes_times
        found = drive.meaning(with_times=with_times)
        if self.load.trace is not None and not settings.is_sized:
            del found["blocks_per_plane"], found["logical_pages"]
            found["op"] = settings.asked_op or profile_op(base)
        if settings.capacity is not None:
            found["capacity_bytes"] = settings.capacity
        return found

    @property
    def with_each_load(self) -> tuple[Experiment, ...]:
        """Return the experiment with each of its loads alone; only comparisons have several."""
        if not isinstance(self.load, LoadsSettings):
            return (self,)
        return tuple(replace(self, load=one) for one in self.load.alone())


def _is_of_requests(workload: Spec) -> bool:
    """Return whether a workload has requests in bytes, as `io`, `random` and `sequential:bs=`."""
    return not {"bs", "write_size"}.isdisjoint(dict(workload.checked or ()))


def _digest(meaning: dict[str, Any]) -> str:
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def setting_types(verb: str) -> tuple[type[Settings], ...]:
    """Return the four groups of settings of a verb."""
    if verb not in _RUNS:
        raise unknown("verb", verb, VERBS)
    run = _RUNS[verb]
    return DeviceSettings, _load_type(run), _policy_type(run), run


@cache
def setting_places(verb: str) -> Places:
    """Return where each setting of a verb stands, by the name of its keyword argument."""
    return places_in(setting_types(verb), verb)


def untimed_places() -> Places:
    """Return where each setting of a simulation without time stands."""
    timed = {one.name for one in fields(TimedSettings)}
    return {name: one for name, one in setting_places("simulate").items() if one[1] not in timed}


def _load_type(run: type[RunSettings]) -> type[LoadSettings]:
    return LoadsSettings if run is ComparisonSettings else LoadSettings


def _policy_type(run: type[RunSettings]) -> type[PolicySettings | PoliciesSettings]:
    return PoliciesSettings if run is ComparisonSettings else PolicySettings


def _changed(settings: _S, changes: dict[str, Any]) -> _S:
    """Return settings with some replaced, and without those that the new ones exclude."""
    if not changes:
        return settings
    one_of = {one.name: words_of(one).excludes for one in fields(settings)}  # type: ignore[arg-type]
    decided = {one_of[name] for name, value in changes.items() if value is not None} - {""}
    dropped = {name: None for name, group in one_of.items() if group in decided}
    if isinstance(settings, LoadSettings):
        dropped = settings.dropped_by(changes)
    return replace(settings, **(dropped | changes))  # type: ignore[type-var]


def meaning_of_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide what is found, specs in their one form."""
    found = {}
    for one in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, one.name)
        words = words_of(one)
        if not words.is_speed and not (words.is_new and value == one.default):
            found[one.name] = _in_one_form(value)
    return found


def _in_one_form(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_in_one_form(one) for one in value]
    return value.canonical if isinstance(value, Spec) else plain(value)
