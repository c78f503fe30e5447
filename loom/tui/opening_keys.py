"""What is pressed while the archive is still being opened: a key that leads to a screen which needs it waits, and so
do the keys behind it, which are that screen's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic

from textual import on
from textual.events import Event, Key, Paste

from loom.tui.choices import PickerResult, Quit
from loom.tui.look import LoomLook
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.chat_commands import GoTo, Place
from loom.tui.screens.picker import PickerScreen

WAITED_FOR: Mapping[Place, str] = {"archive": "the archive browser", "sessions": "the list of sessions"}
"""Where the keys at the foot lead that need the archive, and what a person calls it."""
NEEDS_NOTHING: frozenset[Place] = frozenset({"help", "quit"})


class OpeningKeys(LoomLook):
    """Keeps the keys of the time before there is a conversation, or a list to choose one from."""

    def __init__(self, theme: str = "loom-dark", *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(theme, clock=clock)
        self._opened = False
        self._wanted: tuple[Place, str, ChatScreen] | None = None
        """Where to go, with what argument, and from where, as soon as that can be."""
        self._behind: list[Key | Paste] = []

    async def go(self, place: Place, argument: str) -> None:
        """Go to another place, which is there."""
        raise NotImplementedError

    async def action_go(self, place: Place, argument: str = "") -> None:
        """Go there; done as a key is pressed, the keys behind it are the new screen's."""
        if self._opened or place in NEEDS_NOTHING:
            await self.go(place, argument)
        elif isinstance(chat := self.screen, ChatScreen):
            if place in WAITED_FOR:
                self._wanted = (place, argument, chat)
                chat.keep_keys_for(WAITED_FOR[place])
            else:
                chat.say("The archive is still being opened.", "warning")

    @on(GoTo)
    async def _go_to(self, event: GoTo) -> None:
        await self.action_go(event.place, event.argument)

    async def on_event(self, event: Event) -> None:
        # What asks something meanwhile gets its answer.
        waits = self._wanted is not None and isinstance(self.screen, ChatScreen)
        if not waits or not isinstance(event, Key | Paste) or (isinstance(event, Key) and event.key == "ctrl+q"):
            await super().on_event(event)
        elif isinstance(event, Key) and event.key in ("escape", "ctrl+c"):
            # As if the place had been left again.
            self._taken()
        else:
            self._behind.append(event)

    @on(ChatScreen.Attached)
    def opened(self) -> None:
        """From now on there is whatever a key may lead to, or it is known why not. What waited for that is done before
        any key that is pressed later."""
        if not self._opened:
            self._opened = True
            self.call_later(self._go_on)

    async def let_pick(self, picker: PickerScreen, chat: ChatScreen) -> PickerResult:
        """What the person picks, once nothing that they opened meanwhile stands over the `chat` any more."""
        await self._uncovered(chat)
        picked: asyncio.Future[PickerResult | None] = asyncio.get_running_loop().create_future()
        await self.push_screen(picker, picked.set_result)
        self.opened()
        return await picked or Quit()

    async def _uncovered(self, chat: ChatScreen) -> None:
        changed = asyncio.Event()
        self.screen_change_signal.subscribe(chat, lambda _: changed.set(), immediate=True)
        try:
            while self.screen is not chat:
                changed.clear()
                await changed.wait()
        finally:
            self.screen_change_signal.unsubscribe(chat)

    async def _go_on(self) -> None:
        if self._wanted is None:
            return
        place, argument, _ = self._wanted
        behind = self._taken()
        if not isinstance(picker := self.screen, PickerScreen):
            await self.go(place, argument)
        elif place == "archive":
            await picker.action_archive(argument)
        for event in behind:
            await super().on_event(event)

    def _taken(self) -> list[Key | Paste]:
        """The keys that waited, for which nothing waits any more."""
        if self._wanted is not None:
            self._wanted[2].keep_keys_for("")
        behind, self._wanted, self._behind = self._behind, None, []
        return behind
