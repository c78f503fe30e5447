"""The memory on the screen, and the question about a project's instructions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loom.context.usage import Segment
from loom.locations import Locations
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.memory import MemoryScreen
from loom.tui.screens.trust import TrustScreen
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.notice_bar import Notice, NoticeBar
from loom.tui.widgets.text_view import TextView
from tests.support.browsing import screen_text
from tests.support.seat import Seat, seated


@contextmanager
def _handed_over() -> Iterator[None]:
    yield


def said(seat: Seat) -> str:
    return "\n".join(seat.app.said)


async def test_the_memory_is_read_edited_and_taken_back(
    locations: Locations, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\necho "- port 8123" >> "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.delenv("VISUAL", raising=False)
    async with seated(locations, workspace) as seat:
        # The test's terminal is none that could be handed to an editor.
        monkeypatch.setattr(seat.app, "suspend", _handed_over)
        await seat.ready()
        service = seat.chat.service
        assert service is not None
        await seat.say("/memory")
        await seat.until(lambda: isinstance(seat.app.screen, MemoryScreen))
        await seat.pilot.press("e")
        await seat.until(lambda: service.usage is not None and Segment.MEMORY in service.usage.segments)
        await seat.until(lambda: "bytes" in str(seat.app.screen.query_one(".title").render()))
        assert await service.beside.read_memory() == b"- port 8123\n"
        await seat.pilot.press("u")
        await seat.until(lambda: "(empty)" in str(seat.app.screen.query_one(".title").render()))
        assert Segment.MEMORY not in service.usage.segments  # type: ignore[union-attr]
        await seat.pilot.press("u")
        await seat.until(lambda: "There is no change" in said(seat))
        monkeypatch.setenv("EDITOR", "false")
        await seat.pilot.press("e")
        await seat.until(lambda: "false ended with 1" in said(seat))
        assert len(seat.app.screen.query(TextView)) == 1
        await seat.pilot.press("escape")
        assert isinstance(seat.app.screen, ChatScreen)


async def test_an_edited_text_that_cannot_be_stored_is_kept_and_named(
    locations: Locations, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\necho "many minutes of writing" >> "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    lying = tmp_path / "lying"
    lying.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(lying))
    async with seated(locations, workspace) as seat:
        monkeypatch.setattr(seat.app, "suspend", _handed_over)
        await seat.ready()
        service = seat.chat.service
        assert service is not None
        folder = service.beside.memory_file().folder
        folder.mkdir(parents=True)
        (folder / "history").write_text("in the way of every write")
        await seat.say("/memory")
        await seat.until(lambda: isinstance(seat.app.screen, MemoryScreen))
        await seat.pilot.press("e")
        await seat.until(lambda: "cannot be used" in said(seat) and "What you wrote is in" in said(seat))
        (kept,) = lying.glob("*/MEMORY.md")
        assert kept.read_text() == "many minutes of writing\n"
        assert str(kept) in said(seat)
        assert await service.beside.read_memory() == b""

        (folder / "history").unlink()
        script.write_text(script.read_text() + "exit 3\n")
        await seat.pilot.press("e")
        await seat.until(lambda: "ended with 3" in said(seat))
        (second,) = set(lying.glob("*/MEMORY.md")) - {kept}
        assert str(second) in said(seat)
        assert await service.beside.read_memory() == b""

        script.write_text(script.read_text().removesuffix("exit 3\n"))
        await seat.pilot.press("e")
        await seat.until(lambda: "bytes" in str(seat.app.screen.query_one(".title").render()))
        assert await service.beside.read_memory() == b"many minutes of writing\n"
        assert set(lying.glob("*/MEMORY.md")) == {kept, second}, "only what is stored is cleared away"


async def asked(seat: Seat) -> TrustScreen:
    """Wait for the notice that waits to be answered, and answer to it."""
    await seat.until(lambda: seat.chat.query_one(NoticeBar).shown is Notice.TRUST)
    await seat.pilot.press("ctrl+t")
    return await asking(seat)


async def asking(seat: Seat) -> TrustScreen:
    await seat.until(lambda: isinstance(seat.app.screen, TrustScreen))
    screen = seat.app.screen
    assert isinstance(screen, TrustScreen)
    return screen


@pytest.mark.parametrize(("key", "asked_again", "read"), [("y", False, True), ("n", True, False), ("d", False, False)])
async def test_a_project_is_asked_about_once_and_the_answer_is_kept(
    locations: Locations, workspace: Path, key: str, asked_again: bool, read: bool
) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs. [/foo] \x1b[2J\n" + "more\n" * 20)

    def reads(seat: Seat) -> bool:
        usage = seat.chat.service.usage if seat.chat.service is not None else None
        return usage is not None and Segment.PROJECT in usage.segments

    async with seated(locations, workspace) as seat:
        screen = await asked(seat)
        words = str(screen.query_one(".file").render())
        assert "Use tabs. [/foo] ␛[2J" in words and "… 13 more lines" in words
        await seat.pilot.press(key)
        assert seat.app.screen is screen, "a key that was on its way is no answer"
        seat.clock.now += 1
        await seat.pilot.press(*"read a line")
        assert seat.app.screen is screen, "nor are the letters of a word"
        seat.clock.now += 1
        await seat.pilot.press("o")
        assert isinstance(seat.app.screen, WholeTextScreen)
        await seat.pilot.press("escape", key)
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and reads(seat) == read)
        await seat.until(lambda: not seat.chat.query_one(NoticeBar).display)
    async with seated(locations, workspace) as seat:
        if asked_again:
            await asked(seat)
        else:
            await seat.ready()
            await seat.idle()
            assert isinstance(seat.app.screen, ChatScreen)
            assert reads(seat) == read


async def test_what_is_typed_at_the_start_is_a_message_and_no_answer(locations: Locations, workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    async with seated(locations, workspace) as seat:
        await seat.until(lambda: seat.chat.query_one(NoticeBar).display)
        seat.clock.now += 1
        for letter in "yes do":
            await seat.pilot.press("space" if letter == " " else letter)
            seat.clock.now += 1
        assert seat.chat.draft == "yes do"
        service = seat.chat.service
        assert service is not None and service.beside.project.files
        assert seat.chat.query_one(NoticeBar).shown is Notice.TRUST


async def test_an_answer_can_be_changed_later(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        service = seat.chat.service
        await seat.say("/instructions")
        await seat.until(lambda: seat.chat.query(ErrorBlock))
        assert "no AGENTS.md" in str(seat.chat.query(ErrorBlock).first().render())
        (workspace / "AGENTS.md").write_text("Use tabs.\n")
        await seat.talk("list .")
        assert isinstance(seat.app.screen, ChatScreen), "nothing interrupts a conversation"
        seat.chat.query_one(Composer).clear()
        await seat.say("/instructions")
        await asking(seat)
        seat.clock.now += 1
        await seat.pilot.press("y")
        await seat.until(lambda: Segment.PROJECT in service.usage.segments)  # type: ignore[union-attr]


async def test_instructions_that_appear_in_the_midst_of_it_are_asked_about(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        assert seat.chat.query_one(NoticeBar).shown is None
        (workspace / "AGENTS.md").write_text("Use tabs.\n")
        await seat.talk("list .")
        await asked(seat)
        seat.clock.now += 1
        await seat.pilot.press("n")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
        await seat.talk("read README.md")
        assert seat.chat.query_one(NoticeBar).shown is None, "not now is no"
        (workspace / "AGENTS.md").write_text("Use spaces.\n")
        await seat.talk("list .")
        await seat.until(lambda: seat.chat.query_one(NoticeBar).shown is Notice.TRUST)
        (workspace / "AGENTS.md").unlink()
        await seat.talk("list .")
        await seat.until(lambda: seat.chat.query_one(NoticeBar).shown is None)


async def test_instructions_are_shown_as_the_files_have_them_now(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        service = seat.chat.service
        (workspace / "AGENTS.md").write_text("Use tabs.\n")
        await seat.say("/instructions")
        await asking(seat)
        assert "Use tabs." in screen_text(seat.app)
        seat.clock.now += 1
        await seat.pilot.press("n")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
        (workspace / "AGENTS.md").write_text("Use spaces.\n")
        await seat.say("/instructions")
        await asking(seat)
        assert "Use spaces." in screen_text(seat.app)
        seat.clock.now += 1
        await seat.pilot.press("y")
        await seat.until(lambda: Segment.PROJECT in service.usage.segments)  # type: ignore[union-attr]


async def test_a_flag_trusts_without_asking(locations: Locations, workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    async with seated(locations, workspace, trust_project=True) as seat:
        await seat.ready()
        await seat.idle()
        service = seat.chat.service
        assert service is not None and service.usage is not None
        assert Segment.PROJECT in service.usage.segments
        assert isinstance(seat.app.screen, ChatScreen)
    assert not locations.trust.exists()
