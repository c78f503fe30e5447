"""What stands around the transcript: title and model above, gauge below, the state beside it, messages that wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.message import Message
from textual.screen import Screen

from loom.tui.passing import Said, Severity
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.service import ChatService
from loom.tui.widgets.approval_place import LOW, ApprovalPlace
from loom.tui.widgets.composer import ASK, READ_ONLY, Composer
from loom.tui.widgets.gauge import Gauge
from loom.tui.widgets.notice_bar import Notice, NoticeBar
from loom.tui.widgets.queue import QueuedMessages
from loom.tui.widgets.state_panel import WIDE_ENOUGH, StatePanel
from loom.tui.widgets.status import StatusInfo, StatusLine
from loom.tui.widgets.transcript import Transcript
from loom.tui.widgets.welcome import Welcome, WelcomeInfo

NARROW = 80
"""Columns below which the state takes the conversation's place instead of standing beside it."""


class FramedScreen(EndsItsWork, Screen[None]):
    """Draws what the conversation is, wherever it stands on the screen but in the transcript."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("shift+tab", "back_to_turns", show=False)]

    class InPassing(Message):
        """Something is said in passing about the conversation, whichever screen is in front of it."""

        def __init__(self, said: Said) -> None:
            super().__init__()
            self.said = said

    class PanelChosen(Message):
        """The person showed or hid the session state beside the conversation."""

        def __init__(self, shown: bool) -> None:
            super().__init__()
            self.shown = shown

    def __init__(self, workspace: Path, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self.service: ChatService | None = None
        self.failure = ""
        """Why there is no conversation, in words; empty while it is being opened, and when it is there."""
        self.origin = ""
        """Where it was forked from, in words; empty when it is no fork."""
        self._workspace = workspace
        self._clock = clock
        self._early: list[str] = []
        self._panel_wanted: bool | None = None
        self._panel_liked: bool | None = None

    def say(self, text: str, severity: Severity = "information", *, fleeting: bool = False) -> None:
        """A passing notice about this conversation, drawn literally; a `fleeting` one holds until the next key."""
        said = Said(text, severity, self.app.NOTIFICATION_TIMEOUT, place=self, fleeting=fleeting)
        self.app.post_message(self.InPassing(said))

    def stand(self, notice: Notice, text: str) -> None:
        """Let this stand above the composer until something is done about it; an empty text takes it away."""
        self.query_one(NoticeBar).show_notice(notice, text)
        self.refresh_bindings()

    def show_info(self) -> None:
        """Draw title, reference, model and window again."""
        service = self.service
        session = service.session if service is not None else None
        self.query_one(StatusLine).show_info(
            StatusInfo(
                title=session.title if session else "",
                reference=session.reference if session else "",
                origin=self.origin,
                workspace=short_path(self._workspace),
                model=service.choice.name if service is not None else "",
                read_only=service is not None and service.read_only,
                taken=service is not None and service.taken,
                is_open=service is not None,
            )
        )
        self.query_one(Composer).invite(READ_ONLY if service is not None and service.read_only else ASK)
        has_model = service is None or service.problem is None
        self.query_one(Gauge).show_usage(service.usage if service is not None else None, has_model=has_model)
        if service is not None:
            for welcome in self.query(Welcome):
                welcome.show(self.welcome_info(service))

    def welcome_info(self, service: ChatService) -> WelcomeInfo:
        """What an empty conversation says of itself."""
        choice, problem = service.choice, service.problem
        # A model that cannot be chosen is noted in the words of the problem that it then is.
        said = choice.note if problem is None else str(problem)
        note = said if choice.note in said else f"{choice.note}\n{said}"
        return WelcomeInfo(short_path(self._workspace), choice.name, choice.reason, note, usable=problem is None)

    def show_state(self) -> None:
        panel = self.query_one(StatePanel)
        if self.service is not None and panel.display:
            panel.show_state(self.service.state)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Messages that are not sent yet, oldest first."""
        return (*(self.service.waiting if self.service is not None else ()), *self._early)

    @property
    def writing(self) -> bool:
        """Whether something stands in the composer."""
        return not self.query_one(Composer).is_idle

    def show_queue(self) -> None:
        waiting = self.waiting
        held = self.service.held if self.service is not None else 0
        asked = self.query_one(ApprovalPlace).question is not None
        taken = self.service is not None and self.service.taken
        self.query_one(QueuedMessages).show_waiting(waiting, held=held, asked=asked, taken=taken)
        self.query_one(Composer).may_take_back = bool(waiting)

    def on_resize(self, event: Resize) -> None:
        self.place_panel()

    def place_panel(self) -> None:
        """Fit everything to the size of the terminal."""
        width = self.size.width
        # What was liked on a wide terminal is not to take the conversation's place on a narrow one.
        usual = width >= WIDE_ENOUGH if self._panel_liked is None else self._panel_liked and width >= NARROW
        panel = self.query_one(StatePanel)
        panel.display = usual if self._panel_wanted is None else self._panel_wanted
        self.set_class(width < NARROW, "-narrow")
        self.set_class(self.size.height <= LOW, "-low")
        self.set_class(panel.display, "-state")
        panel.stand_alone(width < NARROW)
        self.query_one(ApprovalPlace).fit(self.size.height)
        self.show_state()

    def leave_composer(self) -> None:
        """Tab with nothing to complete and nothing to answer: to the session state where it is shown, else on."""
        if not self.query_one(StatePanel).take_keyboard():
            self.focus_next()

    def action_back_to_turns(self) -> None:
        """From the composer to the newest turn, past the session state."""
        turns = [each for each in self.focus_chain if self.query_one(Transcript) in each.ancestors]
        if isinstance(self.focused, Composer) and turns:
            turns[-1].focus()
        else:
            self.focus_previous()

    def toggle_state(self) -> None:
        """Show or hide the state panel."""
        self._panel_wanted = shown = not self.query_one(StatePanel).display
        self.place_panel()
        self.call_after_refresh(self._keep_keyboard_in_sight)
        if self.size.width >= NARROW:
            self.post_message(self.PanelChosen(shown))

    def show_conversation(self) -> None:
        """Let the state, where it stands in the conversation's place, give way to what comes next there."""
        if self.has_class("-narrow") and self.query_one(StatePanel).display:
            self._panel_wanted = None
            self.place_panel()
            self.call_after_refresh(self._keep_keyboard_in_sight)

    def _keep_keyboard_in_sight(self) -> None:
        """On a narrow terminal state and conversation hide each other: what cannot be seen has no keys."""
        focused = self.focused
        # Textual may have taken it from what was hidden already, and given it to nobody.
        if focused is None or not all(each.display for each in focused.ancestors_with_self):
            self.query_one(Composer).focus()

    def like_panel(self, shown: bool | None) -> None:
        """Show or hide the state as the person liked it before; None leaves it to the width."""
        self._panel_liked = shown
        self.place_panel()


def short_path(path: Path) -> str:
    """The path with the home folder as `~`."""
    try:
        return f"~/{path.relative_to(Path.home())}" if path != Path.home() else "~"
    except ValueError:
        return str(path)
