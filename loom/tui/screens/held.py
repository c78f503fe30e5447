"""Another loom has the session, or has taken it over from this one: what now?"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from loom.archive.leases import Holder
from loom.text import show_line
from loom.tui.screens.question import QuestionScreen
from loom.tui.session_words import holder_in_words


class Held(StrEnum):
    """What is done about a session that another loom has."""

    READ = "read"
    FORK = "fork"
    TAKE_OVER = "take_over"
    LEAVE = "leave"
    BACK = "back"


Answers = tuple[tuple[str, Held, str, str], ...]
"""Key, answer, name, and what it does, in the order shown."""
_HELD: Answers = (
    ("r", Held.READ, "read only", "Follow here what is written there; nothing is written here."),
    ("f", Held.FORK, "fork and go on", "A session of its own with every turn so far; the other one stays as it is."),
    (
        "t",
        Held.TAKE_OVER,
        "take over",
        "Go on here. The other loom can store nothing more; an answer on its way there ends as interrupted.",
    ),
    ("Esc", Held.BACK, "back", "Leave it alone."),
)
_TAKEN: Answers = (
    (
        "r",
        Held.READ,
        "read only",
        "Follow here what the other loom writes; what you have written stays.",
    ),
    (
        "f",
        Held.FORK,
        "fork and go on",
        "A session of its own with every turn up to the take-over and what you have written; the other one stays as "
        "it is.",
    ),
    (
        "t",
        Held.TAKE_OVER,
        "take it back",
        "Go on here, behind what was written there. The other loom can store nothing more then.",
    ),
    ("l", Held.LEAVE, "leave", "To the list of sessions; what you have written is kept for the next time."),
    ("Esc", Held.BACK, "not now", "It stays on the screen, to be read."),
)
AROUND = 10
"""Lines of the box that are not the answers: border, padding, question, who holds it and a line between."""
LOW = 20
"""Lines of the terminal up to which the box has no padding."""


class HeldScreen(QuestionScreen[Held]):
    """Says who has the session open and what each answer does."""

    DEFAULT_CSS = """
    HeldScreen {
        & > Vertical { width: 76; }
        & .question { max-height: 2; }
        & .holder { height: auto; max-height: 3; color: $text-muted; }
        & VerticalScroll { margin: 1 0 0 0; }
        & .answer { height: auto; }
        &.-low > Vertical { padding: 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"answer('{held}')", name) for key, held, name, _ in _TAKEN if held is not Held.BACK),
        Binding("escape", "dismiss_back", "Back", show=False),
    ]

    def __init__(
        self, title: str, holder: Holder | None, *, taken: bool = False, clock: Callable[[], float] = monotonic
    ) -> None:
        """`holder` is None when the other loom has closed the session since. `taken`: it was open here before."""
        super().__init__(clock)
        self._title = title
        self._holder = holder
        self._taken = taken

    def compose(self) -> ComposeResult:
        title = show_line(self._title, 80) or "untitled"
        question = f"Another loom took “{title}” over" if self._taken else f"“{title}” is open in another loom"
        with Vertical():
            yield Static(Content(question), classes="question", markup=False)
            yield Static(Content(self._who()), classes="holder", markup=False)
            with VerticalScroll():
                for key, _, name, effect in _TAKEN if self._taken else _HELD:
                    said = Content.assemble((key.ljust(4), "$text-primary bold"), (name, "bold"), f"  {effect}")
                    yield Static(said, classes="answer", markup=False)

    def _who(self) -> str:
        if self._holder is None:
            return "It is closed there by now."
        return holder_in_words(self._holder)

    def on_resize(self, event: Resize) -> None:
        # What scrolls is the answers: who has the session is always to be seen.
        low = event.size.height <= LOW
        self.query_one(VerticalScroll).styles.max_height = max(3, event.size.height - AROUND + (2 if low else 0))
        self.set_class(low, "-low")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._taken or parameters != (Held.LEAVE,)

    def action_answer(self, held: str) -> None:
        self.answer(Held(held))

    def say_too_quick(self, words: str) -> None:
        self.query_one(".holder", Static).update(Content(words))

    def action_dismiss_back(self) -> None:
        self.dismiss(Held.BACK)
