"""The conversation: transcript, composer, approvals, gauge, state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Key, ScreenResume
from textual.message import Message
from textual.widgets import Input, TextArea

from loom.archive.records import Turn
from loom.cowork import events as ev
from loom.cowork.typed import Typed, joined, packed, read_typed, typed_in
from loom.errors import LoomError
from loom.text import show_line
from loom.tools.mentions import best_paths
from loom.tui.commands import Call, Command, parse
from loom.tui.keys import bindings
from loom.tui.screens.chat_events import EventDrawing
from loom.tui.screens.chat_pages import PAGE, PagedScreen
from loom.tui.screens.event_feed import EventFeed
from loom.tui.service import ChatService
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.approval_place import ApprovalPlace
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.composer import Composer, PathEntry
from loom.tui.widgets.gauge import Gauge
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.key_order import passed_on
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.notice_bar import Notice, NoticeBar
from loom.tui.widgets.queue import QueuedMessages
from loom.tui.widgets.said_line import SaidLine
from loom.tui.widgets.state_panel import StatePanel
from loom.tui.widgets.status import StatusLine
from loom.tui.widgets.transcript import Transcript
from loom.tui.widgets.welcome import Welcome

PATHS_SECONDS = 10.0
"""So long the list of files that are offered behind an @ is taken for what is there."""
MOST_OFFERED = 50


class ChatScreen(PagedScreen):
    """One conversation. It can be drawn and written in before its service is there."""

    AUTO_FOCUS = "Composer"
    BINDINGS: ClassVar[list[BindingType]] = bindings("chat")

    class DraftChanged(Message):
        """What is being written, or what waits to be sent, is not what it was."""

    class TakenAnswer(Message):
        """The person wants to say what is done about a session that another loom took over."""

    def __init__(self, workspace: Path, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(workspace, clock=clock)
        drawing = EventDrawing(self)
        self._feed = EventFeed(drawing.draw, drawing.failed)
        self._paths: list[str] | None = None
        self._paths_at = 0.0

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
        self.query_one(StatusLine).show_word("opening…")
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
        self.query_one(Transcript).show_pins(pin.turn for pin in service.state.pins)
        await self.show_page(turns)
        if not turns:
            await self.query_one(Transcript).greet(Welcome(self.welcome_info(service)))
        if turn is not None:
            await self.go_to_turn(turn)
        if note:
            await self.add_note(note)
        await self.show_unanswered()
        composer = self.query_one(Composer)
        composer.remember(typed.spelled for typed in map(typed_in, turns) if typed is not None)
        self.show_info()
        self.show_state()
        early, self._early = self._early, []
        for text in early:
            self._hand_over(service, read_typed(text))
        self.show_queue()
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

    @property
    def draft(self) -> str:
        """What has not been sent, packed: what waits, then what is being written, long pastes in full."""
        return packed(*self.waiting, self.query_one(Composer).unsent)

    def take_draft(self) -> str:
        """What has not been sent, which is nowhere on this screen any more."""
        words = self.draft
        self._take_waiting()
        self.query_one(Composer).put("")
        return words

    def restore_draft(self, pieces: Sequence[str], service: ChatService, *, all_waited: bool = False) -> None:
        """Put back what was not sent when this conversation was left: the newest, unless `all_waited`, in front of what
        is written already, what waited before it into the queue of `service`, held."""
        *waited, newest = [*pieces, ""] if all_waited else pieces or [""]
        if service.read_only:
            newest = joined(*waited, newest)
        else:
            service.hold(waited)
        if newest:
            self.query_one(Composer).give_back(newest)

    @on(TextArea.Changed, "#composer")
    @on(Composer.ShellChanged)
    def _written(self) -> None:
        self.post_message(self.DraftChanged())
        composer = self.query_one(Composer)
        if composer.has_focus and composer.is_idle:
            # Whoever has nothing to say any more may answer what is asked.
            self.query_one(ApprovalPlace).take_keyboard()

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
        if self.busy:
            self.action_interrupt()
            return True
        return False

    # --- writing ---------------------------------------------------------------------------------------------

    @on(Composer.Submitted)
    async def _submitted(self, event: Composer.Submitted) -> None:
        composer = self.query_one(Composer)
        call = parse(event.text)
        if call is not None:
            if call.command is None:
                composer.give_back(event.text)
            self.run_command(call)
            return
        await self._send(Typed(event.text), self._problem)

    @on(Composer.CommandSubmitted)
    async def _command_submitted(self, event: Composer.CommandSubmitted) -> None:
        # It needs no model, only a place to be kept in.
        await self._send(Typed(event.command, is_command=True), self.failure)

    async def _send(self, typed: Typed, problem: str) -> None:
        """Hand it to the conversation; `problem` is why that cannot be, empty when it can."""
        composer, transcript = self.query_one(Composer), self.query_one(Transcript)
        if self.service is not None and self.service.taken:
            composer.give_back(typed.spelled)
            self.post_message(self.TakenAnswer())
            return
        if self.service is not None and self.service.read_only:
            composer.give_back(typed.spelled)
            self.say("This session is open to read only; your text stays here.", "warning")
            return
        if problem:
            composer.give_back(typed.spelled)
            self.say(f"{problem} Your text stays here.", "error")
            return
        if transcript.newer_dropped and not self.busy:
            await self.show_newest()
        transcript.anchor()
        if self.service is None:
            self._early.append(typed.spelled)
            self.show_queue()
        else:
            self._hand_over(self.service, typed)

    @staticmethod
    def _hand_over(service: ChatService, typed: Typed) -> None:
        if typed.is_command:
            service.run_command(typed.text)
        else:
            service.submit(typed.text)

    def attach_turn(self, turn: Turn, reference: str) -> None:
        """Let this turn go along with the next message, under a short name."""
        name = f"[{reference} T{turn.turn_number}]"
        composer = self.query_one(Composer)
        composer.attach(name, f"{name} {turn.role} wrote:\n{turn.content or ''}\n[end of T{turn.turn_number}]\n")
        composer.focus()

    @on(Composer.TakeBack)
    @on(Approval.TakeBack)
    def _take_back(self) -> None:
        text = self._early.pop() if self._early else self.service.take_back() if self.service is not None else None
        if text is not None:
            composer = self.query_one(Composer)
            composer.put(text)
            composer.focus()
            self._say_typing()
        self.show_queue()

    @on(Composer.SendHeld)
    def _send_held(self) -> None:
        if self.service is not None and self.service.taken and self.service.held:
            self.post_message(self.TakenAnswer())
        elif self.service is not None:
            self.service.send_held()

    @on(Composer.Scrolled)
    def _scrolled(self, event: Composer.Scrolled) -> None:
        transcript = self.query_one(Transcript)
        # A conversation that is in view whole refuses to scroll.
        with suppress(SkipAction):
            if event.pages < 0:
                transcript.action_page_up()
            else:
                transcript.action_page_down()

    @on(Composer.HiddenShown)
    def _hidden_shown(self, event: Composer.HiddenShown) -> None:
        self.say(f"The paste held {event.count} characters that cannot be seen; they are visible now.", "warning")

    @on(Composer.PathsWanted)
    @work(group="paths", exclusive=True, exit_on_error=False)
    async def _paths_wanted(self, event: Composer.PathsWanted) -> None:
        if self.service is None:
            return
        now = self._clock()
        if self._paths is None or now - self._paths_at > PATHS_SECONDS:
            self._paths, self._paths_at = await self.service.paths(), now
        best = await asyncio.to_thread(best_paths, self._paths, event.wanted, MOST_OFFERED)
        self.query_one(Composer).offer_paths(event.wanted, best)

    @on(CompletionPopup.Picked)
    def _picked(self, event: CompletionPopup.Picked) -> None:
        composer = self.query_one(Composer)
        composer.complete_with(event.entry)
        composer.focus()

    @on(Gauge.Filled)
    def _filled(self, event: Gauge.Filled) -> None:
        usage = event.usage
        mark = 100 * usage.high_water / usage.window if usage.window else 0
        words = f"The window is {usage.percent:.0f}% full."
        if usage.used < usage.high_water:
            words += f" At {mark:.0f}% the oldest of it leaves; the archive keeps every turn."
        self.say(f"{words} F2 shows what it holds.", "warning")

    def on_key(self, event: Key) -> None:
        """Letters typed while the transcript has the keyboard belong to the composer."""
        written = event.is_printable
        begun = written and not isinstance(self.focused, Composer | Input) and event.key not in self.active_bindings
        # The composer takes these, so they waited elsewhere while the first one gave it the keyboard.
        follows = isinstance(self.focused, Composer) and (written or event.key in ("backspace", "enter"))
        if begun or follows:
            self.set_focus(self.query_one(Composer))
            passed_on(self, event)

    # --- approvals -------------------------------------------------------------------------------------------

    @on(Approval.Answered)
    def _answered(self, event: Approval.Answered) -> None:
        if self.service is not None:
            self.service.answer(event.call_id, event.decision)

    @on(Approval.Typed)
    def _typed(self, event: Approval.Typed) -> None:
        composer = self.query_one(Composer)
        composer.focus()
        composer.insert(event.characters)
        self._say_typing()

    def _say_typing(self) -> None:
        if (question := self.query_one(ApprovalPlace).question) is not None:
            question.say_typing()

    @on(Composer.AnswerWanted)
    def _answer_wanted(self) -> None:
        if not self.query_one(ApprovalPlace).take_keyboard():
            self.leave_composer()

    @on(ScreenResume)
    def _resumed(self) -> None:
        self.query_one(ApprovalPlace).restart()

    @property
    def _problem(self) -> str:
        """Why nothing can be sent, in words; empty when something can, now or soon."""
        if self.service is not None and self.service.problem is not None:
            return f"{self.service.problem} /model chooses another model."
        return self.failure

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
        self.query_one(Transcript).anchor()
        self.query_one(Composer).focus()

    def action_command(self, name: str) -> None:
        call = Call(name, "")
        command = call.command
        if command is not None and command.args and not command.args.startswith("["):
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
