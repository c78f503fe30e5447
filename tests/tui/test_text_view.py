"""Texts of any size, whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from loom.text import show
from loom.tui.folding import folded
from loom.tui.widgets.diff import diff_content, line_kinds
from loom.tui.widgets.text_view import TextView, fold


@given(st.text(st.characters(exclude_categories=["C"]), max_size=300), st.integers(4, 60))
def test_folding_leaves_nothing_out(text: str, width: int) -> None:
    rows = fold(text, width)
    assert "".join(row for row, _ in rows) == show(text).replace("\n", "")
    assert all(cell_len(row) <= width for row, _ in rows)


@given(st.text("ab  -日本é\u0301", max_size=120), st.integers(4, 20))
def test_a_word_that_fits_on_a_line_stays_whole(text: str, width: int) -> None:
    rows = folded(text, width)
    assert "".join(rows) == text and all(cell_len(row) <= width for row in rows)
    words = {word for row in rows for word in row.split()}
    assert all(word in words for word in text.split() if cell_len(word) <= width)


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("rm -rf build dist", ["rm -rf ", "build dist"]),
        ("rm -rf ./a/very/long/path now", ["rm -rf ./a", "/very/long", "/path now"]),
        ("0123456789 next", ["0123456789", " next"]),
        ("01234567890123 next", ["0123456789", "0123 next"]),
        ("日本語 日本語", ["日本語 ", "日本語"]),
        ("日本語日本語日本", ["日本語日本", "語日本"]),
        ("            x", [" " * 10, "  x"]),
    ],
)
def test_a_line_is_cut_behind_a_space_where_there_is_one(line: str, rows: list[str]) -> None:
    assert folded(line, 10) == rows


class Host(App[None]):
    def __init__(self, view: TextView) -> None:
        super().__init__()
        self.view = view

    def compose(self) -> ComposeResult:
        yield self.view


async def test_ten_megabytes_on_one_line_are_shown_whole() -> None:
    view = TextView("x" * 10_000_000 + "end")
    app = Host(view)
    async with app.run_test(size=(82, 24)) as pilot:
        view.scroll_end(animate=False)
        await pilot.pause()
        assert view.virtual_size.height > 100_000
        strips = [view.render_line(y).text.strip() for y in range(view.size.height)]
        assert [line for line in strips if line][-1].endswith("end")


def test_a_removed_line_that_looks_like_a_header_is_a_removed_line() -> None:
    diff = ["--- a/x.sql", "+++ b/x.sql", "@@ -1,2 +1 @@", "--- a comment", " keep"]
    assert line_kinds(diff) == ["file", "file", "hunk", "removed", "plain"]


def test_a_long_diff_says_how_much_is_not_shown() -> None:
    diff = "@@ -1 +1 @@\n" + "\n".join(f"+line {n}" for n in range(50))
    assert diff_content(diff, 10).plain.endswith("… 41 more lines")
