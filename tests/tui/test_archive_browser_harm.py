"""Turns that are purged, damaged, hostile or huge, and queries made of signs: nothing breaks."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest
from textual.widgets import Input

from loom.archive.purge import purge
from loom.text import UNSAFE
from loom.tui.screens.turn_view import TurnViewScreen
from loom.tui.widgets.facet_bar import Scope
from loom.tui.widgets.hit_list import HitList
from loom.tui.widgets.hit_preview import HitPreview
from loom.tui.widgets.text_view import TextView
from tests.support.browsing import HERE, HOSTILE, Fixed, alone, id_of, until
from tests.tui.archive_browser import browser, found, preview, said


async def test_what_was_purged_meanwhile_is_said_and_nothing_breaks(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "refreshToken" in preview(screen))
        await asyncio.to_thread(purge, shelf.store.path, id_of(shelf, "a1b2"), shelf.store.path.parent)
        await pilot.press("down", "down")
        await until(pilot, lambda: "not in the archive any more" in preview(screen))
        await pilot.press("y")
        await until(pilot, lambda: "not in the archive any more" in said(screen))
        assert not app.clipboard
        await pilot.press("v")
        await pilot.pause()
        assert app.screen is screen
        await pilot.press("e")
        await until(pilot, lambda: "None of these turns" in said(screen))
        assert not app.messages, "what was purged is not written to a file"
        await pilot.press("slash", "x")
        await until(pilot, lambda: "Nothing found" in said(screen))


async def test_a_turn_that_is_damaged_breaks_nothing(shelf: Fixed) -> None:
    with closing(sqlite3.connect(shelf.store.path)) as intruder:
        for (name,) in intruder.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'conversation_turns'"
        ).fetchall():
            intruder.execute(f"DROP TRIGGER {name}")
        intruder.execute("UPDATE conversation_turns SET tool_calls = '{broken', part_json = '[' WHERE turn_number = 4")
        intruder.commit()
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: found(screen))
        await until(pilot, lambda: "is damaged and cannot be read" in said(screen) and "loom recover" in said(screen))
        await pilot.press("down", "y", "v")
        await pilot.pause()
        assert app.screen is screen and not app.clipboard
        await pilot.press("slash", "ctrl+u", *"configurable")
        await until(pilot, lambda: "T5 user" in preview(screen))


@pytest.mark.parametrize("query", ['" OR 1=1 NEAR(', "\\", "'; DROP TABLE", "😀😀", "*", '"', "a" * 5_000])
async def test_no_query_does_any_harm(shelf: Fixed, query: str) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.query("#query"))
        screen.query_one("#query", Input).value = query
        await until(pilot, lambda: "Nothing found" in said(screen) or "Type at least" in said(screen) or found(screen))
        assert not screen.query_one("#said").has_class("-error")


@pytest.mark.parametrize("size", [(60, 16), (80, 30), (160, 40)])
async def test_hostile_turns_are_drawn_literally(shelf: Fixed, size: tuple[int, int]) -> None:
    session_id = await shelf.store.create_session(HERE, "offline", "", title=HOSTILE)
    await shelf.store.append_turn(session_id, "user", f"needleword {HOSTILE} " * 50)
    await shelf.store.append_turn(session_id, "tool", HOSTILE, tool_name="[/x]\x1b[2J")
    screen = browser(shelf, scope=Scope.ALL, query="needleword")
    app = alone(screen)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "[/foo]" in preview(screen))
        rows = screen.query_one(HitList)
        drawn = preview(screen) + "".join(rows.render_line(y).text for y in range(rows.size.height))
        assert not UNSAFE.search(drawn)
        await pilot.press("down", "v")
        await until(pilot, lambda: isinstance(app.screen, TurnViewScreen))


async def test_a_huge_turn_is_previewed_around_the_match_and_v_shows_the_whole(shelf: Fixed) -> None:
    lines = [f"line {n}" for n in range(20_000)]
    lines[10_000] = "the needleword is here"
    session_id = id_of(shelf, "a1b2")
    await shelf.store.append_turn(session_id, "tool", "\n".join(lines), tool_name="read_file")
    screen = browser(shelf, query="needleword")
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "the needleword is here" in preview(screen))
        assert "characters before" in preview(screen) and "characters after" in preview(screen)
        assert len(preview(screen)) < 12_000
        await until(pilot, lambda: screen.query_one(HitPreview).scroll_y > 10)
        await pilot.press("down", "v")
        await until(pilot, lambda: isinstance(app.screen, TurnViewScreen))
        assert app.screen.query_one(TextView).text == "\n".join(lines)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
