"""In a session of several thousand turns, what was said long ago is found as one types."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.records import SearchHit
from loom.tui.choices import JumpTo
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.widgets.hit_list import HitList
from tests.support.browsing import alone, until
from tests.support.long_talk import PLANTED, Planted, tell

HERE = "/home/ada/src/shop"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ConversationStore]:
    store = await ConversationStore.open(tmp_path / "archive.db")
    yield store
    await store.close()


async def test_the_right_turn_is_among_the_first_five(store: ConversationStore) -> None:
    session = await store.create_session(HERE, "offline", "")
    turns = await tell(store, session)
    for plant in PLANTED:
        await _find(store, session, plant, turns[plant.asked])


async def _find(store: ConversationStore, session: str, plant: Planted, turn: int) -> None:
    screen = ArchiveScreen(store, session_id=session, workspace=HERE)
    app = alone(screen)

    def first_five() -> list[int]:
        hits = [item.turn_number for item in screen.query_one(HitList).items if isinstance(item, SearchHit)]
        return hits[:5]

    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
        await pilot.press(*plant.asked)
        await until(pilot, lambda: turn in first_five())
        await pilot.press("down", *["down"] * first_five().index(turn), "enter")
        await until(pilot, lambda: app.left)
    assert app.result == JumpTo(session, turn)
