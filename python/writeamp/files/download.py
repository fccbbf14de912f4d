"""Downloads over HTTP: resumed after interruptions, checked, and complete or not at all.

The content is received in a file `NAME.part`. Beside it, `NAME.part.json` has the address, and the
ETag or date that identifies the content on the server. A download continues only if they are the
same. The complete file is renamed to its name.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import io
import os
import re
import shutil
import stat
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin

from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.content_facts import ContentFacts, facts_of, read_record, write_record
from writeamp.system import lock_alone
from writeamp.text import one_line, quoted

_CHUNK_BYTES = 2**20
# Time without any byte from the server after which a download ends.
_TIMEOUT_S = 60.0
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {"User-Agent": "writeamp", "Accept-Encoding": "identity"}
# Bytes that stay free on the disk, for the other programs of the machine.
_RESERVED_BYTES = 64 * 2**20
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")

_Progress = Callable[[int, int], None]


class OtherContentError(WriteampError):
    """The server has another content than the expected one."""


class UnreachableError(WriteampError):
    """No server answers at the address."""


def download(
    url: str,
    target: Path,
    expected: ContentFacts | None = None,
    *,
    progress: _Progress | None = None,
) -> ContentFacts:
    """Download a file, and return its size and checksum.

    An interrupted download leaves `target`.part, which the next call continues. If the server
    cannot resume, or has another content by now, the call starts again.

    Args:
        url: address that begins with http:// or https://.
        target: the file to write or replace; its folder must exist.
        expected: facts that the content must have; another content is removed.
        progress: called with the number of received bytes, and of all bytes or 0.

    Raises:
        KeyboardInterrupt: Ctrl-C; its text describes the received part.
        OtherContentError: the file has another content than the expected one.
        UnreachableError: no server answers.
        WriteampError: it cannot be fetched or written.
    """
    expected = expected or ContentFacts()
    path = target.with_name(f"{target.name}.part")
    try:
        with _opened(path) as (file, is_locked):
            partial = _Part(url, path, file, is_locked)
            try:
                content = partial.complete(expected, progress)
            except BaseException:
                partial.remove_unless_resumable()
                raise
            if not expected.allow(content):
                partial.remove()
                raise OtherContentError(
                    f"{url} has {content}, but {expected} is expected; the download was removed"
                )
            os.fsync(file.fileno())
            partial.check_written_alone(content)
            path.replace(target)
            output.sync_folder(target.parent)
            partial.forget()
    except OSError as error:
        raise WriteampError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    return content


@contextmanager
def _opened(path: Path) -> Iterator[tuple[io.FileIO, bool]]:
    """Give the received part to read and append to, and whether it is locked.

    Raises:
        WriteampError: another process has locked it.
    """
    with open(path, "a+b", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        try:
            is_locked = lock_alone(file)
            # The process that held the lock before may have renamed the file.
            is_current = os.path.samestat(status, os.stat(path))
        except (BlockingIOError, FileNotFoundError):
            is_current = False
        if not is_current:
            raise WriteampError(f"another process is downloading {path}; wait until it has ended")
        yield file, is_locked


@dataclass(frozen=True)
class _Identity:
    """Identity of a content on the server: address, ETag or date (None without both), size."""

    url: str
    validator: str | None
    size_bytes: int | None


class _Part:
    """Received part of a download, and the identity of the content that it belongs to."""

    def __init__(self, url: str, path: Path, file: io.FileIO, is_locked: bool) -> None:
        self._url = url
        self._path = path
        self._file = file
        self._is_locked = is_locked
        self._record = path.with_name(f"{path.name}.json")
        record = read_record(self._record)
        is_same = record.get("url") == url and isinstance(record.get("validator"), str)
        self._identity: _Identity | None = None
        if is_same and isinstance(record.get("size_bytes"), int | None):
            self._identity = _Identity(url, record["validator"], record.get("size_bytes"))
        else:
            file.truncate(0)

    def complete(self, expected: ContentFacts, progress: _Progress | None) -> ContentFacts:
        """Receive the missing bytes, and return the facts of the whole content."""
        try:
            return self._received(expected, progress)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._progress_so_far()) from None

    def _received(self, expected: ContentFacts, progress: _Progress | None) -> ContentFacts:
        digest, done_bytes = hashlib.sha256(), 0
        self._file.seek(0)
        while chunk := self._file.read(_CHUNK_BYTES):
            digest.update(chunk)
            done_bytes += len(chunk)
        # A process may have been killed after the last byte.
        if done_bytes and self._identity is not None and self._identity.size_bytes == done_bytes:
            return ContentFacts(done_bytes, digest.hexdigest())
        with self._answer(done_bytes, expected) as response:
            if response.status == http.HTTPStatus.OK:
                digest, done_bytes = hashlib.sha256(), 0
                self._begin(response, expected)
            assert self._identity is not None
            size_bytes = self._identity.size_bytes
            self._check_space((size_bytes or done_bytes) - done_bytes)
            while chunk := self._chunk(response):
                if size_bytes is None:
                    self._check_space(len(chunk))
                self._write(chunk)
                digest.update(chunk)
                done_bytes += len(chunk)
                if progress is not None:
                    progress(done_bytes, size_bytes or 0)
        if size_bytes is not None and done_bytes > size_bytes:
            self._file.truncate(0)  # nothing to continue
            raise self._failure(f"the server sent more than the {size_bytes:,} bytes it stated")
        if size_bytes is not None and done_bytes < size_bytes:
            raise self._failure("the answer ended early")
        return ContentFacts(done_bytes, digest.hexdigest())

    def _write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest:  # a nearly full disk takes only a part
            rest = rest[self._file.write(rest) :]

    def check_written_alone(self, content: ContentFacts) -> None:
        """Check that no other process wrote to the part; without a lock, close and read it."""
        if self._is_locked:
            return
        self._file.close()  # Windows renames no open file
        if facts_of(self._path) != content:
            self.remove()
            raise WriteampError(
                f"another process wrote to {self._path}, and the download was removed; run the "
                "same command when it has ended"
            )

    def remove_unless_resumable(self) -> None:
        """Remove a part that the next call cannot continue."""
        if not self._is_resumable:
            self.remove()

    def remove(self) -> None:
        """Remove the part and its record."""
        if not self._is_locked:
            self._file.close()  # Windows removes no open file
        with suppress(OSError):
            self._path.unlink()
        self.forget()

    def forget(self) -> None:
        """Remove the record of the part."""
        with suppress(OSError):
            self._record.unlink()

    @property
    def _is_resumable(self) -> bool:
        is_identified = self._identity is not None and self._identity.validator is not None
        return is_identified and os.fstat(self._file.fileno()).st_size > 0

    def _answer(self, done_bytes: int, expected: ContentFacts) -> http.client.HTTPResponse:
        """Return the answer with the bytes from a position on, or with all bytes (status 200)."""
        validator = None if self._identity is None else self._identity.validator
        if done_bytes and validator is not None:
            try:
                response = self._open({"Range": f"bytes={done_bytes}-", "If-Range": validator})
            except HTTPError as error:
                if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    raise self._refused(error) from None
            else:
                if response.status == http.HTTPStatus.OK or self._continues(
                    response, done_bytes, expected
                ):
                    return response
                response.close()
        try:
            response = self._open({})
        except HTTPError as error:
            raise self._refused(error) from None
        if response.status != http.HTTPStatus.OK:
            response.close()
            raise self._failure(f"the server answers {response.status} {response.reason}")
        return response

    def _continues(
        self, response: http.client.HTTPResponse, done_bytes: int, expected: ContentFacts
    ) -> bool:
        """Return whether an answer continues the part, and record the size of the whole content."""
        assert self._identity is not None
        span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if (
            response.status != http.HTTPStatus.PARTIAL_CONTENT
            or span is None
            or int(span[1]) != done_bytes
            # Some servers ignore If-Range.
            or self._identity.validator not in _validators(response.headers)
        ):
            return False
        if span[2] == "*":
            # A cut answer would not be noticed without a size or a checksum.
            return self._identity.size_bytes is not None or expected.sha256 is not None
        size_bytes = int(span[2])
        if self._identity.size_bytes is None:  # the first answer was in chunks
            self._record_identity(replace(self._identity, size_bytes=size_bytes))
        return self._identity.size_bytes == size_bytes

    def _begin(self, response: http.client.HTTPResponse, expected: ContentFacts) -> None:
        """Start with an empty part, and record which content it is a part of."""
        size_bytes = response.length
        if response.headers.get_content_type() == "text/html":
            response.close()
            raise WriteampError(f"cannot fetch {self._url}: the server answers with a web page")
        if size_bytes is None and not response.chunked and expected.sha256 is None:
            response.close()
            raise WriteampError(
                f"cannot fetch {self._url}: the server does not state the size, so a cut download "
                "would not be noticed"
            )
        if size_bytes is not None and expected.size_bytes not in (None, size_bytes):
            response.close()
            raise OtherContentError(
                f"{self._url} has {size_bytes:,} bytes, but {expected} is expected; nothing was "
                "downloaded"
            )
        self._file.truncate(0)
        self._file.seek(0)
        validator = next(iter(_validators(response.headers)), None)
        self._record_identity(_Identity(self._url, validator, size_bytes))

    def _record_identity(self, identity: _Identity) -> None:
        self._identity = identity
        write_record(self._record, asdict(identity))

    def _check_space(self, needed_bytes: int) -> None:
        free_bytes = shutil.disk_usage(self._path.parent).free
        if needed_bytes + _RESERVED_BYTES > free_bytes:
            raise WriteampError(
                f"{self._url} needs {needed_bytes:,} more bytes in {self._path.parent}, which has "
                f"{free_bytes:,} free bytes; {_RESERVED_BYTES:,} must stay free"
            )

    def _chunk(self, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.read(_CHUNK_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise self._failure(_reason(error)) from None

    def _open(self, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        """Return the answer to a request, after redirects.

        Raises:
            HTTPError: the server refuses it.
        """
        url = self._url
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                request = urllib.request.Request(url, headers={**_HEADERS, **headers})
                return _opener().open(request, timeout=_TIMEOUT_S)  # type: ignore[no-any-return]
            except HTTPError as error:
                if error.code not in _REDIRECTS or "Location" not in error.headers:
                    raise
                came_from, url = url, urljoin(url, error.headers["Location"])
                error.close()
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise self._failure(_reason(error), UnreachableError) from None
            # Another scheme could read a local file.
            if not url.startswith(("http://", "https://")):
                raise self._failure(f"it redirects to {quoted(url)}; only http and https are valid")
            if came_from.startswith("https://") and not url.startswith("https://"):
                raise self._failure(f"it redirects from https to {quoted(url)}, without protection")
        raise self._failure(f"it redirects more than {_MOST_REDIRECTS} times")

    def _refused(self, error: HTTPError) -> WriteampError:
        with error:
            return self._failure(f"the server answers {error.code} {error.reason}")

    def _failure(self, why: str, kind: type[WriteampError] = WriteampError) -> WriteampError:
        done = f"; {self._progress_so_far()}" if self._is_resumable else ""
        return kind(f"cannot fetch {self._url}: {why}{done}")

    def _progress_so_far(self) -> str:
        if not self._is_resumable:
            return "nothing was written"
        assert self._identity is not None
        size_bytes = self._identity.size_bytes
        of_all = "" if size_bytes is None else f" of {size_bytes:,}"
        return (
            f"{os.fstat(self._file.fileno()).st_size:,}{of_all} bytes are in {self._path}; run "
            "the same command to continue"
        )


def _validators(headers: Message) -> list[str]:
    """Return the texts that identify the content on a server; the first one is the best.

    A weak ETag (W/"…") may be the same for contents that differ in single bytes.
    """
    etag, modified = headers.get("ETag"), headers.get("Last-Modified")
    return [
        str(value)
        for value in (etag if etag is None or etag.startswith('"') else None, modified)
        if value
    ]


def _reason(error: Exception) -> str:
    """Return why an address cannot be read."""
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return f"no answer for {_TIMEOUT_S:.0f} s"
    if isinstance(cause, http.client.IncompleteRead):
        return "the answer ended early"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return one_line(cause) if isinstance(cause, Exception) else str(cause)


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener of web addresses without redirects.

    `urllib.request.build_opener` would also open local files and FTP.
    """
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener
