"""What every session of one program shares: the archive, the settings, the token counter."""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from loom.archive import ConversationStore, NewerArchive, UnwritableArchive
from loom.archive.backups import back_up_regularly
from loom.archive.spool import Spool, unreadable_in_words
from loom.config import Settings
from loom.context.tokens import TokenCounter
from loom.errors import LoomError
from loom.locations import Locations
from loom.models.secrets import scrub


class HomeUnusable(LoomError):
    """loom's own folder cannot be made or written."""


@dataclass(slots=True)
class Workbench:
    """Opened once a program, closed at its end."""

    locations: Locations
    settings: Settings
    store: ConversationStore
    spool: Spool
    counter: TokenCounter = field(default_factory=TokenCounter)
    only_read: NewerArchive | UnwritableArchive | None = None
    """Why nothing can be stored: a newer loom wrote the archive, or its place is read-only. What it holds can be
    read."""

    @classmethod
    async def open(cls, locations: Locations, settings: Settings, *, read_only: bool = False) -> Workbench:
        """Make loom's home if needed and open the archive; with `read_only`, one that nothing can be stored in to be
        read only.

        Raises HomeUnusable, or an ArchiveError that says what is wrong with the database and what to do.
        """
        try:
            locations.prepare()
        except OSError as error:
            if not read_only or not locations.archive.exists():
                raise HomeUnusable(
                    f"{locations.home} cannot be used: {error.strerror or error}.",
                    "Make it writable, or set LOOM_HOME to another folder.",
                ) from error
        only_read = None
        try:
            store = await ConversationStore.open(locations.archive)
        except (NewerArchive, UnwritableArchive) as error:
            if not read_only:
                raise
            only_read, store = error, await ConversationStore.open(locations.archive, readonly=True)
        bench = cls(locations, settings, store, Spool(locations.spool), only_read=only_read)
        if only_read is None:
            store.spool_stranded(bench.spool)
            await bench._bring_back_sessions()
        return bench

    async def _bring_back_sessions(self) -> None:
        """Store the sessions that an earlier loom could not leave in the archive: nobody could open them, to have their
        turns brought back. What fails stays for the next start."""
        try:
            waiting = await asyncio.to_thread(self.spool.waiting)
        except OSError as error:
            self.log_fault(error)
            return
        for spooled in waiting:
            try:
                if await self.store.adopt(spooled):
                    kept = await asyncio.to_thread(self.spool.remove, spooled)
                    if kept is not None:
                        self.log_fault(LoomError(unreadable_in_words(spooled, kept)))
            except (LoomError, OSError) as error:
                self.log_fault(error)

    async def back_up(self) -> None:
        """Make the day's backup if it is due. A failure is said in `loom.log`: it must not stop the work."""
        try:
            await asyncio.to_thread(back_up_regularly, self.locations.archive)
        except (LoomError, OSError) as error:
            self.log_fault(error)

    @property
    def forbidden(self) -> tuple[Path, ...]:
        """Folders that no tool may touch: an innocent read of the database cancels its locks."""
        return (self.locations.home,)

    def log_fault(self, error: BaseException) -> None:
        """Keep where a fault of loom's own came from in `loom.log`, without secrets. Never raises."""
        lines = traceback.format_exception(error)
        entry = f"{datetime.now(UTC).isoformat()}\n{scrub(''.join(lines))}\n"
        try:
            descriptor = os.open(self.locations.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as log:
                log.write(entry)
        except OSError as failure:
            # The fault itself is on the screen already; a log that cannot be written must not hide it.
            logging.getLogger(__name__).warning("loom.log cannot be written: %s", failure)

    async def close(self) -> None:
        self.spool.close()
        await self.store.close()
