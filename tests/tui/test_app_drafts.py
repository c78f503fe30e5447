"""What is being written in the whole program: it is there again whatever comes between."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from textual.events import Paste

from loom.archive.unsent import Unsent
from loom.cowork.typed import packed, placed, unpacked
from loom.locations import Locations
from loom.tools.mentions import attached_turn
from loom.tui.choices import OpenSession
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.message import UserMessage
from loom.tui.widgets.queue import QueuedMessages
from tests.support.seat import seated
from tests.support.unsent import put_unsent


async def test_a_draft_is_there_after_a_look_elsewhere(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("d", "r", "a", "f", "t", "f1")
        await seat.until(lambda: isinstance(seat.app.screen, HelpScreen))
        await seat.pilot.press("escape")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
        assert seat.chat.draft == "draft"


async def test_what_was_being_written_is_there_after_leaving(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        seat.chat.query_one(Composer).put("before the first message")
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        assert seat.chat.draft == "before the first message"
        await seat.pilot.press("ctrl+c")
        await seat.talk("read README.md")
        seat.chat.query_one(Composer).put("after it")
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        assert seat.chat.draft == ""
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert seat.chat.draft == "after it"


async def test_a_draft_goes_to_the_disk_while_it_is_written(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        seat.chat.query_one(Composer).put("half a thought")
        await seat.until(lambda: list(locations.unsent.glob("new-*.txt")))
        assert [file.read_text() for file in locations.unsent.glob("new-*.txt")] == ["half a thought"]
        await seat.talk("read README.md")
        await seat.until(lambda: not list(locations.unsent.iterdir()))


async def test_blanks_are_no_draft_wherever_the_cursor_stands(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("space", "space", "home")
        assert seat.chat.query_one(Composer).text == "  "
        await seat.pilot.press("ctrl+q")
    assert not list(locations.unsent.glob("*.txt"))


async def test_a_message_that_was_stored_is_no_draft_any_more(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        session_id = seat.session_id
    put_unsent(Unsent(locations.unsent), session_id, "read README.md")
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert seat.chat.draft == ""


async def test_a_message_stays_a_draft_until_it_is_stored(locations: Locations, workspace: Path) -> None:
    def kept() -> list[str]:
        return [file.read_text(encoding="utf-8") for file in locations.unsent.glob("*.txt")]

    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        other = sqlite3.connect(locations.archive, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await seat.say("words that matter")
        await seat.say("and more of them")
        await seat.until(lambda: kept() == [packed("words that matter", "and more of them")])
        assert seat.chat.draft == "and more of them"
        other.execute("ROLLBACK")
        other.close()
        await seat.until(lambda: not kept())
        await seat.until(lambda: seat.chat.service is not None and not seat.chat.service.waiting)
        await seat.idle()


async def test_what_waited_when_loom_was_left_waits_again_each_thing_as_it_was(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await seat.say("run touch made.txt")
        await seat.until(lambda: seat.chat.query(Approval))
        for text in ("!touch mine.txt", "read README.md", "half a thought"):
            seat.chat.query_one(Composer).focus()
            seat.chat.query_one(Composer).put(text)
            if text != "half a thought":
                await seat.pilot.press("enter")
        await seat.until(lambda: len(seat.chat.waiting) == 2)
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        composer = seat.chat.query_one(Composer)
        assert (seat.chat.waiting, composer.text) == (("!touch mine.txt", "read README.md"), "half a thought")
        assert seat.chat.query_one(QueuedMessages).display
        assert not (workspace / "mine.txt").exists()
        await seat.pilot.press("ctrl+c", "enter")
        await seat.until(lambda: (workspace / "mine.txt").exists() and not seat.chat.waiting)
        await seat.until(lambda: "read README.md" in [message.text for message in seat.chat.query(UserMessage)])
        await seat.idle()


async def test_words_written_in_a_session_that_is_only_read_are_there_after_leaving(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        first = seat.session_id
        seat.chat.query_one(Composer).put("mine")
        await seat.until(lambda: list(locations.unsent.glob("*.txt")))
        async with seated(locations, workspace) as reader:
            await reader.until(lambda: isinstance(reader.app.screen, PickerScreen) and reader.rows)
            reader.app.screen.dismiss(OpenSession(first, read_only=True))
            await reader.ready()
            assert reader.chat.service is not None and reader.chat.service.read_only
            reader.chat.query_one(Composer).put("written while reading")
            await reader.pilot.press("ctrl+q")
            await reader.until(lambda: not reader.app.is_running)
        assert seat.chat.draft == "mine"
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, resume=first) as seat:
        await seat.ready()
        assert sorted(unpacked(seat.chat.draft)) == ["mine", "written while reading"]


async def test_two_new_conversations_in_one_folder_keep_their_own_words(locations: Locations, workspace: Path) -> None:
    def kept() -> list[str]:
        return sorted(file.read_text(encoding="utf-8") for file in locations.unsent.glob("*.txt"))

    async with seated(locations, workspace) as one:
        await one.ready()
        one.chat.query_one(Composer).put("alpha")
        await one.until(lambda: kept() == ["alpha"])
        async with seated(locations, workspace, fresh=True) as other:
            await other.ready()
            assert other.chat.draft == ""
            other.chat.query_one(Composer).put("read README.md")
            await other.until(lambda: kept() == ["alpha", "read README.md"])
            await other.talk("read README.md")
            await other.until(lambda: kept() == ["alpha"])
        assert one.chat.draft == "alpha"
    async with seated(locations, workspace, fresh=True) as again:
        await again.ready()
        assert again.chat.draft == "alpha"


async def test_each_session_keeps_its_draft(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        await seat.pilot.press("o", "n", "e")
        first = seat.chat
        seat.chat.action_command("new")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.app.screen is not first)
        await seat.ready()
        assert seat.chat.draft == ""
        await seat.pilot.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
        await seat.pilot.pause()
        await seat.pilot.press("down", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.chat.query(UserMessage))
        await seat.ready()
        assert seat.chat.draft == "one"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("first line\nsecond line\n\nlast", (1, 3)),
        ("日本語 and é", (0, 2)),
        ("!make test", (0, 4)),
        (" !is no command", (0, 0)),
        ("at the end", (0, 10)),
    ],
)
async def test_the_cursor_stands_where_it_stood(
    locations: Locations, workspace: Path, text: str, at: tuple[int, int]
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        composer = seat.chat.query_one(Composer)
        composer.put(text)
        composer.move_cursor(at)
        written, is_shell = composer.text, composer.is_shell
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        composer = seat.chat.query_one(Composer)
        assert (composer.text, composer.is_shell, composer.cursor_location) == (written, is_shell, at)
        await seat.pilot.press("x")
        lines = written.split("\n")
        lines[at[0]] = f"{lines[at[0]][: at[1]]}x{lines[at[0]][at[1] :]}"
        assert composer.text == "\n".join(lines)


async def test_moving_the_cursor_alone_is_kept(locations: Locations, workspace: Path) -> None:
    def kept() -> list[str]:
        return [file.read_text(encoding="utf-8") for file in locations.unsent.glob("*.txt")]

    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("o", "w", "l")
        await seat.until(lambda: kept() == ["owl"])
        await seat.pilot.press("left")
        await seat.until(lambda: kept() == [placed("owl", 2)])
        await seat.pilot.press("end")
        await seat.until(lambda: kept() == ["owl"])
        await seat.pilot.press("ctrl+c")
        await seat.until(lambda: kept() == [])


async def test_a_message_that_was_stored_is_no_draft_wherever_the_cursor_stood(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        session_id = seat.session_id
    put_unsent(Unsent(locations.unsent), session_id, placed("read README.md", 4))
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert seat.chat.draft == ""


async def test_what_waited_has_no_place_and_the_words_of_two_looms_none_to_lose(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        session_id = seat.session_id
    for words in ("one two", "three four"):
        put_unsent(Unsent(locations.unsent), session_id, placed(words, 3))
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        composer = seat.chat.query_one(Composer)
        assert {*seat.chat.waiting, composer.text} == {"one two", "three four"}
        assert composer.cursor_location == (0, 3)


async def test_a_long_paste_and_a_turn_cost_the_place_and_nothing_else(locations: Locations, workspace: Path) -> None:
    paste = "a line\n" * 300
    async with seated(locations, workspace) as seat:
        await seat.ready()
        composer = seat.chat.query_one(Composer)
        composer.post_message(Paste(paste))
        await seat.until(lambda: composer.text)
        name = composer.text
        # In the middle of its name: no place in the text.
        composer.move_cursor((0, 4))
        assert seat.chat.draft == paste
        composer.move_cursor((0, len(name)))
        composer.insert(" behind it")
        composer.move_cursor((0, len(name) + 3))
        assert seat.chat.draft == placed(f"{paste} behind it", len(paste) + 3)
        composer.put("")
        composer.attach(attached_turn("k3f9 T57", "user", "Use PostgreSQL."))
        composer.insert("is this so?")
        composer.move_cursor((0, 14))
        assert seat.chat.draft == composer.whole_text()
