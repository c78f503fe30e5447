"""Messages that wait for their turn: shown, taken back, held."""

from __future__ import annotations

from loom.tui.widgets.composer import Composer
from loom.tui.widgets.queue import QueuedMessages
from tests.support.browsing import screen_text
from tests.tui.conftest import ChatApp, settled


async def test_a_message_sent_before_the_conversation_is_there_waits_and_can_be_taken_back() -> None:
    app = ChatApp(attached=False)
    async with app.run_test() as pilot:
        await pilot.press("a", "enter", "b", "enter")
        assert app.chat.query_one(QueuedMessages).display
        await pilot.press("up")
        assert app.chat.query_one(Composer).text == "b"
        await app.chat.attach(app.service)
        assert app.service.sent == ["a"]


async def test_what_is_typed_while_it_works_is_queued_and_editable(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        await pilot.press("l", "a", "t", "e", "r", "enter")
        await settled(pilot, app)
        assert app.service.waiting == ("later",)
        assert app.chat.query_one(QueuedMessages).display
        await pilot.press("up")
        await settled(pilot, app)
        assert app.chat.draft == "later"
        assert app.service.waiting == ()
        assert not app.chat.query_one(QueuedMessages).display


async def test_esc_holds_what_was_queued_and_each_comes_back_as_it_was(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        for text in ("first", "!make", "third"):
            app.chat.query_one(Composer).put(text)
            await pilot.press("enter")
        app.chat.query_one(Composer).put("half")
        await settled(pilot, app)
        await pilot.press("escape")
        app.service.busy = False
        await settled(pilot, app)
        composer = app.chat.query_one(Composer)
        assert (app.service.interrupts, app.service.sent, composer.text) == (1, [], "half")
        assert "Held: an empty Enter sends them" in screen_text(app)
        await pilot.press("enter")
        await settled(pilot, app)
        assert app.service.sent == ["half"], "what is written goes, what is held does not"
        await pilot.press("up")
        await settled(pilot, app)
        assert (composer.text, composer.is_shell) == ("third", False)
        await pilot.press("ctrl+c", "up")
        await settled(pilot, app)
        assert (composer.text, composer.is_shell) == ("make", True)
        await pilot.press("ctrl+c", "escape", "enter")
        await settled(pilot, app)
        assert app.service.sent == ["half", "first"]
        assert not app.chat.query_one(QueuedMessages).display
