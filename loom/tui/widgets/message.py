"""What was said: the person's messages and the model's answers."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from loom.archive.records import TurnStatus
from loom.text import show, show_block, show_line
from loom.tools.mentions import attached_files, without_files
from loom.tui.keys import bindings
from loom.tui.widgets.fold import WholeText
from loom.tui.widgets.line import turn_label
from loom.tui.widgets.markdown import SafeMarkdown
from loom.tui.widgets.pinnable import Pinnable

MAX_MARKDOWN_CHARS = 40_000
"""A longer answer is drawn up to here; each Markdown block is a widget of its own."""
MAX_MARKDOWN_LINES = 1_500
LONG_BLOCK = 3_000
"""Characters of a block from which it is not drawn again for every piece that streams in."""
LONG_WORDS_LINES = 60
LONG_WORDS_CHARS = 6_000
"""What the person sent is drawn whole up to here. Of more, as of a long paste, both ends are drawn: what is asked about
it stands before it or after it."""
HEAD_SHARE = 3
"""The beginning gets this many quarters of what is drawn, the end the rest."""
ARRIVING_LINES = 8
"""Lines shown as they are of what waits to be drawn."""

_MARKS = {
    TurnStatus.INTERRUPTED: "■ interrupted",
    TurnStatus.PARTIAL: "■ the answer stops short here",
    TurnStatus.FAILED: "✗ failed",
}


class TurnBlock(Horizontal, Pinnable, can_focus=True):
    """A piece of the transcript that knows its turn number, drawn small at its right edge."""

    DEFAULT_CSS = """
    TurnBlock {
        height: auto;
        margin: 0 1 1 1;
        & > .turn-number {
            width: auto;
            min-width: 5;
            height: 1;
            text-align: right;
            padding-left: 1;
            color: $text-muted 70%;
        }
        &.-pinned > .turn-number { color: $text-accent; }
        &:focus > .turn-number { background: $primary 40%; color: $text; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings("message")
    # Whoever clicks on a message to mark its words goes on typing in the composer: a letter there is no key here.
    FOCUS_ON_CLICK: ClassVar[bool] = False
    by_person: ClassVar[bool] = False

    def __init__(self, turn_number: int | None = None) -> None:
        super().__init__()
        self.turn_number = turn_number

    def compose(self) -> ComposeResult:
        yield from self.compose_body()
        yield Static(Content(self._label), classes="turn-number", markup=False)

    def compose_body(self) -> ComposeResult:
        """What stands to the left of the number."""
        yield from ()

    def set_turn(self, turn_number: int) -> None:
        """The block is stored as this turn."""
        self.turn_number = turn_number
        self._draw_label()

    @property
    def said(self) -> str:
        """Everything that was said in it."""
        return ""

    @property
    def pin_turn(self) -> int:
        return self.turn_number or 0

    def show_pinned(self, pinned: bool) -> None:
        super().show_pinned(pinned)
        self._draw_label()

    @property
    def _label(self) -> str:
        return turn_label(self.turn_number, pinned=self.pinned)

    def _draw_label(self) -> None:
        for label in self.query(".turn-number").results(Static):
            label.update(Content(self._label))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A conversation goes back to a message of the person's."""
        return self.by_person if action == "rewind" else super().check_action(action, parameters)

    def action_whole(self) -> None:
        self.post_message(WholeText(turn_label(self.turn_number) or "Not stored yet", self.said))


class UserMessage(TurnBlock):
    """The person's own words, literally."""

    DEFAULT_CSS = """
    UserMessage {
        border-left: outer $primary;
        background: $primary 8%;
        padding: 0 0 0 1;
        & .words { width: 1fr; height: auto; color: $foreground; }
        & .words Static { height: auto; }
        & .words > .attached { color: $text-muted; }
    }
    """

    by_person = True

    class RewindWanted(Message):
        """The person wants to go back to before this turn."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    def __init__(self, text: str, turn_number: int | None = None) -> None:
        super().__init__(turn_number)
        self.text = text

    def action_rewind(self) -> None:
        if self.turn_number:
            self.post_message(self.RewindWanted(self.turn_number))

    @property
    def said(self) -> str:
        return self.text

    def compose_body(self) -> ComposeResult:
        # What a file held that went along is one key away; its line says which one it was.
        words, files = without_files(self.text), attached_files(self.text)
        head, tail = _ends(words)
        with Vertical(classes="words"):
            yield Static(Content(show_block(head)), markup=False)
            if tail:
                yield MoreText(words, len(words) - len(head) - len(tail))
                yield Static(Content(show_block(tail)), markup=False)
            for about in files:
                yield Static(Content(show_line(about, 300)), classes="attached", markup=False)
            if files:
                yield MoreText(self.text, len(self.text) - len(words))


class AssistantMessage(TurnBlock):
    """The model's answer as Markdown; it can grow while it streams."""

    DEFAULT_CSS = """
    AssistantMessage {
        padding: 0 0 0 2;
        margin: 0 1 0 1;
        & SafeMarkdown { width: 1fr; }
        & > .body { width: 1fr; height: auto; }
        & .mark { color: $warning; height: auto; margin-bottom: 1; }
        & .arriving { color: $text-muted; height: auto; }
    }
    """

    def __init__(self, text: str = "", turn_number: int | None = None, status: TurnStatus | None = None) -> None:
        super().__init__(turn_number)
        self.text = text
        self._drawn, self._cut = _drawable(text)
        self._status = status
        self._arriving: Static | None = None
        self.body = Vertical(classes="body")

    @property
    def said(self) -> str:
        return self.text

    def compose_body(self) -> ComposeResult:
        with self.body:
            yield SafeMarkdown(self._drawn)
            if self._cut:
                yield MoreText(self.text, len(self.text) - len(self._drawn))
            if self._status in _MARKS:
                yield Static(Content(_MARKS[self._status]), classes="mark", markup=False)

    async def append(self, text: str) -> None:
        """More of a streamed answer. Beyond what can be drawn quickly it is kept and counted."""
        self.text += text
        if not self._cut:
            await self._grow()
        if self._cut:
            hidden = len(self.text) - len(self._drawn)
            if more := self.query(MoreText):
                more.first().set_text(self.text, hidden)
            else:
                await self.body.mount(MoreText(self.text, hidden), after=self.query_one(SafeMarkdown))

    async def _grow(self) -> None:
        """Draw what came, or only its last lines as they are while the block they belong to is long.

        Textual draws the last block again for every piece. A list or a table of some length is drawn again only when
        it has grown by half: the work stays in proportion to the answer.
        """
        markdown = self.query_one(SafeMarkdown)
        drawable, self._cut = _drawable(self.text)
        # A carriage return waits for its newline, so that a pair is never torn apart.
        drawable = drawable.removesuffix("\r")
        new, open_size = drawable[len(self._drawn) :], markdown.open_size
        waits = open_size > LONG_BLOCK and len(new) < open_size // 2 and not self._cut
        await self._show_arriving(new if waits else "")
        if new and not waits:
            self._drawn = drawable
            await markdown.append(show(new))

    async def _show_arriving(self, text: str) -> None:
        """The last lines of a text that waits, as they are; an empty text takes them away."""
        if not text:
            if self._arriving is not None:
                await self._arriving.remove()
                self._arriving = None
            return
        content = Content(show_block("\n".join(text.split("\n")[-ARRIVING_LINES:])))
        if self._arriving is None:
            self._arriving = Static(content, classes="arriving", markup=False)
            await self.body.mount(self._arriving, after=self.query_one(SafeMarkdown))
        else:
            self._arriving.update(content)

    async def settle(self) -> None:
        """Nothing more comes: draw what is still waiting."""
        if self._arriving is not None:
            await self._show_arriving("")
            drawable, _ = _drawable(self.text)
            new, self._drawn = drawable[len(self._drawn) :], drawable
            await self.query_one(SafeMarkdown).append(show(new))

    async def finish(self, text: str, turn_number: int, status: TurnStatus) -> None:
        """The turn is stored: what is drawn becomes exactly what is stored."""
        self.set_turn(turn_number)
        await self.settle()
        if text != self.text:
            self.text = text
            self._drawn, self._cut = _drawable(text)
            await self.query_one(SafeMarkdown).update(show(self._drawn))
            await self.query(MoreText).remove()
            if self._cut:
                more = MoreText(text, len(text) - len(self._drawn))
                await self.body.mount(more, after=self.query_one(SafeMarkdown))
        await self.mark(status)

    async def mark(self, status: TurnStatus) -> None:
        """Say how the turn ended, when it did not end well."""
        if (text := _MARKS.get(status)) and not self.query(".mark"):
            await self.body.mount(Static(Content(text), classes="mark", markup=False))


def _ends(words: str) -> tuple[str, str]:
    """What is drawn of the person's words: all of them and nothing, or the beginning and the end."""
    lines = words.split("\n")
    if len(lines) <= LONG_WORDS_LINES and len(words) <= LONG_WORDS_CHARS:
        return words, ""
    head_lines, head_chars = LONG_WORDS_LINES * HEAD_SHARE // 4, LONG_WORDS_CHARS * HEAD_SHARE // 4
    head = "\n".join(lines[:head_lines])[:head_chars]
    # Never the same words twice: the end begins where the beginning stops, or later.
    rest = words[len(head) :]
    tail = "\n".join(rest.split("\n")[-(LONG_WORDS_LINES - head_lines) :])[-(LONG_WORDS_CHARS - head_chars) :]
    return head, tail


def _drawable(text: str) -> tuple[str, bool]:
    """The part of an answer that Markdown widgets can draw without a pause, and whether anything is cut off."""
    cut = text[:MAX_MARKDOWN_CHARS]
    lines = cut.split("\n", MAX_MARKDOWN_LINES)
    if len(lines) > MAX_MARKDOWN_LINES:
        cut = "\n".join(lines[:MAX_MARKDOWN_LINES])
    return cut, len(cut) < len(text)


class MoreText(Static, can_focus=True):
    """Says how much of a long text is not drawn, and opens the whole."""

    DEFAULT_CSS = """
    MoreText {
        height: 1;
        color: $text-accent;
        &:focus { background: $accent 20%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,o", "whole", "Whole text")]

    def __init__(self, text: str, hidden: int) -> None:
        super().__init__(markup=False)
        self.set_text(text, hidden)

    def set_text(self, text: str, hidden: int) -> None:
        self._text = text
        self.update(Content(f"… {hidden:,} more characters · o opens the whole text"))

    def action_whole(self) -> None:
        self.post_message(WholeText("Whole text", self._text))

    def on_click(self) -> None:
        self.action_whole()
