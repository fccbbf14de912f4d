"""Files sent to workers that cannot read them; each worker gets each file's content once."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from distributed import Client, Worker, WorkerPlugin

from writeamp.errors import WriteampError
from writeamp.files import inputs


class SentFiles:
    """Files that were sent to the workers of a cluster; the workers store them until `close`."""

    def __init__(self, client: Client) -> None:
        """Begin with no files sent."""
        self._client = client
        self._plugin_of: dict[str, str] = {}

    @property
    def identities(self) -> frozenset[str]:
        """Identity of each file that was sent."""
        return frozenset(self._plugin_of)

    def send(self, name: str, its_identity: str) -> None:
        """Send a file to all workers that cannot read it, including those that start later.

        Raises:
            WriteampError: the file cannot be read here, or cannot be stored there.
        """
        plugin = f"writeamp-file-{secrets.token_hex(8)}"
        try:
            with inputs.opened(name) as file:
                content = _Sent(name, its_identity, file.read())
            self._client.register_plugin(content, name=plugin)
        except OSError as error:
            raise WriteampError(f"cannot send {name} to Dask's workers: {error}") from None
        self._plugin_of[its_identity] = plugin

    def close(self) -> None:
        """Remove the files from the workers."""
        for plugin in self._plugin_of.values():
            with suppress(Exception):  # the scheduler may be gone
                self._client.unregister_worker_plugin(plugin)


def unreadable(identities: Mapping[str, str]) -> list[str]:
    """Return the names of files that are unreadable or have other content in this process."""
    with inputs.expecting(identities):
        return [name for name, expected in identities.items() if not _is_here(name, expected)]


def _is_here(name: str, expected: str) -> bool:
    try:
        return inputs.is_address(name) or inputs.identity(name) == expected
    except WriteampError:
        return False


class _Sent(WorkerPlugin):
    """File content, to be stored by each worker that cannot read the file itself."""

    def __init__(self, name: str, its_identity: str, content: bytes) -> None:
        """Store the file's name, identity and content."""
        self._name = name
        self._identity = its_identity
        self._content = content
        self._here: Path | None = None

    def setup(self, worker: Worker) -> None:
        """Write the content into the worker's own folder if the worker cannot read the file.

        The folder is removed when the worker ends.
        """
        if unreadable({self._name: self._identity}):
            folder = tempfile.mkdtemp(prefix="writeamp-", dir=worker.local_directory)
            self._here = Path(folder, Path(self._name).name)
            self._here.write_bytes(self._content)
            inputs.hold(self._here, self._identity)

    def teardown(self, worker: Worker) -> None:
        """Remove the file from the worker."""
        if self._here is not None:
            inputs.release(self._here, self._identity)
            self._here.unlink(missing_ok=True)
