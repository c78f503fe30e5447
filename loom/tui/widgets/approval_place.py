"""Where questions appear: one at a time, oldest first, between the conversation and the composer."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual.containers import Vertical

from loom.cowork.events import ApprovalAsked
from loom.tui.widgets.approval import LEAST_LINES, Approval
from loom.tui.widgets.notice_bar import NoticeBar

LOW = 20
"""Lines of the terminal up to which the conversation is drawn without boxes."""


class ApprovalPlace(Vertical):
    """Holds the questions that wait and draws the first."""

    DEFAULT_CSS = "ApprovalPlace { height: auto; }"

    def __init__(self, *, clock: Callable[[], float] = monotonic, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._waiting: list[ApprovalAsked] = []
        self._screen_height = 24

    @property
    def question(self) -> Approval | None:
        """The one that is drawn."""
        return next(iter(self.query(Approval)), None)

    async def ask(self, asked: ApprovalAsked, *, writing: bool) -> None:
        """One more question. It gets the keyboard unless something is being written."""
        self._waiting.append(asked)
        await self._draw(writing=writing)

    async def withdraw(self, call_id: str, *, writing: bool) -> bool:
        """The question was answered or withdrawn. True when the keyboard was here and nothing is left to ask."""
        self._waiting = [asked for asked in self._waiting if asked.call_id != call_id]
        shown = self.question
        had_keyboard = shown is not None and shown.has_focus_within
        await self._draw(writing=writing and not had_keyboard)
        return had_keyboard and not self._waiting

    def take_keyboard(self) -> bool:
        """The person goes to the question; False when there is none."""
        if (question := self.question) is None:
            return False
        question.focus()
        return True

    def fit(self, screen_height: int) -> None:
        """The terminal has this many lines."""
        self._screen_height = screen_height
        if (question := self.question) is not None:
            self._fit(question)

    def _fit(self, question: Approval) -> None:
        height = self._screen_height
        # Status, composer, gauge, footer and a line of the conversation stay beside it; a low screen draws no boxes.
        beside = (5 if height <= LOW else 7) + sum(
            notice.outer_size.height for notice in self.screen.query(NoticeBar) if notice.display
        )
        question.fit(max(LEAST_LINES, height - 12 if height <= 24 else height // 2), height - beside)

    def restart(self) -> None:
        """The questions came back into view."""
        if (question := self.question) is not None:
            question.restart()

    async def _draw(self, *, writing: bool) -> None:
        shown, more = self.question, len(self._waiting) - 1
        if shown is not None and self._waiting and shown.asked is self._waiting[0]:
            shown.set_more(more)
            return
        if shown is not None:
            await shown.remove()
        if not self._waiting:
            return
        question = Approval(self._waiting[0], more=more, clock=self._clock)
        await self.mount(question)
        self._fit(question)
        if writing:
            question.say_typing()
        else:
            question.focus()
