"""Experiments: a drive, its load, its policies, and the settings of the run.

`writeamp.simulate`, `compare` and `endurance` and the subcommands of the same name create an
experiment from their arguments. A file stores one experiment (docs/experiments.md).
"""

from __future__ import annotations

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
from writeamp.registry.declarations import declared, default_victims
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
    """Experiment: a drive, its load, its policies, and the settings of the run.

    The type of `run` determines the function: `writeamp.simulate`, `compare` or `endurance`;
    `writeamp.run` calls it. Experiments can be pickled and compared. A trace is stored as its path
    and format; a trace in memory as itself and a digest.

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
    """Possible drives with weights, if the profile was learnt from a real drive (`wa.twin`)."""

    def __post_init__(self) -> None:
        """Check that the settings of policy, load and run are compatible."""
        wanted = _policy_type(type(self.run))
        if not isinstance(self.policy, wanted):
            raise WriteampError(
                f"policy is a {type(self.policy).__name__}; {self.verb} needs {wanted.__name__}"
            )
        if type(self.load) is not _load_type(type(self.run)):
            values = {field.name: getattr(self.load, field.name) for field in fields(self.load)}
            object.__setattr__(self, "load", _load_type(type(self.run))(**values))
        for field in fields(self.load):
            idle = self.verb in words_of(field).not_for
            if idle and getattr(self.load, field.name) != field.default:
                raise WriteampError(
                    f"the setting {field.name} does not apply to `{self.verb}`; leave it out"
                )
        if self.reclaim_unit_bytes is not None:
            object.__setattr__(self, "device", self._of_reclaim_units(self.reclaim_unit_bytes))
        if self.device.capacity is not None:
            self._check_capacity()

    @property
    def verb(self) -> str:
        """Name of the function that runs the experiment: "simulate", "compare" or "endurance"."""
        return self.run.verb

    @staticmethod
    def of(verb: str, **settings: Any) -> Experiment:
        """Return an experiment made from the keyword arguments of the function `verb`.

        Args:
            verb: "simulate", "compare" or "endurance".
            settings: settings by name; settings that are left out have their defaults.

        Raises:
            WriteampError: `verb` is unknown, a value is invalid, or values contradict each other.
            TypeError: an argument is unknown.
        """
        kinds = setting_types(verb)
        groups = by_group(verb, kinds, setting_places(verb), settings)
        check_mixups(settings)
        values, candidates = with_candidates(verb, with_recorded(verb, groups))
        made = [kind(**values[kind.title]) for kind in kinds]
        return Experiment(*made, candidates=candidates)  # type: ignore[arg-type, misc]

    def with_settings(self, **settings: Any) -> Experiment:
        """Return the experiment with some settings replaced; names are those of `of`.

        A new setting also removes settings that it excludes, such as `fill` if `op` is given,
        `blocks` and `logical_pages`, or `workload` and `trace`.
        """
        places = setting_places(self.verb)
        changes: dict[type[Settings], dict[str, Any]] = {}
        for name, value in settings.items():
            if name not in places:
                raise unknown_argument("with_settings", name, places)
            kind, field_name = places[name]
            changes.setdefault(kind, {})[field_name] = value
        parts = [self.device, self.load, self.policy, self.run]
        changed = [_changed(group, changes.get(type(group), {})) for group in parts]
        of_all = {
            name: value
            for name, value in settings.items()
            if self.verb != "compare" or name != "victims"
        }
        candidates = replaced_by(self.candidates, of_all)
        return Experiment(*changed, candidates=candidates)  # type: ignore[arg-type, misc]

    def to_dict(self) -> dict[str, Any]:
        """Return the complete experiment as JSON types; settings without a value are left out."""
        parts = (self.device, self.load, self.policy, self.run)
        return {"verb": self.verb} | {group.title: table_of(group) for group in parts}

    @staticmethod
    def from_dict(
        tables: Mapping[str, Any], *, verb: str | None = None, where: str = "experiment"
    ) -> Experiment:
        """Return the experiment that tables of `to_dict` describe; missing settings get defaults.

        Args:
            tables: the key "verb", and a table for each of device, load, policy and run.
            verb: "simulate", "compare" or "endurance"; required if the tables have no "verb".
            where: source of the tables, for errors.

        Raises:
            WriteampError: a key is unknown or a value is invalid; the message names its table.
        """
        if not isinstance(tables, Mapping):
            raise WriteampError(f"{where} is {shown(tables)}; it must be a table of settings")
        stated = tables.get("verb", verb)
        if stated is None:
            raise WriteampError(f"{where}: verb is missing; valid: {', '.join(VERBS)}")
        if verb is not None and stated != verb:
            raise WriteampError(f"{where}:verb is {shown(stated)}; it must be {verb!r} here")
        if not isinstance(stated, str) or stated not in _RUNS:
            raise WriteampError(f"{where}:verb: {unknown('verb', str(stated), VERBS)}")
        kinds = setting_types(stated)
        valid = ["verb", *(kind.title for kind in kinds)]
        for key in tables:
            if key not in valid:
                raise WriteampError(f"{where}:{key}: {unknown('key', key, valid)}")
        groups = {kind.title: tables.get(kind.title, {}) for kind in kinds}

        def parts(values: Mapping[str, Any]) -> list[Settings]:
            return [
                settings_of(kind, values[kind.title], where=f"{where}:{kind.title}")
                for kind in kinds
            ]

        parts(groups)  # checks the given values first, so that errors name them
        values, candidates = with_candidates(stated, with_recorded(stated, groups))
        return Experiment(*parts(values), candidates=candidates)  # type: ignore[arg-type, misc]

    @staticmethod
    def from_toml(path: _Path, *, verb: str | None = None, to_run: bool = False) -> Experiment:
        """Read an experiment from a file. Paths in the file are relative to its folder.

        Policies in Python are imported only when the experiment is run, compared or hashed.

        Args:
            path: the file.
            verb: "simulate", "compare" or "endurance"; required if the file has no "verb".
            to_run: whether to import policies in Python now, so that errors appear at once.

        Raises:
            WriteampError: the file cannot be read, is not TOML, or `from_dict` rejects it.
        """
        tables = toml_text.parse(toml_text.read_text(path, "experiment"), str(path))
        here = moved(tables, Path(path).parent, Path())
        with nullcontext() if to_run else unread_policies():
            return Experiment.from_dict(here, verb=verb, where=str(path))

    def to_toml(self, path: _Path | None = None) -> str:
        """Return the complete experiment as TOML; with a path, also write it there.

        Paths in the file are relative to its folder. The file is replaced atomically.

        Raises:
            WriteampError: the file cannot be written.
        """
        tables = self.to_dict()
        load = "fio job" if self.load.fio == STANDARD_INPUT else "trace"
        if path is not None and STANDARD_INPUT in (*self.input_files, self.load.fio):
            raise WriteampError(
                f"cannot write experiment {str(path)!r}: its {load} is standard input, which "
                f"cannot be read again; give the {load} as a file"
            )
        if path is not None:
            tables = moved(tables, Path(), Path(path).parent)
        text = tomli_w.dumps(tables)
        if path is not None:
            try:
                content = text.encode()
            except UnicodeEncodeError:
                raise WriteampError(
                    f"cannot write experiment {str(path)!r}: the name of one of its files is not "
                    "UTF-8, as TOML requires; rename that file"
                ) from None
            with output.replacing(path, "experiment", inputs=self.input_files) as file:
                file.write(content)
        return text

    @property
    def input_files(self) -> tuple[str, ...]:
        """Input files of the experiment (traces and profiles), which outputs must not replace."""
        named = (*self.load.traces, Precondition.of(self.load.precondition).trace)
        traces = tuple(trace for trace in named if isinstance(trace, str))
        profile = self.device.profile
        return traces + (files_of(profile) if isinstance(profile, str) else ())

    @property
    def output_files(self) -> tuple[str, ...]:
        """Files that the run itself writes: the capture of the Ready/Busy pins."""
        capture = getattr(self.run, "rb_capture", None)
        return () if capture is None else (str(capture),)

    @property
    def is_timed(self) -> bool:
        """True if the experiment runs in virtual time.

        This holds if the settings request timing, a duration or a Ready/Busy capture; if the
        workload paces its requests; or if a trace runs on a device that is timed by default. If
        that device has an SLC cache, workloads with requests in bytes are timed, too.
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
        """SHA-256 of the experiment's settings in canonical form, in hexadecimal digits.

        It does not depend on the spelling of a value, or on whether a default is given. It excludes
        settings of speed (`threads`, `batch_pages`) and the version of the engine. Of a trace
        file, only the path is hashed, not the contents.
        """
        return _digest(self._meaning)

    @property
    def hash_without_seed(self) -> str:
        """Hash of all settings except the seed, so that it is equal for all replicas."""
        run = {name: value for name, value in self._meaning["run"].items() if name != "seed"}
        return _digest(self._meaning | {"run": run})

    @cached_property
    def _meaning(self) -> dict[str, Any]:
        """Canonical settings, from which the hash is computed."""
        load = meaning_of_settings(self.load)
        if self.load.trace is None and self.load.workload is None:
            load["workload"] = Spec.of("workloads", "uniform").canonical
        if not self.load.traces or "repeat" not in setting_places(self.verb):
            load["repeat"] = 1  # the default before `auto` existed; hashes stay equal
        run = meaning_of_settings(self.run)
        if self.is_timed:
            run["timed"] = True
        policy = meaning_of_settings(self.policy)
        if isinstance(self.policy, PolicySettings):
            victims = self.policy.victims or default_victims(str(self.policy.manager))
            policy["victims"] = Spec.of("victims", victims).canonical
        learnt = {} if self.candidates is None else {"candidates": asdict(self.candidates)}
        return learnt | {
            "verb": self.verb,
            "device": self._drive(),
            "load": load,
            "policy": policy,
            "run": run,
        }

    @property
    def reclaim_unit_bytes(self) -> int | None:
        """Bytes of a reclaim unit that a block manager states, or None.

        Raises:
            WriteampError: managers of a comparison, which share a drive, state different sizes.
        """
        policy = self.policy
        managers = [policy.manager] if isinstance(policy, PolicySettings) else policy.managers
        stated = [Spec.of("managers", manager) for manager in managers or ()]
        stated = [manager for manager in stated if "ru" in dict(manager.checked or ())]
        sizes = {declared(manager.text)["reclaim_unit_bytes"]: manager for manager in stated}
        sizes.pop(None, None)
        if len(sizes) > 1:
            raise WriteampError(
                f"{' and '.join(manager.text for manager in sizes.values())} have reclaim units of "
                "different sizes, but managers are compared on one drive; compare them separately"
            )
        return next(iter(sizes), None)

    def _of_reclaim_units(self, unit_bytes: int) -> DeviceSettings:
        """Return the drive's settings with erase units of this size.

        Without a size, a synthetic workload runs on a drive of the profile's capacity, by default
        1 TB: the usual drive of 4 GiB would have too few reclaim units.
        """
        settings = self.device
        shape = device(settings.base, page_bytes=settings.page_bytes, layout=settings.layout)
        if self.is_timed:
            raise WriteampError("ru is for runs without timing; leave it out of the manager")
        if shape.layout != "flat" and shape.erase_unit != "superblock":
            raise WriteampError(
                f"a reclaim unit (ru) is spread over all dies, but each die of {shape.name} has "
                "erase units of its own; give --layout flat, or leave ru out"
            )
        blocks = shape.pages_per_erase_unit // shape.pages_per_block
        pages, rest = divmod(unit_bytes, blocks * shape.page_bytes)
        if rest or pages < 2:
            raise WriteampError(
                f"ru is {unit_bytes} bytes; it must be a multiple of {blocks * shape.page_bytes} "
                f"bytes for {shape.name}, and at least twice that"
            )
        capacity = settings.capacity
        is_aged = Precondition.of(self.load.precondition).trace is not None
        if capacity is None and not (settings.counts_size or self.load.traces or is_aged):
            capacity = 10**12 if settings.profile is None else shape.capacity_bytes
        return replace(
            settings, pages_per_block=settings.pages_per_block or pages, capacity=capacity
        )

    def _check_capacity(self) -> None:
        """Reject a requested capacity that cannot be simulated by a smaller drive."""
        is_sized = self.device.counts_size
        if is_sized and isinstance(self.run, EnduranceSettings):
            return  # the user has chosen the size of the simulated drive, so nothing is scaled
        is_aged = Precondition.of(self.load.precondition).trace is not None
        if self.load.trace is not None or is_aged:
            raise WriteampError(
                "capacity cannot be combined with a trace, because the addresses of a trace cannot "
                "be scaled to a smaller drive; leave capacity out for a drive of the size of the "
                "trace, or give --size"
            )
        if is_sized:
            raise WriteampError(
                "capacity chooses the size of the simulated drive; give either capacity, or one of "
                "size, blocks, logical_blocks, logical_pages"
            )
        if self.is_timed or self.device.changes_times:
            raise WriteampError(
                "capacity cannot be combined with a timed run, because times, channels and caches "
                "cannot be scaled to a smaller drive; give --size"
            )
        if getattr(self.run, "host_bytes", None) is not None:
            raise WriteampError(
                "host_bytes and capacity exclude each other, because the simulated drive is "
                "smaller; give --writes, which is scaled, or --size"
            )

    def _drive(self) -> dict[str, Any]:
        """Return the drive's canonical settings, without its size if the trace determines it."""
        settings = self.device
        base = settings.base
        drive = device(base, **settings.overrides())
        # Times are left out of the hash of untimed runs. Profiles may then gain times without a
        # change of hashes.
        with_times = self.is_timed or drive.is_timed_by_default or settings.changes_times
        meaning = drive.meaning(with_times=with_times)
        if self.load.trace is not None and not settings.is_sized:
            del meaning["blocks_per_plane"], meaning["logical_pages"]
            meaning["op"] = settings.asked_op or profile_op(base)
        if settings.capacity is not None:
            meaning["capacity_bytes"] = settings.capacity
        return meaning

    @property
    def with_each_load(self) -> tuple[Experiment, ...]:
        """Experiments with one load each; only a comparison may have several loads."""
        if not isinstance(self.load, LoadsSettings):
            return (self,)
        return tuple(replace(self, load=load) for load in self.load.alone())


def _is_of_requests(workload: Spec) -> bool:
    """Return whether a workload has requests in bytes: it has parameter `bs` or `write_size`."""
    return not {"bs", "write_size"}.isdisjoint(dict(workload.checked or ()))


def _digest(meaning: dict[str, Any]) -> str:
    import hashlib  # noqa: PLC0415 (slow; not needed for help)

    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def setting_types(verb: str) -> tuple[type[Settings], ...]:
    """Return the four groups of settings of a function: device, load, policy and run."""
    if verb not in _RUNS:
        raise unknown("verb", verb, VERBS)
    run = _RUNS[verb]
    return DeviceSettings, _load_type(run), _policy_type(run), run


@cache
def setting_places(verb: str) -> Places:
    """Return group and field of each setting of a function, by keyword argument."""
    return places_in(setting_types(verb), verb)


def untimed_places() -> Places:
    """Return group and field of each setting of an untimed simulation."""
    timed = {field.name for field in fields(TimedSettings)}
    return {
        name: place for name, place in setting_places("simulate").items() if place[1] not in timed
    }


def _load_type(run: type[RunSettings]) -> type[LoadSettings]:
    return LoadsSettings if run is ComparisonSettings else LoadSettings


def _policy_type(run: type[RunSettings]) -> type[PolicySettings | PoliciesSettings]:
    return PoliciesSettings if run is ComparisonSettings else PolicySettings


def _changed(settings: _S, changes: dict[str, Any]) -> _S:
    """Return settings with some replaced, and without those that the new ones exclude."""
    if not changes:
        return settings
    one_of = {field.name: words_of(field).excludes for field in fields(settings)}  # type: ignore[arg-type]
    decided = {one_of[name] for name, value in changes.items() if value is not None} - {""}
    dropped = {name: None for name, group in one_of.items() if group in decided}
    if isinstance(settings, LoadSettings):
        dropped = settings.dropped_by(changes)
    return replace(settings, **(dropped | changes))  # type: ignore[type-var]


def meaning_of_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that determine the result, with specs in canonical form."""
    meaning = {}
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        words = words_of(field)
        if not words.is_speed and not (words.is_new and value == field.default):
            meaning[field.name] = _canonical(value)
    return meaning


def _canonical(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_canonical(item) for item in value]
    return value.canonical if isinstance(value, Spec) else plain(value)
