"""A screen alone on the app's look, and an archive with sessions to browse, read as if made at a fixed time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from loom.archive import ConversationStore
from loom.archive.leases import Holder
from loom.archive.records import Role, SearchPage, Session, Turn
from loom.tui import look
from loom.tui.look import LoomLook

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
HERE = "/home/ada/src/shop"
ELSEWHERE = "/home/ada/src/paper"

BIDI = "invoice \u202egpj.exe"
HOSTILE = "[/foo] [@click=app.quit]quit[/] \x1b]52;c;aGk=\x07\x1b[31m " + BIDI
"""Markup that would crash or act, a clipboard write, a colour, a reordered name."""


class Alone(LoomLook):
    """One screen, opened when the app starts; `result` is what it was dismissed with."""

    # A relative path would be looked for beside this file.
    CSS_PATH = Path(look.__file__).with_name("app.tcss")

    def __init__(self, make: Callable[[], Awaitable[Screen[Any]]]) -> None:
        super().__init__()
        self._make = make
        self.result: Any = None
        self.left = False
        self.messages: list[Any] = []

    async def on_mount(self) -> None:
        await self.push_screen(await self._make(), self._leave)

    def _leave(self, result: Any) -> None:
        self.result, self.left = result, True

    def on_archive_screen_export_hits(self, event: Any) -> None:
        self.messages.append(event)


def alone(screen: Screen[Any]) -> Alone:
    async def make() -> Screen[Any]:
        return screen

    return Alone(make)


PATIENCE = 60.0
"""Seconds after which a test that waits is wrong; never how long anything should take."""


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait for a condition; an AssertionError when it never comes."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await pilot.pause()
    except TimeoutError:
        raise AssertionError("waited in vain") from None


def screen_text(app: App[Any]) -> str:
    """What stands on the screen, line by line."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips(app.size))


def steady(pilot: Pilot[Any]) -> None:
    """No blinking cursor in a picture."""
    for box in pilot.app.screen.query(Input):
        box.cursor_blink = False


@dataclass
class Fixed:
    """The store itself, with what it makes up (references, the time of making, how long it took) fixed for pictures."""

    store: ConversationStore
    made: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    """Reference and last activity by session id."""

    def _session(self, session: Session) -> Session:
        if session.id not in self.made:
            return session
        reference, when = self.made[session.id]
        return replace(session, reference=reference, last_active_at=when.isoformat().replace("+00:00", "Z"))

    async def list_sessions(self, workspace: str | None = None, *, limit: int = 50) -> list[Session]:
        return [self._session(s) for s in await self.store.list_sessions(workspace, limit=limit)]

    async def get_lease_holders(self) -> dict[str, Holder]:
        return await self.store.get_lease_holders()

    async def rename_session(self, session_id: str, title: str) -> None:
        await self.store.rename_session(session_id, title)

    async def delete_session(self, session_id: str) -> None:
        await self.store.delete_session(session_id)

    async def restore_session(self, session_id: str) -> None:
        await self.store.restore_session(session_id)

    async def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        workspace: str | None = None,
        at_hand: str | None = None,
        limit: int = 20,
        roles: Sequence[Role] | None = None,
        tools: Sequence[str] | None = None,
        after: str | None = None,
        patience: float = 0.0,
    ) -> SearchPage:
        page = await self.store.search(
            query,
            session_id=session_id,
            workspace=workspace,
            at_hand=at_hand,
            limit=limit,
            roles=roles,
            tools=tools,
            after=after,
            patience=patience,
        )
        hits = tuple(
            replace(hit, session_reference=self.made[hit.session_id][0]) if hit.session_id in self.made else hit
            for hit in page.hits
        )
        return replace(page, hits=hits, elapsed_ms=4.0)

    async def find_tools(self, *, session_id: str | None = None, workspace: str | None = None) -> tuple[str, ...]:
        return await self.store.find_tools(session_id=session_id, workspace=workspace)

    async def find_files(
        self, fragment: str, *, session_id: str | None = None, workspace: str | None = None, limit: int = 20
    ) -> tuple[str, ...]:
        return await self.store.find_files(fragment, session_id=session_id, workspace=workspace, limit=limit)

    async def nearest_words(
        self, query: str, *, session_id: str | None = None, workspace: str | None = None, limit: int = 5
    ) -> tuple[str, ...]:
        return await self.store.nearest_words(query, session_id=session_id, workspace=workspace, limit=limit)

    async def get_range(self, session_id: str, first: int, last: int) -> list[Turn]:
        return await self.store.get_range(session_id, first, last)

    async def get_turns_around(self, session_id: str, turn_number: int) -> list[Turn]:
        return await self.store.get_turns_around(session_id, turn_number)


CONVERSATIONS: tuple[tuple[str, str, str, str, tuple[tuple[Role, str, str | None], ...]], ...] = (
    (
        "a1b2",
        HERE,
        "Fix the login timeout",
        "anthropic:claude-sonnet-4-5",
        (
            ("user", "The login times out after 30 seconds. Find out why.", None),
            ("assistant", "I look at the session middleware first.", None),
            (
                "tool",
                "src/auth.py:41: REFRESH_TIMEOUT = 30\nsrc/auth.py:58: raise SessionExpired(token)",
                "search_text",
            ),
            ("assistant", "The refreshToken call uses REFRESH_TIMEOUT, which is 30 seconds.", None),
            ("user", "Make it configurable, and never use an ORM here.", None),
            ("assistant", "Done: SHOP_REFRESH_TIMEOUT, default 30.", None),
        ),
    ),
    (
        "k3f9",
        HERE,
        "Why is the build red?",
        "openai:gpt-5.2",
        (
            ("user", "Why is the build red?", None),
            ("tool", "error[E0433]: failed to resolve: use of undeclared crate `tokio`", "shell_execute"),
            ("assistant", "tokio is missing from Cargo.toml; the timeout test needs it.", None),
        ),
    ),
    (
        "z9y8",
        ELSEWHERE,
        "Abstract for the paper",
        "offline",
        (
            ("user", "日本語の要約も書いてください。", None),
            ("assistant", "A summary in Japanese follows: アーカイブは何も忘れない。", None),
        ),
    ),
)


async def fill(path: Path) -> Fixed:
    """An archive with three sessions in two workspaces."""
    store = await ConversationStore.open(path)
    fixed = Fixed(store)
    for index, (reference, workspace, title, model, turns) in enumerate(CONVERSATIONS):
        session_id = await store.create_session(workspace, model, "Be helpful.", title=title)
        for number, (role, content, tool) in enumerate(turns):
            when = (NOW - timedelta(hours=3 * index + 1, minutes=50 - number)).isoformat()
            await store.append_turn(session_id, role, content, tool_name=tool, created_at=when)
        fixed.made[session_id] = (reference, NOW - timedelta(hours=26 * index + 1))
    return fixed


def id_of(fixed: Fixed, reference: str) -> str:
    return next(session_id for session_id, (known, _) in fixed.made.items() if known == reference)
