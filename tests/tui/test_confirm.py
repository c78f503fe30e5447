"""The question with a yes and a no."""

from __future__ import annotations

import pytest
from textual.containers import VerticalScroll
from textual.widgets import Static

from loom.tui.screens.ask import AskScreen
from loom.tui.screens.confirm import ConfirmScreen
from tests.support.browsing import HOSTILE, alone, until


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(effect: str = "Something happens.", clock: Clock | None = None) -> ConfirmScreen:
    return ConfirmScreen("Do it?", effect, yes="do it", no="leave it", clock=clock or Clock())


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False), ("escape", False)])
async def test_y_is_yes_and_n_and_escape_are_no(key: str, answer: bool) -> None:
    clock = Clock()
    app = alone(asked(clock=clock))
    async with app.run_test() as pilot:
        clock.now += 1
        await pilot.press(key)
        await until(pilot, lambda: app.left)
    assert app.result is answer


@pytest.mark.parametrize("key", ["enter", "space", "tab", "a", "Y"])
async def test_nothing_else_answers(key: str) -> None:
    clock = Clock()
    app = alone(asked(clock=clock))
    async with app.run_test() as pilot:
        clock.now += 1
        await pilot.press(key)
        await pilot.pause()
        assert not app.left


async def test_a_yes_that_was_already_on_its_way_does_not_count() -> None:
    clock = Clock()
    screen = asked(clock=clock)
    app = alone(screen)
    async with app.run_test() as pilot:
        clock.now += 0.1
        await pilot.press("y")
        await until(pilot, lambda: "press it again" in str(screen.query_one(".answers", Static).content))
        assert not app.left
        clock.now += 1
        await pilot.press("y")
        await until(pilot, lambda: app.left)
    assert app.result is True


async def test_the_whole_effect_can_be_read_however_long_and_however_hostile() -> None:
    effect = "\n".join(f"line {n} {HOSTILE}" for n in range(200))
    screen = asked(effect)
    app = alone(screen)
    async with app.run_test(size=(60, 16)) as pilot:
        said = str(screen.query_one(".effect", Static).content)
        assert "line 199 [/foo]" in said and "\x1b" not in said and "\u202e" not in said
        assert app.screen.find_widget(screen.query_one(".answers")).visible_region.height == 1
        await pilot.press("end")
        scroller = screen.query_one(VerticalScroll)
        await until(pilot, lambda: scroller.scroll_y == scroller.max_scroll_y > 0)


async def test_a_line_is_asked_for_and_given_back_trimmed() -> None:
    app = alone(AskScreen("A title", "old"))
    async with app.run_test() as pilot:
        await pilot.press("ctrl+u", *" new one ", "enter")
        await until(pilot, lambda: app.left)
    assert app.result == "new one"


@pytest.mark.parametrize("keys", [["enter"], ["escape"], ["x", "escape"], ["ctrl+u", "enter"]])
async def test_a_line_not_changed_emptied_or_left_is_none(keys: list[str]) -> None:
    app = alone(AskScreen("A title", "old"))
    async with app.run_test() as pilot:
        await pilot.press(*keys)
        await until(pilot, lambda: app.left)
    assert app.result is None
