"""A turn, whole."""

from __future__ import annotations

from loom.archive.records import TurnStatus
from loom.text import UNSAFE
from loom.tui.screens.turn_view import TurnViewScreen
from loom.tui.turn_text import turn_heading, turn_text, verbatim
from loom.tui.widgets.text_view import TextView
from tests.support.browsing import HOSTILE, Fixed, alone, id_of, until
from tests.support.turns import call_turn, turn


async def view(shelf: Fixed, number: int) -> TurnViewScreen:
    return TurnViewScreen(shelf, (await shelf.get_range(id_of(shelf, "a1b2"), number, number))[0])


def test_the_heading_says_which_turn_who_how_it_ended_and_when() -> None:
    assert turn_heading(turn(7, "user", "hi")) == "T7 user · 2026-03-04 10:00 +00:00"
    failed = turn(8, "tool", "x", status=TurnStatus.FAILED, tool="read_file")
    assert turn_heading(failed) == "T8 tool read_file · failed · 2026-03-04 10:00 +00:00"
    assert not UNSAFE.search(turn_heading(turn(9, "tool", "x", tool=HOSTILE)))


def test_a_call_says_its_arguments() -> None:
    asked = call_turn(3, "c1", "read_file", {"path": "a.py"})
    assert turn_text(asked) == "read_file a.py" and '"path": "a.py"' in verbatim(asked)
    assert verbatim(turn(4, "assistant", "words")) == ""
    assert turn_text(turn(4, "assistant", None)) == "(nothing)"


async def test_left_and_right_step_to_the_turns_beside_it(shelf: Fixed) -> None:
    screen = await view(shelf, 1)
    async with alone(screen).run_test() as pilot:
        await pilot.press("right")
        await until(pilot, lambda: "session middleware" in screen.query_one(TextView).text)
        await pilot.press("left", "left")
        await until(pilot, lambda: "times out" in screen.query_one(TextView).text)
        assert len(screen.query(TextView)) == 1


async def test_y_copies_the_turn_as_it_is(shelf: Fixed) -> None:
    session_id = id_of(shelf, "a1b2")
    number = await shelf.store.append_turn(session_id, "user", HOSTILE)
    app = alone(await view(shelf, number))
    async with app.run_test() as pilot:
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == HOSTILE)


async def test_a_text_of_any_size_is_scrolled_to_its_end(shelf: Fixed) -> None:
    session_id = id_of(shelf, "a1b2")
    number = await shelf.store.append_turn(session_id, "user", "x" * 3_000_000 + "\nthe end")
    screen = await view(shelf, number)
    app = alone(screen)
    async with app.run_test(size=(60, 16)) as pilot:
        await pilot.press("G")
        text = screen.query_one(TextView)
        await until(pilot, lambda: text.scroll_y == text.max_scroll_y > 1_000)
        assert "the end" in text.render_line(text.size.height - 1).text
        await pilot.press("g", "j", "space", "q")
        await until(pilot, lambda: app.left)


async def test_r_shows_a_call_as_it_is_stored_and_in_words_again(shelf: Fixed) -> None:
    calls = [{"id": "c1", "name": "edit_file", "arguments": {"path": "a.py", "new_text": "x\ny"}}]
    number = await shelf.store.append_turn(id_of(shelf, "a1b2"), "assistant", "", tool_calls=calls)
    screen = await view(shelf, number)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.query_one(TextView).text == "edit_file a.py\n  new_text:\n    x\n    y")
        await pilot.press("r")
        await until(pilot, lambda: '"new_text": "x\\ny"' in screen.query_one(TextView).text)
        await pilot.press("y")
        await until(pilot, lambda: '"new_text"' in app.clipboard)
        await pilot.press("r")
        await until(pilot, lambda: "edit_file a.py" in screen.query_one(TextView).text)
        await pilot.press("left")
        await until(pilot, lambda: "edit_file" not in screen.query_one(TextView).text)
        assert screen.check_action("turn_over", ()) is False
