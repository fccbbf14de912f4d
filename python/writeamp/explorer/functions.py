"""Function `explore`: replay small drives step by step on a page for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.devices.device import device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.explorer.page import explore_page
from writeamp.explorer.recording import Recording, record
from writeamp.explorer.settings import ExploreSettings
from writeamp.files.output import AnyPath, check_target, replacing
from writeamp.registry.specs import SpecLike
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card, Presented
from writeamp.settings.compared import ShownPoliciesSettings
from writeamp.units.ratios import RatioLike

_MOST_DRIVES = 2


@dataclass(frozen=True, repr=False)
class ExplorePage(OneLine, Presented):
    """Page that replays one or two small drives step by step.

    Attributes:
        drives: recordings of the drives.
        page: HTML of the page, which works without a network.
    """

    drives: tuple[Recording, ...]
    page: bytes

    def save(self, path: AnyPath) -> None:
        """Write the page to an .html file.

        Raises:
            WriteampError: the file cannot be written.
        """
        check_page(path)
        with replacing(path, "page") as file:
            file.write(self.page)

    def _records(self) -> list[dict[str, Any]]:
        return [drive.facts() for drive in self.drives]

    def __str__(self) -> str:
        """Return the drives and their WA in one line."""
        return ", ".join(f"{drive.name} with WA {drive.wa:.4f}" for drive in self.drives)

    def to_dict(self) -> dict[str, Any]:
        """Return the size of the page in bytes and the facts of its drives, as JSON types."""
        return {"bytes": len(self.page), "drives": self._records()}

    def card(self) -> Card:
        """Return WA and host writes of each drive."""
        rows = [(drive.name, f"{drive.wa:.3f}", f"{drive.host_pages:,}") for drive in self.drives]
        return Card("page of small drives", rows, ("drive", ">WA", ">host writes"))


def check_page(path: AnyPath) -> None:
    """Check that a page can be written to a path: an error should come before the recording.

    Raises:
        WriteampError: the path does not end in .html, or cannot be written.
    """
    if not str(path).lower().endswith(".html"):
        raise WriteampError(f"the page is {str(path)!r}; its name must end in .html")
    check_target(path, "page")


def explore(
    workload: SpecLike = ExploreSettings.workload,
    *,
    managers: Sequence[SpecLike] | SpecLike = ShownPoliciesSettings.managers,
    victims: Sequence[SpecLike] | SpecLike | None = None,
    wear_leveling: SpecLike | None = None,
    blocks: int = ExploreSettings.blocks,
    pages_per_block: int = ExploreSettings.pages_per_block,
    op: RatioLike = ExploreSettings.op,
    writes: int = ExploreSettings.writes,
    seed: int = ExploreSettings.seed,
) -> ExplorePage:
    """Record one or two small drives under the same writes, for a page in the browser.

    Args:
        workload: synthetic workload, the same for all drives.
        managers: block managers; at most two drives in total.
        victims: victim policies; by default each manager's own.
        wear_leveling: wear leveler; none by default.
        blocks: blocks of each drive, 8 to 64.
        pages_per_block: pages of a block, 4 to 64.
        op: over-provisioning ratio, such as 0.15 or "15%".
        writes: host page writes after the first fill.
        seed: seed of every random draw.

    Returns:
        `ExplorePage`: `drives` (each with `name` and `wa`), `page` (HTML), `save(path)`.

    Raises:
        WriteampError: an input is invalid, or the page would be too large.

    >>> import writeamp as wa
    >>> result = wa.explore(managers="single,sepgc", blocks=16, pages_per_block=8, writes=100)
    >>> [drive.name for drive in result.drives]
    ['single, greedy', 'sepgc, greedy']
    """
    policies = ShownPoliciesSettings(managers, victims, wear_leveling)  # type: ignore[arg-type]
    settings = ExploreSettings(workload, blocks, pages_per_block, op, writes, seed)  # type: ignore[arg-type]
    pairs = policies.combinations().pairs
    if len(pairs) > _MOST_DRIVES:
        raise WriteampError(
            f"there are {len(pairs)} drives, but the page shows at most {_MOST_DRIVES}; "
            "give at most two managers, or one manager with two victim policies"
        )
    drive = device(blocks=settings.blocks, pages_per_block=settings.pages_per_block, op=settings.op)
    drives = tuple(
        record(
            Policy.of(manager, victims, policies.wear_leveling),
            drive,
            settings.workload,
            writes=settings.writes,
            seed=settings.seed,
        )
        for manager, victims in pairs
    )
    return ExplorePage(drives, explore_page(drives))
