"""A chat screen on a conversation whose events the test writes, with a clock that only the test moves; and an archive
to browse."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from loom.archive.records import Session, Turn
from loom.cowork.events import ApprovalAsked
from loom.locations import Locations
from loom.tools.outcome import Preview
from loom.tui.look import LoomLook
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.chat_commands import GoTo, Place
from loom.tui.widgets.composer import Composer
from tests.support.browsing import Fixed, fill
from tests.support.checkout import make_checkout
from tests.support.clock import Clock
from tests.support.scripted_chat import ScriptedChat
from tests.support.turns import session_record, turn
from tests.support.zone import reading_in


@dataclass
class ChatApp(LoomLook):
    """The chat screen alone, on a scripted conversation."""

    turns: list[Turn] = field(default_factory=list)
    session: Session | None = None
    attached: bool = True

    def __post_init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.chat = ChatScreen(Path("/home/ada/src/shop"), clock=self.clock)
        self.service = ScriptedChat(self.chat.receive, self.turns, self.session)
        self.went: list[GoTo] = []

    __hash__ = App.__hash__

    async def on_mount(self) -> None:
        await self.push_screen(self.chat)
        self.chat.query_one(Composer).cursor_blink = False
        if self.attached:
            await self.chat.attach(self.service)

    def on_go_to(self, event: GoTo) -> None:
        self.went.append(event)

    def action_go(self, place: Place) -> None:
        self.went.append(GoTo(place))


ASKED = ApprovalAsked("c1", "shell_execute", Preview("Run a command", "make", "command", "exactly this", "k"))
"""The model wants to run `make`."""


async def settled(pilot: Pilot[Any], app: ChatApp) -> None:
    """Wait until every event has been drawn."""
    await app.chat.drawn()
    await pilot.pause()


@pytest.fixture
def app() -> ChatApp:
    """The chat screen on a session in which one message was said."""
    return ChatApp(turns=[turn(1, "user", "Hello")], session=session_record())


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pictures and cell widths do not depend on the terminal that the tests run in, nor times on where it stands."""
    for name in ("NO_COLOR", "TEXTUAL_ANIMATIONS", "COLORTERM", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("HOME", os.environ.get("HOME", "/"))
    with reading_in("UTC"):
        yield


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    return Locations(home=tmp_path / "home", config=tmp_path / "config.toml")


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Fixed]:
    """An archive of three sessions in two workspaces."""
    fixed = await fill(tmp_path / "archive.db")
    yield fixed
    await fixed.store.close()
