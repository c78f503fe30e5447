"""What can go wrong with the archive, in words."""

from __future__ import annotations

from loom.errors import LoomError


class ArchiveError(LoomError):
    """Anything about the archive."""


class NotAnArchive(ArchiveError):
    """The file is something else: empty, a foreign database, no database. It was not touched."""


class NewerArchive(ArchiveError):
    """A newer loom wrote this archive. It can still be opened to read it."""


class UnwritableArchive(ArchiveError):
    """Nothing can be stored in this archive's place. It can still be opened to read it."""


class ArchiveUnavailable(ArchiveError):
    """The archive cannot be opened or read."""


class ArchiveDamaged(ArchiveUnavailable):
    """The archive can be opened, but a part of it does not hold together."""


class WriteFailed(ArchiveError):
    """Nothing was stored, or (it says so) perhaps: files were taken away in the middle of the write. The caller still
    has what it wanted to store."""


class Displaced(WriteFailed):
    """The log or its index lost its name while it was open; no turn depends on it any more. Nothing was stored: every
    connection of this process has to be opened anew first."""


class GuardedFile(ArchiveError, PermissionError):
    """A file of the archive was about to be opened by something else than SQLite."""


class LeaseHeld(ArchiveError):
    """Another process has this session open."""

    def __init__(self, what: str, remedy: str = "", *, pid: int, host: str, since: str) -> None:
        super().__init__(what, remedy)
        self.pid = pid
        self.host = host
        self.since = since


class LeaseLost(ArchiveError):
    """Another process took this session over; nothing was stored."""

    def __init__(self) -> None:
        super().__init__(
            "Another loom took this session over: nothing more is stored here.",
            "Fork the session to go on from what you see, or open it read-only.",
        )


class UnknownSession(ArchiveError):
    """No session has this id."""


class UnknownTurn(ArchiveError):
    """The session has no such turn."""


class UnknownReference(ArchiveError):
    """No session goes by this reference."""


class AmbiguousReference(ArchiveError):
    """More than one session goes by this reference."""

    def __init__(self, what: str, remedy: str, references: tuple[str, ...]) -> None:
        super().__init__(what, remedy)
        self.references = references
