"""What the transcript asks for: more turns, a page at a time, and what belongs to one of its blocks."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on, work

from loom.archive.records import Turn
from loom.errors import LoomError
from loom.tui.screens.chat_commands import CommandedScreen
from loom.tui.screens.left_turns import LeftTurnsScreen
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.fold import WholeText
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.pinnable import PinWanted
from loom.tui.widgets.receipt import LeftWanted
from loom.tui.widgets.state_panel import StateList, StatePanel
from loom.tui.widgets.transcript import Transcript

PAGE = 100
"""Turns loaded at once."""


class PagedScreen(CommandedScreen):
    """Gives the transcript what it asks for."""

    @property
    def busy(self) -> bool:
        """Whether an exchange runs."""
        return self.service is not None and self.service.busy

    def _may_run(self, turns: Sequence[Turn], *, at_end: bool) -> bool:
        """Whether calls of the newest exchange of these turns that have no result may get one: here, or in the loom
        that has made them and still has the session."""
        if self.busy:
            return True
        since = self.service.writer_since if self.service is not None else ""
        return bool(since and at_end and turns) and turns[-1].created_at >= since

    @on(Transcript.OlderWanted)
    @work(group="pages", exit_on_error=False)
    async def _older(self, event: Transcript.OlderWanted) -> None:
        transcript = self.query_one(Transcript)
        if self.busy and transcript.full:
            # What runs needs the newest blocks, so none could be dropped for the older ones.
            self.say("Older turns are shown again when the exchange has ended.")
            transcript.page_failed()
            return
        try:
            turns = await self.conversation().transcript(event.before, PAGE)
        except LoomError as error:
            self.say(str(error), "error")
            transcript.page_failed()
            return
        if transcript.oldest_turn != event.before:
            return  # something else was gone to meanwhile
        older = bool(turns) and turns[0].turn_number > 1
        await transcript.add_older(turns, has_older=older, live=self.busy)

    @on(Transcript.NewerWanted)
    @work(group="pages", exit_on_error=False)
    async def _newer(self, event: Transcript.NewerWanted) -> None:
        transcript = self.query_one(Transcript)
        try:
            service = self.conversation()
            turns = await service.transcript(event.after + PAGE + 1, PAGE)
        except LoomError as error:
            self.say(str(error), "error")
            transcript.page_failed()
            return
        if transcript.newest_turn != event.after:
            return  # something else was gone to meanwhile
        newer = [turn for turn in turns if turn.turn_number > event.after]
        last = newer[-1].turn_number if newer else event.after
        at_end = service.session is None or last >= service.session.turn_count
        await transcript.add_newer(newer, running=self._may_run(newer, at_end=at_end), at_end=at_end)

    @on(Transcript.NewestWanted)
    @work(group="pages", exit_on_error=False)
    async def _newest(self) -> None:
        try:
            await self.show_newest()
        except LoomError as error:
            self.say(str(error), "error")

    async def show_newest(self) -> None:
        if self.service is not None:
            await self.show_page(await self.service.transcript(None, PAGE))

    async def show_page(self, turns: list[Turn], *, at_end: bool = True) -> None:
        older = bool(turns) and turns[0].turn_number > 1
        running = self._may_run(turns, at_end=at_end)
        await self.query_one(Transcript).show_page(turns, has_older=older, running=running, at_end=at_end)
        await self.show_unanswered()

    async def show_unanswered(self) -> None:
        """Say of the newest message or result that it has no answer, behind it, as long as that is so."""
        transcript = self.query_one(Transcript)
        turn = self.service.unanswered if self.service is not None and not transcript.newer_dropped else None
        await transcript.show_unanswered(turn)

    async def add_note(self, text: str) -> None:
        """A quiet fact, behind the newest turn; said in passing when that is not drawn."""
        transcript = self.query_one(Transcript)
        if transcript.newer_dropped:
            self.say(text, "warning")
        else:
            await transcript.add_line(ReceiptLine(text))

    async def go_to_turn(self, turn: int) -> None:
        """Scroll to this turn, loading its page if need be."""
        transcript = self.query_one(Transcript)
        if not transcript.reveal(turn) and self.service is not None:
            if self.busy:
                self.say(f"T{turn} is further up than what is loaded: it is shown when the exchange has ended.")
                return
            turns = await self.service.transcript(turn + PAGE // 2, PAGE)
            newest = self.service.session.turn_count if self.service.session is not None else 0
            await self.show_page(turns, at_end=not turns or turns[-1].turn_number >= newest)
            transcript.reveal(turn)

    @on(StatePanel.TurnWanted)
    @work(group="pages", exit_on_error=False)
    async def _turn_wanted(self, event: StatePanel.TurnWanted) -> None:
        if self.has_class("-narrow"):
            # The panel stands in the conversation's place.
            self.toggle_state()
        try:
            await self.go_to_turn(event.turn)
        except LoomError as error:
            self.say(str(error), "error")

    @on(StateList.YamlWanted)
    def _yaml_wanted(self) -> None:
        if self.service is not None:
            yaml = self.service.state_yaml()
            self.app.push_screen(WholeTextScreen("The session state as the model gets it", yaml))

    @on(PinWanted)
    @work(group="pin", exit_on_error=False)
    async def _pin_wanted(self, event: PinWanted) -> None:
        try:
            service = self.conversation()
            pinned = next((pin for pin in service.state.pins if pin.turn == event.turn), None)
            if pinned is not None:
                await service.unpin(pinned)
            else:
                await service.pin_turn(event.turn)
        except LoomError as error:
            self.say(str(error), "error")

    @on(LeftWanted)
    @work(group="left", exit_on_error=False)
    async def _left_wanted(self, event: LeftWanted) -> None:
        try:
            service = self.conversation()
            if event.bring_back or await self.app.push_screen_wait(LeftTurnsScreen(service, event.ranges)):
                await service.bring_back(event.ranges)
        except LoomError as error:
            await self.query_one(Transcript).add_line(ErrorBlock(str(error)))

    @on(WholeText)
    def _whole_text(self, event: WholeText) -> None:
        self.app.push_screen(WholeTextScreen(event.title, event.text, diff=event.diff, verbatim=event.verbatim))
