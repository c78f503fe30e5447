"""Markdown from a model: drawn, never obeyed."""

from __future__ import annotations

from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownTable, MarkdownTableCellContents, MarkdownTableContent

from loom.text import show
from loom.tui.widgets.fence import Fence


def parser() -> MarkdownIt:
    """Tables and strike-through as on GitHub; HTML stays visible text (`Vec<T>` must not lose its `<T>`), and a link
    is drawn as its text and its target: nothing can be clicked, and no text can hide where it leads."""
    md = MarkdownIt("gfm-like", {"html": False, "linkify": False})
    md.core.ruler.push("links_as_text", _links_as_text)
    return md


def _links_as_text(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and token.children:
            token.children = list(_without_links(token.children))
            for child in token.children:
                # Entities (`&#x202E;`) have become characters only now.
                child.content = show(child.content)


def _without_links(tokens: Iterable[Token]) -> Iterable[Token]:
    targets: list[str] = []
    text = ""
    for token in tokens:
        if token.type == "link_open":
            targets.append(str(token.attrs.get("href", "")))
            text = ""
            continue
        if token.type == "link_close":
            target = targets.pop() if targets else ""
            if target and target != text:
                yield _text(f" ({target})")
            continue
        if token.type == "image":
            yield _text(f"[image: {token.content or 'no description'}] ({token.attrs.get('src', '')})")
            continue
        text += token.content
        yield token


def _text(content: str) -> Token:
    return Token(type="text", tag="", nesting=0, content=content)


class _TableContent(MarkdownTableContent):
    """Cells without tooltips: Textual would read a tooltip's text as markup."""

    def compose(self) -> ComposeResult:
        for header in self.headers:
            yield MarkdownTableCellContents(header, classes="header", markup=False)
        for row_index, row in enumerate(self.rows, 1):
            for cell_index, cell in enumerate(row, 1):
                yield MarkdownTableCellContents(
                    cell, classes=f"row{row_index} cell", name=f"cell{row_index}.{cell_index}", markup=False
                )
            self.last_row = row_index

    async def _update_rows(self, updated_rows: list[list[Content]]) -> None:
        self.styles.grid_size_columns = len(self.headers)
        await self.query_children(f".cell.row{self.last_row}").remove()
        cells = [
            MarkdownTableCellContents(cell, classes=f"row{row_index} cell", markup=False)
            for row_index, row in enumerate(updated_rows, self.last_row)
            for cell in row
        ]
        self.last_row += max(0, len(updated_rows) - 1)
        await self.mount_all(cells)


class _Table(MarkdownTable):
    def compose(self) -> ComposeResult:
        self._headers, self._rows = self._get_headers_and_rows()
        yield _TableContent(self._headers, self._rows)


class SafeMarkdown(Markdown):
    """Markdown with everything filtered before it is parsed."""

    DEFAULT_CSS = """
    SafeMarkdown {
        padding: 0;
        background: transparent;
        & > MarkdownParagraph { margin: 0 0 1 0; }
        & MarkdownHeader { margin: 1 0 1 0; background: transparent; content-align: left middle; text-style: bold; }
        & MarkdownH1 { text-style: bold underline; }
        & MarkdownFence { margin: 0 0 1 0; background: $surface; overflow: hidden hidden; }
        & MarkdownBlockQuote { margin: 0 0 1 0; }
        & MarkdownHorizontalRule { margin: 0 0 1 0; padding: 0; border-bottom: solid $secondary 40%; }
    }
    """
    BLOCKS = {**Markdown.BLOCKS, "table_open": _Table, "fence": Fence, "code_block": Fence}  # noqa: RUF012 - as Textual declares it

    def __init__(self, text: str = "") -> None:
        super().__init__(show(text) or None, parser_factory=parser, open_links=False)

    @property
    def open_size(self) -> int:
        """Characters of the last block, which the next piece of a stream draws again."""
        return sum(len(line) + 1 for line in self.source.split("\n")[self._last_parsed_line :])
