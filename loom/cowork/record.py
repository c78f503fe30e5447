"""The session as the archive has it, and the state taken from it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loom.archive import SessionDetail, Turn, UnknownSession
from loom.archive.records import TurnKind
from loom.cowork.prompt import static_instructions
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.locations import expanded
from loom.state import SessionLine, SessionState, advance, not_rewound, read_state, rewinds, to_yaml
from loom.text import storable

STATE_PAGE = 500
"""Turns read at once where the state is made again."""


class NothingSaid(LoomError):
    """Something was asked of a session that begins with the first message."""

    def __init__(self) -> None:
        super().__init__("Nothing has been said yet.", "The session begins with your first message.")


class SessionRecord:
    """One row of the archive and what goes with it; there is none before the first message."""

    def __init__(self, bench: Workbench, workspace: Path) -> None:
        self._bench = bench
        self._store = bench.store
        self._workspace = workspace
        self.detail: SessionDetail | None = None
        self.begun_in = ""
        """Another folder than the workspace, in which the session was begun; empty when it is the same."""
        self.state = SessionState()
        self._ahead: list[Turn] | None = None  # stored since the state has to be made again; None: it need not be
        self._making = asyncio.Lock()
        self.instructions = static_instructions(workspace)
        """Those that the session began with, as long as it lives."""

    @property
    def id(self) -> str | None:
        return self.detail.id if self.detail else None

    def require(self) -> SessionDetail:
        """The session. Raises NothingSaid before the first message."""
        if self.detail is None:
            raise NothingSaid
        return self.detail

    async def create(self, model: str) -> SessionDetail:
        """Make the session in the archive. Raises an ArchiveError."""
        session_id = await self._store.create_session(str(self._workspace), model, self.instructions)
        return await self._read(session_id)

    async def open(self, session_id: str) -> SessionDetail:
        """Take up a session with its state. Raises UnknownSession."""
        detail = await self._read(session_id)
        here = await asyncio.to_thread(os.path.realpath, self._workspace)
        self.begun_in = detail.workspace_path if detail.workspace_path != storable(here) else ""
        self.instructions = detail.system_prompt or self.instructions
        self.state = read_state(detail.session_state)
        if self.state.last_turn < detail.turn_count:
            # The state is saved between exchanges: a crash leaves it a few turns behind.
            self.advance(await self._store.get_range(session_id, self.state.last_turn + 1, detail.turn_count))
            await self._catch_up(session_id)
        return detail

    async def refresh(self) -> None:
        """Read titles and totals again, and the turns that a rewinding left to the state."""
        if self.id is not None:
            await self._read(self.id)
            await self._catch_up(self.id)

    async def _read(self, session_id: str) -> SessionDetail:
        detail = await self._store.get_session(session_id)
        if detail is None:
            raise UnknownSession(f"There is no session {session_id} in the archive.", "It may have been purged.")
        self.detail = detail
        return detail

    def advance(self, turns: Sequence[Turn]) -> None:
        """Take in turns that were stored; `save_state` keeps the outcome. Behind a rewinding, or one that was taken
        back, the state is of old until `refresh`."""
        if self._ahead is None and rewinds(self.state, turns):
            self._ahead = []
        if self._ahead is None:
            self.state = advance(self.state, turns)
        else:
            self._ahead += turns

    async def _catch_up(self, session_id: str) -> None:
        """Make the state of the session's turns again if it has to be."""
        async with self._making:
            while self._ahead is not None:
                self._ahead = []
                rewound = await self._store.get_rewound(session_id)
                state = SessionState(rewound=rewound)
                while page := await self._store.get_turns(session_id, state.last_turn, STATE_PAGE):
                    state = await asyncio.to_thread(advance, state, not_rewound(page, rewound))
                    state = replace(state, last_turn=page[-1].turn_number)
                if await self._store.get_rewound(session_id) != rewound:
                    continue  # it was read while another loom rewound
                since, self._ahead = self._ahead, None
                self.state = state
                self.advance(since)

    async def save_state(self) -> None:
        """Keep the state beside the session. Raises an ArchiveError; the state can be rebuilt from the turns."""
        if self.id is not None:
            await self._store.update_session_state(self.id, self.state.to_json())

    def yaml(self, model: str) -> str:
        """The state as the model sees it."""
        detail = self.detail
        line = SessionLine(
            reference=detail.reference if detail else "new",
            workspace=str(self._workspace),
            model=model,
            turn_count=detail.turn_count if detail else 0,
            total_tokens=detail.total_tokens if detail else 0,
            begun_in=self.begun_in,
        )
        return to_yaml(self.state, line, count=self._bench.counter.count)

    async def transcript(self, before: int | None, limit: int) -> list[Turn]:
        """The newest `limit` turns before turn `before` (of all if None), ascending."""
        return [] if self.id is None else await self._store.get_turns_before(self.id, before, limit)

    async def turn(self, number: int) -> Turn | None:
        """That turn of the session; None when there is none."""
        return await self._store.get_turn(self.require().id, number)

    async def prompt_of(self, turn: Turn) -> Turn | None:
        """The person's message that this turn's exchange began with; None when it began with none (imports)."""
        sizes = await self._store.get_exchange_sizes(turn.session_id, turn.exchange + 1, 1)
        first = await self._store.get_turn(turn.session_id, sizes[0].first_turn) if sizes else None
        return first if first is not None and first.role == "user" and first.kind is TurnKind.TEXT else None

    async def rename(self, title: str) -> None:
        """Give the session a title."""
        await self._store.rename_session(self.require().id, title)
        await self.refresh()

    async def change_tags(self, add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...]:
        """Put tags on the session and take others away; the tags that it has then."""
        found = await self._store.change_tags(self.require().id, add=add, remove=remove)
        await self.refresh()
        return found

    async def export(self, path: str) -> Path:
        """Write the session to a file, in the form that its ending names (`.md`, `.json`, `.html`), mode 0600.

        A relative path is one in the workspace; none is a place in loom's home. Raises ExportError if it is there
        already, its folder is not, or it cannot be written; LoomError for `~somebody` who is not there.
        """
        from loom.interchange.export import export_session

        detail = self.require()
        turns = await self._store.get_range(detail.id, 1, detail.turn_count)
        place = self._export_path(detail, path)
        locations = self._bench.locations
        return await asyncio.to_thread(export_session, place, detail, turns, locations=locations, make_folder=not path)

    def _export_path(self, detail: SessionDetail, path: str) -> Path:
        if not path:
            return self._bench.locations.exports / f"{detail.reference}-{detail.turn_count}.md"
        return self._workspace / expanded(path)
