"""Markdown from a model is drawn, never obeyed."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from loom.tui.guard import TerminalGuard
from loom.tui.widgets.fence import code_rows
from loom.tui.widgets.markdown import SafeMarkdown
from tests.support.browsing import screen_text


class Host(App[None]):
    """One Markdown widget."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.markdown = SafeMarkdown(text)

    def compose(self) -> ComposeResult:
        yield self.markdown


async def drawn(text: str) -> str:
    app = Host(text)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        return screen_text(app)


async def test_html_stays_visible() -> None:
    assert "Vec<T> and <script>alert(1)</script>" in await drawn("Vec<T> and <script>alert(1)</script>")


async def test_a_link_shows_where_it_leads_and_cannot_be_clicked() -> None:
    app = Host("see [the docs](http://evil.example/x) and ![a](http://evil/p.png)")
    async with app.run_test(size=(100, 10)) as pilot:
        await pilot.pause()
        assert "see the docs (http://evil.example/x) and [image: a] (http://evil/p.png)" in screen_text(app)
        metas = [s.style.meta for strip in app.screen._compositor.render_strips(app.size) for s in strip if s.style]
        assert not [meta for meta in metas if "@click" in meta]


@pytest.mark.parametrize(
    "text",
    [
        "&#x202E;right to left",
        "`\x1b[2J`",
        "| a |\n|---|\n| \x1b]52;c;AAAA\x07 |",
        "```\x1b[31m\nx\u202e\n```",
        "# head\x9b31m",
        "[x](<\x1b]8;;>)",
        "![\u202e](\u2066)",
        "- [/foo]\n- [@click=app.quit]x[/]",
    ],
)
async def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    shown = await drawn(text)
    assert not [c for c in "\x1b\x07\x9b\u202e\u2066" if c in shown]


async def test_streamed_pieces_come_to_the_same_picture_as_the_whole() -> None:
    whole = "# Title\n\nSome **bold** text.\n\n- one\n- two\n\n```python\nx = 1\n```\n\nend"
    app = Host("")
    async with app.run_test(size=(60, 30)) as pilot:
        for at in range(0, len(whole), 3):
            await app.markdown.append(whole[at : at + 3])
        await pilot.pause()
        streamed = screen_text(app)
    assert [line.strip() for line in streamed.splitlines() if line.strip()] == [
        line.strip() for line in (await _at(whole, 60, 30)).splitlines() if line.strip()
    ]


async def _at(text: str, width: int, height: int) -> str:
    app = Host(text)
    async with app.run_test(size=(width, height)) as pilot:
        await pilot.pause()
        return screen_text(app)


def test_the_language_of_code_is_never_guessed() -> None:
    code = "#!/usr/bin/env python\nimport os"
    named, unnamed = ([row.spans for row in code_rows(code, language, 40)] for language in ("python", ""))
    assert named != unnamed
    assert {span.style for spans in unnamed for span in spans} <= {"$text"}


def test_the_last_guard_keeps_the_width() -> None:
    from rich.segment import Segment
    from textual.color import Color

    segments = [Segment("plain"), Segment("a\x1b[31mb\u202ec\x9bd")]
    guarded = TerminalGuard().apply(segments, Color(0, 0, 0))
    assert "".join(s.text for s in guarded) == "plaina[31mbcd"
    assert sum(s.cell_length for s in guarded) == sum(s.cell_length for s in segments)
