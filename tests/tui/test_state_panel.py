"""The session state for a person: rows, jumps, and what the model gets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Static

from loom.cowork.events import StateChanged
from loom.state import SessionState
from loom.state.model import Command, Constraint, Decision, ErrorResolved, FileTouched, Pin
from loom.text import UNSAFE
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.state_rows import StateRow, state_rows
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.message import UserMessage
from loom.tui.widgets.row_list import RowList
from loom.tui.widgets.state_panel import MOST_LINES, StateList, StatePanel
from loom.tui.widgets.text_view import TextView
from loom.tui.widgets.transcript import Transcript
from tests.support.browsing import HOSTILE, until
from tests.support.scripted_chat import STATE_YAML
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp

FULL = SessionState(
    files_touched=(FileTouched("a.py", "created", 3), FileTouched("b.py", "deleted", 9)),
    key_decisions=(Decision("SQLite and not Postgres", 4),),
    constraints=(Constraint("use tabs", 1), Constraint("use spaces", 12, replaces=1)),
    commands=(Command("make", 0, 5), Command("make test", 2, 6), Command("sleep 99", None, 7)),
    errors_resolved=(ErrorResolved("No module named x", "make test", 6, 11, "a.py"),),
    pins=(Pin("the port is 8123", 2),),
    current_focus="mend the login",
)


def test_every_section_has_its_entries_newest_first_each_with_its_turn() -> None:
    rows = state_rows(FULL)
    assert [row.text for row in rows if row.heading] == [
        "Focus",
        "Constraints (2)",
        "Decisions (1)",
        "Files (2)",
        "Commands (3)",
        "Errors and what mended them (1)",
        "Pins (1)",
    ]
    assert [(row.sign, row.text, row.turn) for row in rows if not row.heading] == [
        ("", "mend the login", 0),
        ("!", "use spaces (instead of T1)", 12),
        ("!", "use tabs", 1),
        ("", "SQLite and not Postgres", 4),
        ("−", "b.py", 9),
        ("+", "a.py", 3),
        ("✗", "sleep 99 (did not end)", 7),
        ("✗", "make test (exit 2)", 6),
        ("✓", "make", 5),
        ("✓", "No module named x — mended in a.py; make test passes since T11", 6),
        ("◆", "the port is 8123", 2),
    ]


def test_nothing_is_no_rows() -> None:
    assert state_rows(SessionState()) == []


@given(st.text(max_size=700), st.integers(0, 10**6), st.integers(1, 90), st.booleans())
def test_a_row_fits_its_width_is_safe_and_is_as_high_as_it_says(text: str, at: int, width: int, heading: bool) -> None:
    rows, row = StateList(), StateRow(text, at, "✗", bad=True, heading=heading)
    lines = rows.draw_row(row, width)
    assert len(lines) == rows.height_of(row, width) <= MOST_LINES
    assert not any(UNSAFE.search(line.plain) for line in lines)


async def test_enter_shows_the_turn_and_y_what_the_model_gets() -> None:
    turns = [turn(n, "user", f"message {n}") for n in range(1, 61)]
    app = ChatApp(turns=turns, session=replace(session_record(), turn_count=60))
    async with app.run_test(size=(130, 30)) as pilot:
        app.service.tell(StateChanged(app.service.state))
        await app.chat.drawn()
        entries = app.chat.query_one(StateList)
        await pilot.press("tab")
        await until(pilot, lambda: entries.has_focus)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, WholeTextScreen))
        assert app.screen.query_one(TextView).text == STATE_YAML
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)
        at = next(at for at, row in enumerate(entries.items) if row.turn == 5)
        entries.move_to(at)
        await pilot.press("enter")

        def shown() -> bool:
            found = [each for each in app.chat.query(UserMessage) if each.turn_number == 5]
            return bool(found) and app.chat.query_one("#transcript").region.overlaps(found[0].region)

        await until(pilot, shown)


async def test_shift_tab_leads_from_the_composer_to_the_newest_turn_past_the_state() -> None:
    app = ChatApp(turns=[turn(n, "user", f"message {n}") for n in range(1, 4)], session=session_record())
    async with app.run_test(size=(130, 30)) as pilot:
        await until(pilot, lambda: len(app.chat.query(UserMessage)) == 3)
        await pilot.press("shift+tab")
        await until(pilot, lambda: isinstance(app.focused, UserMessage))
        assert isinstance(app.focused, UserMessage) and app.focused.turn_number == 3
        await pilot.press("shift+tab")
        await until(pilot, lambda: isinstance(app.focused, UserMessage) and app.focused.turn_number == 2)


async def test_on_a_narrow_terminal_the_turn_takes_the_panels_place() -> None:
    app = ChatApp(turns=[turn(n, "user", f"message {n}") for n in range(1, 9)], session=session_record())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("ctrl+s")
        panel = app.chat.query_one(StatePanel)
        entries = app.chat.query_one(StateList)
        await until(pilot, lambda: panel.display and entries.size.width > 50)
        entries.focus()
        await pilot.press("end", "enter")
        await until(pilot, lambda: not panel.display and app.chat.query_one("#transcript").display)


async def test_the_cursor_stays_and_what_is_typed_goes_to_the_composer() -> None:
    app = ChatApp()
    async with app.run_test(size=(130, 30)) as pilot:
        entries = app.chat.query_one(StateList)
        entries.focus()
        await pilot.press("down", "down")
        before = entries.cursor
        app.service.state = replace(app.service.state, pins=(Pin(HOSTILE, 3),))
        app.service.tell(StateChanged(app.service.state))
        await app.chat.drawn()
        await until(pilot, lambda: any(row.text == HOSTILE for row in entries.items))
        assert entries.cursor == before
        await pilot.press("h", "i")
        await until(pilot, lambda: app.chat.draft == "hi")


async def test_with_few_colours_the_cursor_is_drawn_the_other_way_round(monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(entries: StateList) -> bool:
        strips = (entries.render_line(line) for line in range(4))
        return any(segment.style is not None and segment.style.reverse for strip in strips for segment in strip)

    for colours in (True, False):
        if not colours:
            monkeypatch.setenv("NO_COLOR", "1")
        app = ChatApp()
        async with app.run_test(size=(130, 30)) as pilot:
            entries = app.chat.query_one(StateList)
            entries.focus()
            await until(pilot, lambda entries=entries: entries.has_focus)
            assert turned(entries) is not colours


async def test_an_empty_state_says_what_will_stand_there() -> None:
    app = ChatApp()
    app.service.state = SessionState()
    async with app.run_test(size=(130, 30)) as pilot:
        await pilot.pause()
        panel = app.chat.query_one(StatePanel)
        assert panel.query_one(".panel-empty").display and not panel.query_one(RowList).display


async def test_on_a_narrow_terminal_what_is_hidden_has_no_keys() -> None:
    app = ChatApp(turns=[turn(1, "user", "hello")], session=session_record())
    async with app.run_test(size=(60, 20)) as pilot:
        app.chat.query_one(UserMessage).focus()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.focused is app.chat.query_one(Composer))
        assert app.chat.query_one(StatePanel).display and not app.chat.query_one(Transcript).display
        app.chat.query_one(StateList).focus()
        await until(pilot, lambda: isinstance(app.focused, StateList))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.focused is app.chat.query_one(Composer))


@pytest.mark.parametrize("way", ["a message", "a command of the person's", "a command of loom's", "Esc"])
async def test_on_a_narrow_terminal_it_gives_way_to_what_comes_next(way: str) -> None:
    app = ChatApp(turns=[turn(1, "user", "hello")], session=session_record())
    async with app.run_test(size=(60, 20)) as pilot:
        panel, transcript = app.chat.query_one(StatePanel), app.chat.query_one(Transcript)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: panel.display and not transcript.display)
        assert "^S" in str(panel.query_one(".panel-title", Static).content), "it says how it is left"
        keys = {"a message": "hi", "a command of the person's": "!true", "a command of loom's": "/history"}
        await pilot.press(*[{"!": "exclamation_mark", "/": "slash"}.get(key, key) for key in keys.get(way, "")])
        await pilot.press("escape" if way == "Esc" else "enter")
        await until(pilot, lambda: transcript.display and not panel.display)
        await pilot.resize_terminal(130, 30)
        await until(pilot, lambda: panel.display)
        assert "^S" not in str(panel.query_one(".panel-title", Static).content)


async def test_beside_the_conversation_it_stays_whatever_comes_next() -> None:
    app = ChatApp(turns=[turn(1, "user", "hello")], session=session_record())
    async with app.run_test(size=(130, 30)) as pilot:
        await pilot.press("h", "i", "enter")
        await until(pilot, lambda: app.service.sent)
        await pilot.press("escape")
        await pilot.pause()
        assert app.chat.query_one(StatePanel).display


async def test_on_a_narrow_terminal_the_command_that_shows_it_does() -> None:
    app = ChatApp(turns=[turn(1, "user", "hello")], session=session_record())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("slash", *"state", "enter")
        await until(pilot, lambda: app.chat.query_one(StatePanel).display)
