"""The program on a real terminal, and a person who types before it has drawn anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.unsent import Unsent, place_of
from tests.support.checkout import make_checkout
from tests.support.pty_program import PtyProgram, environment_for
from tests.support.unsent import left_unsent


class Place:
    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = make_checkout(folder / "checkout")

    def loom(self) -> PtyProgram:
        return PtyProgram(["cowork", "-w", str(self.workspace)], environment_for(self.home, LOOM_MODEL="offline"))

    async def said(self) -> list[str | None]:
        """What the person said, in every session."""
        store = await ConversationStore.open(self.home / "archive.db")
        try:
            sessions = await store.list_sessions()
            return [t.content for s in sessions for t in await store.get_turns(s.id) if t.role == "user"]
        finally:
            await store.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_line_and_enter_are_sent_once(place: Place) -> None:
    with place.loom() as loom:
        loom.press("list the files\r")
        loom.until("README.md")
        loom.press("\x11")
        assert loom.wait() == 0
        assert loom.modes_now == loom.modes
    assert await place.said() == ["list the files"]


async def test_a_line_that_is_begun_is_gone_on_with(place: Place) -> None:
    with place.loom() as loom:
        loom.press("list the ")
        loom.ready()
        loom.press("files\r")
        loom.until("README.md")
        loom.press("\x11")
        assert loom.wait() == 0
    assert await place.said() == ["list the files"]


async def test_several_lines_may_be_a_paste_and_wait_in_the_composer(place: Place) -> None:
    with place.loom() as loom:
        loom.press("list the files\rand then\r")
        loom.until("and then")
        loom.until("offline (no model)")
        loom.press("\x11")
        assert loom.wait() == 0
    assert await place.said() == []
    kept = left_unsent(Unsent(place.home / "unsent"), place_of(None, str(place.workspace)))
    assert [text.rstrip() for text in kept] == ["list the files\nand then"]


async def test_what_was_sent_before_a_session_was_picked_goes_to_the_one_that_is(place: Place) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.say("count to 3")
        loom.until("1, 2, 3")
        loom.press("\x11")
        assert loom.wait() == 0
    with place.loom() as loom:
        loom.press("list the files\r")
        loom.until("New session")
        loom.press("\x1b")
        assert loom.wait() == 0
    assert await place.said() == ["count to 3"]
    with place.loom() as loom:
        loom.until("New session")
        loom.press("\r")
        loom.until("list the files")
        loom.press("\x11")
        assert loom.wait() == 0
