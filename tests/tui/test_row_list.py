"""The list with a cursor."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen

from loom.tui.widgets.row_list import RowList
from tests.support.browsing import Alone, alone, until

# Capitals are headings, which take no cursor.
ROWS = ["A", "one", "two", "B", "three", "C"]


class Letters(RowList[str]):
    def selectable(self, item: str) -> bool:
        return not item.isupper()

    def height_of(self, item: str, width: int) -> int:
        return 1 if item.isupper() else 2

    def draw_row(self, item: str, width: int) -> list[Content]:
        return [Content(item)] if item.isupper() else [Content(item), Content(f"  {item * 50}")]


class Shown(Screen[None]):
    def __init__(self, rows: list[str]) -> None:
        super().__init__()
        self.letters = Letters(rows)
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.letters

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        self.said.append(f"chosen {event.index}")

    def on_row_list_left_at_top(self) -> None:
        self.said.append("left")


def shown(rows: list[str] = ROWS) -> tuple[Shown, Alone]:
    screen = Shown(rows)
    return screen, alone(screen)


async def test_the_cursor_steps_over_headings() -> None:
    screen, app = shown()
    async with app.run_test() as pilot:
        screen.letters.set_items(ROWS)
        seen = []
        for key in ("j", "j", "j", "k"):
            await pilot.press(key)
            seen.append(screen.letters.current)
        assert seen == ["two", "three", "three", "two"]


async def test_up_on_the_first_row_says_that_the_top_was_left() -> None:
    screen, app = shown()
    async with app.run_test() as pilot:
        screen.letters.set_items(ROWS)
        await pilot.press("up")
        await until(pilot, lambda: screen.said == ["left"])


async def test_home_and_end_go_to_the_outermost_rows_that_take_a_cursor() -> None:
    screen, app = shown()
    async with app.run_test() as pilot:
        screen.letters.set_items(ROWS)
        await pilot.press("end")
        assert screen.letters.current == "three"
        await pilot.press("home")
        assert screen.letters.current == "one"


async def test_no_rows_and_only_headings_are_no_trouble() -> None:
    for rows in ([], ["A", "B"]):
        screen, app = shown(rows)
        async with app.run_test() as pilot:
            screen.letters.set_items(rows)
            await pilot.press("down", "up", "pagedown", "pageup", "home", "end", "enter")
            assert screen.letters.current is None
            assert not [said for said in screen.said if said.startswith("chosen")]


async def test_the_cursor_is_always_in_view() -> None:
    many = [f"row {n}" for n in range(500)]
    screen, app = shown(many)
    async with app.run_test(size=(40, 10)) as pilot:
        screen.letters.set_items(many)
        for keys in (["j"] * 30, ["pagedown"] * 5, ["k"] * 12, ["end"], ["pageup"], ["home"]):
            await pilot.press(*keys)
            top = screen.letters.cursor * 2
            await until(pilot, lambda top=top: screen.letters.scroll_y <= top <= screen.letters.scroll_y + 8)  # type: ignore[misc]


async def test_a_click_moves_and_a_double_click_chooses() -> None:
    screen, app = shown()
    async with app.run_test() as pilot:
        screen.letters.set_items(ROWS)
        await pilot.click(Letters, offset=(3, 4))
        await until(pilot, lambda: screen.letters.current == "two")
        assert screen.said == []
        await pilot.click(Letters, offset=(3, 5))  # its heading is at line 5
        assert screen.letters.current == "two"
        await pilot.click(Letters, offset=(3, 7), times=2)
        await until(pilot, lambda: screen.said == ["chosen 4"])
        await pilot.click(Letters, offset=(3, 20))


async def test_lines_are_as_wide_as_the_list_whatever_they_say() -> None:
    screen, app = shown()
    async with app.run_test(size=(40, 10)) as pilot:
        screen.letters.set_items(["日本語", "a\u0301", ""])
        await pilot.pause()
        widths = {screen.letters.render_line(y).cell_length for y in range(8)}
        assert widths == {screen.letters.scrollable_content_region.width}


async def test_a_list_without_a_way_of_its_own_draws_its_items_words() -> None:
    assert [str(line) for line in RowList[str](["a\x1bb"]).draw_row("a\x1bb", 20)] == ["a␛b"]
