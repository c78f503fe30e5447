"""A question with a yes and a no, and no default yes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from loom.text import plural, show, show_line
from loom.tui.screens.question import QuestionScreen

AROUND = 11
"""Lines of the box that are not the effect: border, padding, question, answers."""


class ConfirmScreen(QuestionScreen[bool]):
    """Says the whole of what will happen and waits for y or n; Esc is no, Enter is nothing."""

    DEFAULT_CSS = """
    ConfirmScreen {
        & > Vertical { width: 72; }
        & .question { max-height: 3; }
        & VerticalScroll { margin: 1 0; }
        & .effect { height: auto; }
        & .answers { height: auto; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n", "answer(False)", "No"),
        Binding("escape", "dismiss(False)", "No", show=False),
    ]

    def __init__(
        self,
        question: str,
        effect: str,
        *,
        yes: str = "Yes",
        no: str = "No",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`effect` is shown whole, however long; `yes` and `no` say in a word or two what each does."""
        super().__init__(clock)
        self._question = question
        self._effect = effect
        self._yes, self._no = yes, no

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content(show_line(self._question, 300)), classes="question", markup=False)
            with VerticalScroll():
                yield Static(Content(show(self._effect)), classes="effect", markup=False)
            yield Static(self._answers(), classes="answers", markup=False)

    def _answers(self, remark: str = "") -> Content:
        return Content.assemble(
            ("y", "$text-primary bold"),
            f" {show_line(self._yes, 40)}    ",
            ("n", "$text-primary bold"),
            f" {show_line(self._no, 40)}",
            (f"    {remark}", "$text-warning"),
        )

    def on_resize(self, event: Resize) -> None:
        # What scrolls is the effect: the question and the answers are always to be seen.
        self.query_one(VerticalScroll).styles.max_height = max(2, event.size.height - AROUND)

    def action_answer(self, yes: bool) -> None:
        self.answer(yes)

    def say_too_quick(self, words: str) -> None:
        self.query_one(".answers", Static).update(self._answers(words))


def leaving_costs(turns: int, clock: Callable[[], float]) -> ConfirmScreen:
    """The question before loom is left with so many turns that no disk took."""
    which = f"{plural(turns, 'turn')} {'is' if turns == 1 else 'are'}"
    return ConfirmScreen(
        "Leave, and lose what could not be stored?",
        f"{which} in memory only: neither the archive nor the folder beside it could be written. Make room on the disk,"
        " then Ctrl+R stores everything. If you leave now, the text is printed on the terminal and kept nowhere else.",
        yes="Leave",
        no="Stay",
        clock=clock,
    )
