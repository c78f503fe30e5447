"""The file that a session is read from: line by line, so that its length costs no memory, and as often as is asked."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from loom.errors import LoomError
from loom.text import show_line

MAX_LINE = 64 * 1024 * 1024
"""Bytes. A longer line is not read: JSON takes several times its length to take apart."""

MAX_WHOLE = 256 * 1024 * 1024
"""Bytes. A document that has no lines to be read one by one, and is longer, is not read."""

_ZSTD = b"\x28\xb5\x2f\xfd"


class ImportFailed(LoomError):
    """A file that is no session, or none that the archive can take."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is open to read, as long as it was when it was opened: an agent that runs may go on writing."""

    file: BinaryIO
    size: int
    """Bytes."""
    path: Path | None = None
    """Where it is, and what belongs to it beside it; None for what came through a pipe."""

    def lines(self) -> Iterator[str | None]:
        """Its lines, from the first on, whenever it is called; None for one that is longer than MAX_LINE. Bytes that
        are no UTF-8 come as U+FFFD. Raises ImportFailed when it can be read no further."""
        place = 0
        while place < self.size:
            data, place = self._line(place)
            yield None if data is None else data.decode("utf-8", "replace").removeprefix("\ufeff")

    def whole(self) -> str:
        """All of it. Raises ImportFailed when it is longer than MAX_WHOLE."""
        if self.size > MAX_WHOLE:
            raise ImportFailed(
                f"That is one document of {self.size:,} bytes: too long to be read at once.",
                f"At most {MAX_WHOLE:,} bytes are read of one that does not go line by line.",
            )
        try:
            self.file.seek(0)
            return self.file.read(self.size).decode("utf-8", "replace").removeprefix("\ufeff")
        except OSError as error:
            raise _unread(self.path, error) from error

    def head(self, length: int) -> bytes:
        """Its first bytes."""
        try:
            self.file.seek(0)
            return self.file.read(min(length, self.size))
        except OSError as error:
            raise _unread(self.path, error) from error

    def tail(self, length: int) -> list[str]:
        """The lines in its last bytes, the first of them perhaps torn."""
        try:
            start = max(0, self.size - length)
            self.file.seek(start)
            return self.file.read(self.size - start).decode("utf-8", "replace").split("\n")
        except OSError as error:
            raise _unread(self.path, error) from error

    def _line(self, place: int) -> tuple[bytes | None, int]:
        """The line that begins at a place, and where the next one does."""
        try:
            # Somebody else may read the file meanwhile, from the beginning.
            self.file.seek(place)
            data = self.file.readline(min(MAX_LINE, self.size - place))
            end = place + len(data)
            if not data or data.endswith(b"\n") or end >= self.size:
                return data, end if data else self.size
            while end < self.size and data and not data.endswith(b"\n"):
                data = self.file.readline(min(MAX_LINE, self.size - end))
                end += len(data)
        except OSError as error:
            raise _unread(self.path, error) from error
        return None, end if data else self.size


def is_file(path: Path) -> bool:
    """Whether it is a file that can be got at; not so where its folder may not be looked into, or it can be no name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def files_named(folder: Path, *patterns: str) -> list[Path]:
    """The files in a folder that have such names; none where there is no such folder, or it may not be read."""
    try:
        return sorted(found for pattern in patterns for found in folder.glob(pattern) if is_file(found))
    except (OSError, ValueError):
        return []


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The file. What comes through a pipe is kept in a nameless file for as long, as it is read twice. Raises
    ImportFailed for what is neither a file nor a pipe, or cannot be read."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            kind = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(kind):
                source = Source(file, os.fstat(file.fileno()).st_size, path)
            elif stat.S_ISFIFO(kind):
                source = _kept(stack, file)
            else:
                raise ImportFailed(f"{show_line(str(path), 500)} cannot be read: it is a device.", "Name a file.")
        except (OSError, ValueError) as error:
            raise _unread(path, error) from error
        yield _readable(source)


@contextmanager
def opened_stream(stream: BinaryIO) -> Iterator[Source]:
    """What comes in through a stream, to its end. Raises ImportFailed."""
    with ExitStack() as stack:
        try:
            source = _kept(stack, stream)
        except OSError as error:
            raise _unread(None, error) from error
        yield _readable(source)


def _kept(stack: ExitStack, stream: BinaryIO) -> Source:
    kept = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    shutil.copyfileobj(stream, kept, 1 << 20)
    return Source(kept, kept.tell())


def _readable(source: Source) -> Source:
    if source.head(4) == _ZSTD:
        raise ImportFailed("That is compressed.", "`zstd -dc FILE | loom import -` reads it.")
    return source


def _unread(path: Path | None, error: Exception) -> ImportFailed:
    what = "What came in" if path is None else show_line(str(path), 500)
    if isinstance(error, IsADirectoryError):
        known = "`loom import --list` lists those that are known."
        return ImportFailed(f"{what} cannot be read: it is a folder that is no session.", f"Name files in it; {known}")
    return ImportFailed(f"{what} cannot be read: {getattr(error, 'strerror', None) or error}.")
