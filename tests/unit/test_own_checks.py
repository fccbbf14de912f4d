"""The state of users' policies, and the checks that they can be put to by one call."""

from __future__ import annotations

import array
import itertools
import re
from collections import deque
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from own_policies import SEPBIT, Base, needs_numba
from refusals import refusal
from writeamp import testing
from writeamp.custom.saving import packed, unpacked
from writeamp.registry.specs import Spec
from writeamp.testing.rig import Rig


class Drawn(Base):
    """A policy that draws by the drive's seed."""

    def __init__(self, drive: Any) -> None:
        self.random = np.random.default_rng(drive.seed)

    def on_write(self, page: int, now: int) -> Any:
        return self.random.integers(2)


class Remembering(Base):
    """A policy with something of every type that is saved."""

    def __init__(self, drive: Any) -> None:
        self.drive = drive
        self.migration_streams = range(2)
        self.numbers = np.arange(drive.blocks, dtype=np.int16).reshape(-1, 1)
        self.one = np.float32(0.1)
        self.typed = array.array("q", range(5))
        self.by_page: dict[int, tuple[int, float | None, str]] = {3: (1, None, "ä")}
        self.recent: deque[int] = deque([1, 2], maxlen=7)
        self.nested = [[1, [2, -(2**80)]], True, float("inf")]

    def on_write(self, page: int, now: int) -> int:
        self.numbers[now % len(self.numbers)] += 1
        self.typed[page % 5] = now
        self.by_page[page] = (now, 0.5, "x")
        self.recent.append(page)
        return sum(self.recent) % 2


class Unsaved(Base):
    def __init__(self, drive: Any) -> None:
        self.turns = itertools.count()


class SavedByItself(Unsaved):
    """An iterator is no state, but where it stands is."""

    def __init__(self, drive: Any) -> None:
        self.turns = itertools.count()

    def on_write(self, page: int, now: int) -> int:
        return next(self.turns) // 7 % 2

    def save(self) -> int:
        at = next(self.turns)
        self.turns = itertools.count(at)
        return at

    def restore(self, saved: int) -> None:
        self.turns = itertools.count(saved)


@pytest.mark.parametrize(
    "good", [f"{SEPBIT}:compiled=no", Drawn, Remembering, SavedByItself], ids=str
)
def test_good_placements_pass(good: Any) -> None:
    testing.check_placement(good)


@needs_numba
def test_a_compiled_placement_passes() -> None:
    testing.check_placement(SEPBIT)


def test_a_victim_policy_passes() -> None:
    class Emptiest(wa.VictimPolicy):
        def __init__(self, drive: Any) -> None:
            self.asked = 0

        def choose(self, candidates: Any, now: int) -> Any:
            self.asked += 1
            return np.argmax(candidates.invalid_pages)

    testing.check_victim_policy(Emptiest)


_of_all = {"writes": 0}


class OfAll(Base):
    """A policy that counts in a variable that all drives share."""

    def on_write(self, page: int, now: int) -> int:
        _of_all["writes"] += 1
        return _of_all["writes"] // 1001 % 2


class Hiding(Base):
    """A policy that does not save all that it remembers."""

    def __init__(self, drive: Any) -> None:
        self.writes = 0

    def on_write(self, page: int, now: int) -> int:
        self.writes += 1
        return self.writes // 1001 % 2

    def save(self) -> None:
        return None

    def restore(self, saved: None) -> None:
        assert saved is None


class Beyond(Base):
    def on_migrate(self, page: int, victim: Any) -> int:
        return 2


class Untrimmed(Base):
    def on_trim(self, page: int) -> None:
        raise NotImplementedError("trims")


class Misspelled(Base):
    def on_trimm(self, page: int) -> None:
        pass


class Wrong(wa.VictimPolicy):
    def choose(self, candidates: Any, now: int) -> int:
        return -1


BAD = [
    (OfAll, "a second run with the same seed differs: the policy has state outside its attributes"),
    (Hiding, "after saving and restoring in the middle of a run, results differ"),
    (
        Beyond,
        "on_migrate of .*Beyond returned the stream 2, but its streams for migrated pages are 0, 1",
    ),
    (Untrimmed, "on_trim of .*Untrimmed raised NotImplementedError: trims"),
    (
        Unsaved,
        "turns of .*Unsaved is of type count, which cannot be saved; use numbers, texts, arrays",
    ),
    (Misspelled, "Misspelled.*on_trimm.*on_trim"),
    (Wrong, "choose of .*Wrong returned -1, but there are"),
]


@pytest.mark.parametrize(("bad", "sentence"), BAD, ids=[bad.__name__ for bad, _ in BAD])
def test_what_a_policy_does_wrong_is_a_sentence(bad: Any, sentence: str) -> None:
    check = testing.check_victim_policy if bad is Wrong else testing.check_placement
    with pytest.raises(AssertionError, match=sentence) as found:
        check(bad)
    assert bad in (Misspelled, Wrong) or "on the layout flat" in str(found.value)


def test_what_is_no_policy_of_python_is_not_checked() -> None:
    with pytest.raises(wa.WriteampError, match="built in"):
        testing.check_placement("sepbit")
    with pytest.raises(wa.WriteampError, match="not a placement"):
        testing.check_placement(Wrong)  # type: ignore[arg-type]


@needs_numba
def test_what_numba_cannot_compile_is_refused_in_a_sentence() -> None:
    @wa.compiled
    class Texts(Base):
        def __init__(self, drive: Any) -> None:
            self.words = "no number"

    @wa.compiled
    class Untyped(Base):
        def on_write(self, page: int, now: int) -> Any:
            return {"page": page}

    @wa.compiled
    class Halves(Base):
        def on_write(self, page: int, now: int) -> Any:
            return page / 2

    @wa.compiled
    class Mean(Base):
        def __init__(self, drive: Any) -> None:
            self.mean = 0

        def on_write(self, page: int, now: int) -> int:
            self.mean = 0.9 * self.mean + 0.1 * page  # type: ignore[assignment]
            return int(page < self.mean)

    @wa.compiled
    class Helped(Base):
        def on_write(self, page: int, now: int) -> int:
            return self.stream_of(page)  # type: ignore[no-any-return]

        def stream_of(self, page: int) -> int:
            return page % 2

    @wa.compiled
    class Clockless(Base):
        def on_write(self, page: int) -> int:  # type: ignore[override]
            return 0

    for bad, words in (
        (Helped, "on_write of .*Helped cannot be compiled: .*compiled=no"),
        (Clockless, "on_write of .*Clockless cannot be compiled: .*compiled=no"),
        (Mean, "on_write of .*Mean assigns a fraction to mean, which starts as a whole number"),
        (Texts, "words of .*Texts is of type str"),
        (Untyped, "on_write of .*Untyped"),
        (Halves, "on_write of .*Halves returns float64"),
    ):
        sentence = refusal(wa.simulate, manager=bad, writes=100, blocks=100)
        assert re.search(words, sentence), sentence


@needs_numba
def test_what_raises_in_compiled_code_has_the_traceback_of_the_same_in_python() -> None:
    @wa.compiled
    class Far(Base):
        def __init__(self, drive: Any) -> None:
            self.table = np.zeros(100, np.int64)

        def on_write(self, page: int, now: int) -> int:
            return self.table[now // 300]

    words = "raised IndexError: index 100 is out of bounds"
    with pytest.raises(wa.PolicyError, match=words) as found:
        wa.simulate(manager=Far, writes=40_000, blocks=300, pages_per_block=64)
    assert "self.table[now // 300]" in found.value.traceback
    assert found.value.host_pages == 30_000


@needs_numba
def test_a_compiled_placement_with_a_default_that_is_no_number_passes() -> None:
    @wa.compiled
    class Optional(Base):
        def __init__(self, drive: Any, window: Any = None) -> None:
            self.window = 0 if window is None else int(window)

    testing.check_placement(Optional)


def test_without_numba_a_compiled_class_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writeamp.custom.references.has_numba", lambda: False)
    monkeypatch.setattr("writeamp.custom.compiling.has_numba", lambda: False)
    run: dict[str, Any] = {"writes": 5000, "blocks": 200, "pages_per_block": 16, "replicas": 1}
    assert wa.simulate(manager=SEPBIT, **run).wa == wa.simulate(manager="sepbit", **run).wa
    with pytest.raises(wa.WriteampError, match=r"pip install 'writeamp\[numba\]'"):
        wa.simulate(manager=f"{SEPBIT}:compiled=yes", **run)


def test_what_is_compiled_is_no_victim_policy_and_no_other_class() -> None:
    for cls in (Wrong, dict):
        with pytest.raises(wa.WriteampError, match="not a placement"):
            wa.compiled(cls)


def test_slots_and_what_is_called_like_a_declaration_are_state() -> None:
    class Slotted(Base):
        __slots__ = ("writes",)

        def __init__(self, drive: Any) -> None:
            self.writes = 0
            self.victims = {0: 0}

        def on_write(self, page: int, now: int) -> int:
            self.writes += 1
            self.victims[0] += 1
            return (self.writes + self.victims[0]) // 1001 % 2

    testing.check_placement(Slotted)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (np.random.MT19937, b'["pos",1]', b'["pos",10000000]'),
        (np.random.Philox, b'["buffer_pos",1]', b'["buffer_pos",10000000]'),
        (np.random.Philox, b'["buffer_pos",1]', b'["buffer_pos",-9]'),
    ],
)
def test_a_random_generator_at_no_place_of_its_numbers_is_refused(
    kind: Any, old: bytes, new: bytes
) -> None:
    class Random:
        def __init__(self) -> None:
            self.drawn = np.random.Generator(kind(1))
            self.drawn.random()  # which leaves each at a place of its own

    state = packed("one", Random())
    text = state[8:].replace(old, new)
    assert old in state
    begin = int.from_bytes(state[:8], "little") + len(new) - len(old)
    with pytest.raises(wa.WriteampError, match="damaged"):
        unpacked("one", Random(), begin.to_bytes(8, "little") + text)


def test_a_state_of_another_class_is_refused() -> None:
    class Other(Base):
        def __init__(self, drive: Any) -> None:
            self.own = 1

    state = packed("one", Remembering(wa.custom.DriveFacts(10, 4, 4, 1)))
    other = Other(wa.custom.DriveFacts(10, 4, 4, 1))
    with pytest.raises(
        wa.WriteampError, match="the saved state is not of this one: it has an attribute"
    ):
        unpacked("one", other, state)
    deep = (100_000).to_bytes(8, "little") + b"[" * 100_000
    for damaged in (b"", state[:20], state[:-3], b"\xff" * 40, deep):
        with pytest.raises(wa.WriteampError, match="damaged"):
            unpacked("one", Remembering(wa.custom.DriveFacts(10, 4, 4, 1)), damaged)
    run = Rig.of(Spec.of("managers", Remembering), None, 1).filled()
    elsewhere = Rig.of(Spec.of("managers", Drawn), None, 1).new()
    words = r"its block manager is .*Remembering, but here it is"
    with pytest.raises(wa.WriteampError, match=words):
        elsewhere.restore(run.save())
