"""A question at the first opening of a project: may the model read its instructions?"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from loom.text import plural, show_block, show_line
from loom.tui.screens.question import QuestionScreen
from loom.tui.screens.whole import WholeTextScreen

if TYPE_CHECKING:
    # The conversation's side is not needed to paint.
    from loom.cowork.project import Project, ProjectFile

Answer = Literal["trusted", "never", "later"]
SHOWN_LINES = 8
"""First lines of each file."""
AROUND = 15
"""Lines of the screen that are not the files, when it is narrow: margins, border, question, keys."""
_KEYS = "y trusts this project · n not now · d never · o shows the whole text"


class TrustScreen(QuestionScreen[Answer]):
    """Shows which files there are and how they begin, literally. Enter answers nothing."""

    DEFAULT_CSS = """
    TrustScreen {
        & > Vertical { width: 100; max-height: 92%; }
        & .about { height: auto; color: $text-muted; margin-bottom: 1; }
        & VerticalScroll { margin-bottom: 1; }
        & .file { height: auto; margin-bottom: 1; }
        & .keys { height: auto; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('trusted')", "Trust", show=False),
        Binding("n,escape", "answer('later')", "Not now", show=False),
        Binding("d", "answer('never')", "Never", show=False),
        Binding("o", "whole", "Whole text", show=False),
    ]

    def __init__(self, project: Project, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(clock)
        self._project = project

    def compose(self) -> ComposeResult:
        count = len(self._project.files)
        with Vertical():
            yield Static(Content("May the model follow this project's instructions?"), classes="question", markup=False)
            files = plural(count, "file")
            about = f"{files} of {show_line(str(self._project.root), 120)}. They allow nothing that needs your yes."
            yield Static(Content(about), classes="about", markup=False)
            with VerticalScroll():
                for file in self._project.files:
                    yield Static(_beginning(file), classes="file", markup=False)
            yield Static(Content(_KEYS), classes="keys", markup=False)

    def on_resize(self, event: Resize) -> None:
        # What scrolls is the files: the question and the keys are always to be seen.
        self.query_one(VerticalScroll).styles.max_height = max(2, event.size.height - AROUND)

    def action_answer(self, answer: Answer) -> None:
        self.answer(answer)

    def say_too_quick(self, words: str) -> None:
        self.query_one(".keys", Static).update(Content(f"{words} {_KEYS}"))

    def action_whole(self) -> None:
        text = "\n\n".join(f"{file.path}\n{'─' * 20}\n{file.text}" for file in self._project.files)
        self.app.push_screen(WholeTextScreen("Project instructions", text))


def _beginning(file: ProjectFile) -> Content:
    lines = file.text.splitlines()
    shown = show_block("\n".join(line[:300] for line in lines[:SHOWN_LINES]), max_chars=3_000)
    more = len(lines) - SHOWN_LINES
    head = Content.assemble(
        (show_line(file.path, 200), "bold"), (f"  {plural(file.size, 'byte')}", "$foreground-muted")
    )
    body = Content(f"\n{shown}")
    tail = Content.styled(f"\n… {more:,} more lines" if more > 0 else "", "$foreground-muted")
    return Content.assemble(head, body, tail)
