"""Going back in the conversation: the command, the key, and the message that is given back."""

from __future__ import annotations

from textual import on, work

from loom.errors import LoomError
from loom.text import show_line
from loom.tui.named_turn import named_turn
from loom.tui.screens.chat_pages import PagedScreen
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.message import UserMessage
from loom.tui.widgets.transcript import Transcript


class RewindingScreen(PagedScreen):
    """Rewinds, and takes that back."""

    async def command_rewind(self, argument: str) -> None:
        turn = named_turn(argument)
        if argument and not turn:
            raise LoomError(
                f"{show_line(argument, 40)} names no turn.",
                "/rewind T12 goes back to before the exchange of that turn, /rewind to before the last one.",
            )
        await self._rewind(turn or None)

    async def command_unrewind(self, argument: str) -> None:
        await self.conversation().unrewind()
        await self.show_unanswered()

    async def _rewind(self, turn: int | None) -> None:
        """What the person had typed there comes back, to be changed and sent again."""
        message = await self.conversation().rewind(turn)
        transcript = self.query_one(Transcript)
        if transcript.newer_dropped:
            await self.show_newest()
        # The line that says what went is the newest.
        transcript.anchor()
        await self.show_unanswered()
        composer = self.query_one(Composer)
        if not message:
            return
        if composer.is_idle:
            composer.put(message)
            composer.focus()
        else:
            composer.remember([message])
            self.say("The composer has words of yours: the message from there is in its history, Up brings it.")

    @on(UserMessage.RewindWanted)
    @work(group="rewind", exit_on_error=False)
    async def _rewind_wanted(self, event: UserMessage.RewindWanted) -> None:
        try:
            await self._rewind(event.turn)
        except LoomError as error:
            self.say(str(error), "error")
