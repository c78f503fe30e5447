"""What a person writes: completed, sent to the conversation, kept waiting, taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from textual import on, work
from textual.actions import SkipAction
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import Input, TextArea

from loom.archive.records import Turn
from loom.cowork.typed import Typed, joined, packed, read_placed, read_typed
from loom.text import plural
from loom.tools.mentions import attached_turn, best_paths
from loom.tui.commands import parse
from loom.tui.screens.chat_rewinding import RewindingScreen
from loom.tui.service import ChatService
from loom.tui.turn_text import turn_heading, turn_text
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.approval_place import ApprovalPlace
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.key_order import passed_on
from loom.tui.widgets.transcript import Transcript

PATHS_SECONDS = 10.0
"""So long the list of files that are offered behind an @ is taken for what is there."""
MOST_OFFERED = 50


class WritingScreen(RewindingScreen):
    """Stands between the composer and the conversation, which may not be there yet."""

    class DraftChanged(Message):
        """What is being written, or what waits to be sent, is not what it was."""

    class TakenAnswer(Message):
        """The person wants to say what is done about a session that another loom took over."""

    def __init__(self, workspace: Path, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(workspace, clock=clock)
        self._paths: list[str] | None = None
        self._paths_at = 0.0

    @property
    def draft(self) -> str:
        """What has not been sent, packed: what waits, then what is being written, long pastes in full, and where the
        cursor stands in it."""
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
        texts = [read_placed(piece) for piece in pieces]
        *waited, (newest, place) = [*texts, ("", None)] if all_waited or not texts else texts
        before = [text for text, _ in waited]
        composer = self.query_one(Composer)
        if not service.read_only:
            service.hold(before)
        elif before:
            newest, place = joined(*before, newest), None
        if newest and composer.is_idle:
            composer.put(newest, place)
        elif newest:
            composer.give_back(newest)

    @on(TextArea.SelectionChanged, "#composer")
    def _cursor_moved(self) -> None:
        self.post_message(self.DraftChanged())

    @on(TextArea.Changed, "#composer")
    @on(Composer.ShellChanged)
    def _written(self) -> None:
        self.post_message(self.DraftChanged())
        composer = self.query_one(Composer)
        if composer.has_focus and composer.is_idle:
            # Whoever has nothing to say any more may answer what is asked.
            self.query_one(ApprovalPlace).take_keyboard()

    def on_key(self, event: Key) -> None:
        """Letters typed while the transcript has the keyboard belong to the composer."""
        written = event.is_printable
        begun = written and not isinstance(self.focused, Composer | Input) and event.key not in self.active_bindings
        # The composer takes these, so they waited elsewhere while the first one gave it the keyboard.
        follows = isinstance(self.focused, Composer) and (written or event.key in ("backspace", "enter"))
        if begun or follows:
            self.set_focus(self.query_one(Composer))
            passed_on(self, event)

    def on_paste(self, event: Paste) -> None:
        """What is pasted while the transcript or a question has the keyboard is written; it answers nothing."""
        composer = self.query_one(Composer)
        self.set_focus(composer)
        composer.post_message(Paste(event.text))
        self._say_typing()

    # --- sending ---------------------------------------------------------------------------------------------

    @on(Composer.Submitted)
    async def _submitted(self, event: Composer.Submitted) -> None:
        composer = self.query_one(Composer)
        call = parse(event.text)
        if call is not None:
            if call.command is None:
                composer.give_back(event.text)
            if call.name != "state":
                self.show_conversation()
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
        self.show_conversation()
        transcript.anchor()
        if self.service is None:
            self._early.append(typed.spelled)
            self.show_queue()
        else:
            self._hand_over(self.service, typed)

    @property
    def _problem(self) -> str:
        """Why nothing can be sent, in words; empty when something can, now or soon."""
        if self.service is not None and self.service.problem is not None:
            return f"{self.service.problem} /model chooses another model."
        return self.failure

    @staticmethod
    def _hand_over(service: ChatService, typed: Typed) -> None:
        if typed.is_command:
            service.run_command(typed.text)
        else:
            service.submit(typed.text)

    def send_early(self, service: ChatService) -> None:
        """Hand over what was sent before the conversation was there."""
        early, self._early = self._early, []
        for text in early:
            self._hand_over(service, read_typed(text))
        self.show_queue()

    def attach_turn(self, turn: Turn, reference: str) -> None:
        """Let this turn go along with the next message, under a short name."""
        composer = self.query_one(Composer)
        about = turn_heading(turn).partition(" ")[2]
        composer.attach(attached_turn(f"{reference} T{turn.turn_number}", about, turn_text(turn)))
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

    # --- what else the keys of the composer ask for ----------------------------------------------------------

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
        held = plural(event.count, "character that cannot be seen; it is", "characters that cannot be seen; they are")
        self.say(f"The paste held {held} visible now.", "warning")

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

    @on(Composer.AnswerWanted)
    def _answer_wanted(self) -> None:
        if not self.query_one(ApprovalPlace).take_keyboard():
            self.leave_composer()

    @on(Approval.Typed)
    def _typed(self, event: Approval.Typed) -> None:
        composer = self.query_one(Composer)
        composer.focus()
        if composer.is_idle:
            # A `!` in front of everything makes a shell of it, as where it is typed.
            composer.put(event.characters)
        else:
            composer.insert(event.characters)
        self._say_typing()

    def _say_typing(self) -> None:
        if (question := self.query_one(ApprovalPlace).question) is not None:
            question.say_typing()
