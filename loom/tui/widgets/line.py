"""One-line pieces of the screen: left and right text in one line, receipts, notes, and error blocks."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from loom.text import show_block, show_line


def split_line(left: Content, right: Content, width: int) -> Content:
    """`left` and `right` at the two ends of one line of `width` cells; what does not fit is cut from `left`."""
    room = width - right.cell_length - (1 if right else 0)
    if room < 4:
        return left.truncate(max(0, width), ellipsis=True, pad=True)
    return Content.assemble(left.truncate(room, ellipsis=True, pad=True), " " if right else "", right)


def turn_label(turn_number: int | None, *, pinned: bool = False) -> str:
    """`T57`, as every citation is written, `◆T57` when it is pinned; empty before the turn is stored."""
    return f"{'◆' if pinned else ''}T{turn_number}" if turn_number else ""


class ReceiptLine(Static):
    """Which turns left the window, or another quiet fact about the conversation."""

    DEFAULT_CSS = """
    ReceiptLine {
        color: $text-muted;
        margin: 0 1 1 1;
        padding: 0 1;
        border-left: outer $secondary 60%;
        text-style: italic;
    }
    """

    def __init__(self, text: str, turn_number: int | None = None) -> None:
        """`turn_number` is None for what is said in passing and stored nowhere."""
        super().__init__(Content(show_line(text, 600)), markup=False)
        self.source = text
        self.turn_number = turn_number


class UnansweredLine(ReceiptLine):
    """The newest message, or the newest result of a tool, has no answer, and how to get one."""

    def __init__(self, turn: int, *, result: bool = False) -> None:
        """`result`: the turn is what a tool gave."""
        label = turn_label(turn)
        if result:
            words = f"The model did not go on after {label}. Ctrl+R lets it; what ran is not run again."
        else:
            words = f"{label} has no answer. Ctrl+R asks for it; the message is not sent twice."
        super().__init__(words)


class ErrorBlock(Static):
    """What went wrong and what to do, in the transcript."""

    DEFAULT_CSS = """
    ErrorBlock {
        margin: 0 1 1 1;
        padding: 0 1;
        border-left: outer $error;
        background: $error 10%;
        color: $text-error;
    }
    """

    def __init__(self, text: str, turn_number: int | None = None) -> None:
        """`turn_number` is None for what is stored nowhere."""
        super().__init__(markup=False)
        self.source = text
        self.turn_number = turn_number
        self.first_turn = turn_number
        """The oldest turn that said it; `turn_number` is the newest."""
        self.count = 1
        """How often it was said."""
        self._draw()

    def joins(self, other: ErrorBlock) -> bool:
        """Whether the other, which comes right behind it, says the same: then it is counted here, and not drawn twice.
        What is stored is told again when its exchange ends, and counts once."""
        if other.source != self.source:
            return False
        if other.turn_number is not None or self.turn_number is None:
            self.turn_number = other.turn_number
            self.first_turn = self.first_turn or other.turn_number
            self.count += 1
            self._draw()
        return True

    def _draw(self) -> None:
        often = f" (×{self.count})" if self.count > 1 else ""
        self.update(Content.assemble(show_block(self.source, max_chars=4_000), (often, "bold")))
