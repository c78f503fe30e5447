"""The conversation: transcript, composer, approvals, gauge, state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import ScreenResume
from textual.message import Message

from loom.cowork import events as ev
from loom.cowork.typed import typed_in
from loom.errors import LoomError
from loom.text import show_line
from loom.tui.commands import Call, Command
from loom.tui.keys import bindings
from loom.tui.screens.chat_events import EventDrawing
from loom.tui.screens.chat_pages import PAGE
from loom.tui.screens.chat_writing import WritingScreen
from loom.tui.screens.event_feed import EventFeed
from loom.tui.service import ChatService
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.approval_place import ApprovalPlace
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.composer import Composer, PathEntry
from loom.tui.widgets.gauge import Gauge
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.notice_bar import Notice, NoticeBar
from loom.tui.widgets.queue import QueuedMessages
from loom.tui.widgets.said_line import SaidLine
from loom.tui.widgets.state_panel import StatePanel
from loom.tui.widgets.status import StatusLine
from loom.tui.widgets.transcript import Transcript
from loom.tui.widgets.welcome import Welcome


class ChatScreen(WritingScreen):
    """One conversation. It can be drawn and written in before its service is there."""

    AUTO_FOCUS = "Composer"
    BINDINGS: ClassVar[list[BindingType]] = bindings("chat")

    class Attached(Message):
        """The conversation is on the screen; its model may not be ready yet."""

    def __init__(self, workspace: Path, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(workspace, clock=clock)
        drawing = EventDrawing(self)
        self._feed = EventFeed(drawing.draw, drawing.failed)

    # --- wiring ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        popup: CompletionPopup[Command | PathEntry] = CompletionPopup(id="completion")
        yield StatusLine(clock=self._clock, id="status")
        with Horizontal(id="middle"):
            yield Transcript(clock=self._clock, id="transcript")
            yield StatePanel(id="state")
        yield SaidLine()
        yield NoticeBar(id="notice")
        yield ApprovalPlace(clock=self._clock, id="approvals")
        yield QueuedMessages(id="queue")
        yield popup
        yield Composer(popup, id="composer")
        yield Gauge(id="gauge")
        yield KeyBar()

    def on_mount(self) -> None:
        self.run_worker(self._feed.run(), name="draw events", exit_on_error=False)
        self.keep_keys_for("")
        self.show_info()
        self.place_panel()

    def receive(self, event: ev.Event) -> None:
        """The listener of this screen's conversation."""
        self._feed.receive(event)

    async def drawn(self) -> None:
        """Returns when every event received so far is on the screen."""
        await self._feed.drawn()

    async def attach(self, service: ChatService, turn: int | None = None, *, note: str = "") -> None:
        """Show this conversation: its last page of turns (or the one around `turn`), its totals, `note` behind them;
        then make it ready to answer. Messages that were sent before go to it now.
        """
        turns = await service.transcript(None, PAGE)
        self.service, self.failure = service, ""
        transcript = self.query_one(Transcript)
        transcript.show_pins(pin.turn for pin in service.state.pins)
        transcript.show_rewound(service.state.rewound)
        await self.show_page(turns)
        if not turns:
            await transcript.greet(Welcome(self.welcome_info(service)))
        if turn is not None:
            await self.go_to_turn(turn)
        if note:
            await self.add_note(note)
        await self.show_unanswered()
        composer = self.query_one(Composer)
        composer.remember(typed.spelled for typed in map(typed_in, turns) if typed is not None)
        self.show_info()
        self.show_state()
        self.send_early(service)
        self.post_message(self.Attached())
        status = self.query_one(StatusLine)
        status.show_word("starting…")
        try:
            await service.prepare()
        finally:
            status.show_word("")
            self.show_info()
            self.refresh_bindings()

    async def show_error(self, text: str) -> None:
        """Something that keeps this screen from working, in words."""
        self.query_one(StatusLine).show_word("")
        await self.query_one(Transcript).add_line(ErrorBlock(text))

    async def fail(self, text: str) -> None:
        """There is no conversation, and this is why. What is written stays where it is."""
        self.failure = text
        self.query_one(StatusLine).show_word("not open")
        await self.query_one(Transcript).add_line(ErrorBlock(f"{text}\nCtrl+Q leaves loom."))

    def keep_keys_for(self, place: str) -> None:
        """Say, while there is no conversation yet, for which place keys are kept; an empty one says only that."""
        if self.service is None and not self.failure:
            kept = f" what you type goes to {place}" if place else ""
            self.query_one(StatusLine).show_word(f"opening…{kept}")

    def say_origin(self, words: str) -> None:
        """Where this conversation comes from; it stands in the title and above the first turn."""
        self.origin = words
        self.query_one(Transcript).origin = f"{words[:1].upper()}{words[1:]}"

    def leaving(self) -> None:
        """The program ends when what runs is stored."""
        for status in self.query(StatusLine):  # none yet when it is only just starting
            status.show_word("leaving…")

    def stop(self) -> bool:
        """Clear what is being written, else interrupt what runs; False when there is neither."""
        composer = self.query_one(Composer)
        if composer.text:
            composer.empty()
            self.say("Cleared; Ctrl+Z brings it back.", fleeting=True)
            return True
        if composer.is_shell:
            composer.empty()
            return True
        if self.busy:
            self.action_interrupt()
            return True
        return False

    # --- what its parts tell it ------------------------------------------------------------------------------

    @on(Gauge.Filled)
    def _filled(self, event: Gauge.Filled) -> None:
        usage = event.usage
        mark = 100 * usage.high_water / usage.window if usage.window else 0
        words = f"The window is {usage.percent:.0f}% full."
        if usage.used < usage.high_water:
            words += f" At {mark:.0f}% the oldest of it leaves; the archive keeps every turn."
        self.say(f"{words} F2 shows what it holds.", "warning")

    @on(Approval.Answered)
    def _answered(self, event: Approval.Answered) -> None:
        if self.service is not None:
            self.service.answer(event.call_id, event.decision)

    @on(ScreenResume)
    def _resumed(self) -> None:
        self.query_one(ApprovalPlace).restart()

    # --- keys ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        shown = self.query_one(NoticeBar).shown if self.is_mounted else None
        match action:
            case "interrupt":
                return self.busy
            case "retry_save":
                return shown is Notice.UNSAVED
            case "command" if parameters == ("retry",):
                waits = self.service is not None and self.service.unanswered is not None
                return waits and shown is not Notice.UNSAVED
            case "decide":
                return shown in {Notice.TAKEN, Notice.TRUST}
        return True

    def action_compose(self) -> None:
        self.show_conversation()
        self.query_one(Transcript).to_newest()
        self.query_one(Composer).focus()

    def action_command(self, name: str) -> None:
        call = Call(name, "")
        command = call.command
        if command is not None and command.needs_words:
            self.query_one(Composer).complete_with(command)
        else:
            self.run_command(call)

    def action_decide(self) -> None:
        """Ask what the notice above the composer is about."""
        if self.query_one(NoticeBar).shown is Notice.TAKEN:
            self.post_message(self.TakenAnswer())
        else:
            self.run_command(Call("instructions", ""))

    @work(exclusive=True, group="save", exit_on_error=False)
    async def action_retry_save(self) -> None:
        self.stand(Notice.UNSAVED, "")
        try:
            await self.conversation().retry_save()
            await self.show_unanswered()
        except LoomError as error:
            self.query_one(NoticeBar).show_notice(
                Notice.UNSAVED, f"{show_line(str(error), 400)}\nCtrl+R writes it again."
            )
            self.refresh_bindings()
