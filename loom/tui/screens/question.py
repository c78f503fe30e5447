"""A question in a box that a letter answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from textual.events import Key
from textual.screen import ModalScreen

from loom.tui.widgets.key_guard import KeyGuard

Answer = TypeVar("Answer")


class QuestionScreen(ModalScreen[Answer], Generic[Answer]):
    """Waits for one of the keys that it names; no answer is the default.

    A key that was on its way when the question appeared does not count: what was typed for the composer is no answer.
    """

    DEFAULT_CSS = """
    QuestionScreen {
        align: center middle;
        & > Vertical {
            max-width: 96%;
            height: auto;
            padding: 1 2;
            border: round $warning;
            background: $surface;
        }
        & .question { height: auto; text-style: bold; }
        & VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
    }
    """
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        super().__init__()
        self._guard = KeyGuard(clock)

    def on_mount(self) -> None:
        self._guard.restart()

    def on_key(self, event: Key) -> None:
        self._guard.heard(event.key, self.active_bindings)

    def answer(self, answer: Answer) -> None:
        """Take this answer, unless it came too soon; then it is said that the key has to be pressed again."""
        if self._guard.accepts():
            self.dismiss(answer)
        else:
            self.say_too_quick("Too quick: press it again.")

    def say_too_quick(self, words: str) -> None:
        """Show these words in the box."""
        raise NotImplementedError
