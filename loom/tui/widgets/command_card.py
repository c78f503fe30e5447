"""A command that the person ran, as a card: its output grows while it runs, and stays in view when it has ended."""

from __future__ import annotations

from textual.content import Content

from loom.archive.records import PERSON_COMMAND, Turn
from loom.text import show_block, without_overwritten
from loom.tui.widgets.tool_card import ToolCard

SHOWN_LINES = 12
"""Lines of the end of the output that are drawn without asking."""
SHOWN_CHARS = 6_000


class CommandCard(ToolCard):
    """`! make test`. Enter or a click opens it from the beginning; `o` shows the whole of it."""

    DEFAULT_CSS = """
    CommandCard {
        border-left: outer $warning 60%;
        &.-running { border-left: outer $warning; }
    }
    """

    def __init__(self, call_id: str, command: str, turn_number: int | None = None) -> None:
        super().__init__(call_id, PERSON_COMMAND, {"command": command}, turn_number)
        self._title.tool_name = "$"

    def write(self, end: str) -> None:
        """The output ends like this now."""
        self._end = end
        self._draw()

    def finish(self, result: Turn, duration_ms: int | None) -> None:
        self._end = result.content or ""
        super().finish(result, duration_ms)

    def _ending(self) -> str:
        return ""  # it shows more of it itself, and goes on to when it has ended

    def _folded(self) -> Content:
        """The last lines of the output."""
        text = without_overwritten(self._end).rstrip("\n")
        tail = text[-SHOWN_CHARS:]
        lines = tail.split("\n")[-SHOWN_LINES:]
        shown = "\n".join(lines)
        if not shown:
            return Content("")
        body = Content.styled(show_block(shown), "$foreground-muted")
        if self.result is None or len(shown) == len(text):
            return body
        hidden = text[: len(text) - len(shown)].count("\n")
        said = f"… {hidden:,} line{'' if hidden == 1 else 's'} above" if hidden else "… cut off in front"
        return Content.styled(f"{said} · Enter opens it, o shows the whole\n", "$text-accent").append(body)
