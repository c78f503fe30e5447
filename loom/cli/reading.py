"""Opening the archive for a command that only reads it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from loom.archive import ConversationStore, NewerArchive, UnwritableArchive
from loom.cli.output import say


@asynccontextmanager
async def opened(archive: Path) -> AsyncIterator[ConversationStore]:
    """The archive, closed in the end. One that a newer loom wrote, or that is where nothing can be written, is read as
    it is, and a line on stderr says so.

    Raises an ArchiveError.
    """
    try:
        store = await ConversationStore.open(archive)
    except (NewerArchive, UnwritableArchive) as error:
        say(f"loom: {error.what} It is only read.")
        store = await ConversationStore.open(archive, readonly=True)
    try:
        yield store
    finally:
        await store.close()
