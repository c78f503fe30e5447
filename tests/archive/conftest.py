"""A real archive in a temporary home."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive import ConversationStore


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    """Where the archive will be; nothing is there yet."""
    return tmp_path / "home" / "archive.db"


@pytest.fixture
async def store(archive_path: Path) -> AsyncIterator[ConversationStore]:
    store = await ConversationStore.open(archive_path)
    yield store
    await store.close()


@pytest.fixture
async def other_store(store: ConversationStore) -> AsyncIterator[ConversationStore]:
    """A second store on the same archive, as a second loom has it."""
    other = await ConversationStore.open(store.path)
    yield other
    await other.close()


@pytest.fixture
async def session(store: ConversationStore, tmp_path: Path) -> str:
    """The id of a session without turns."""
    return await store.create_session(tmp_path, "offline", "You are loom.")
