"""The archive's public face: every conversation, written through and read back.

A method that writes returns when what it wrote is on the disk, and is carried through even if the task that awaits it
is cancelled. One that cannot write raises WriteFailed and has stored nothing.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from loom.archive import clock, drafts, manifests, reading, sessions, tags
from loom.archive.appends import Appended, Appender
from loom.archive.database import require_file
from loom.archive.errors import NewerArchive, UnwritableArchive
from loom.archive.forks import Forks
from loom.archive.hops import unbroken
from loom.archive.leftovers import Leftovers
from loom.archive.migrations import is_current, prepare
from loom.archive.mounts import require_local
from loom.archive.privatefolders import remove_old_copies
from loom.archive.reader import ArchiveReader
from loom.archive.records import Draft, Lease, Manifest, NewSession, NewTurn, Role, Turn, TurnKind, TurnStatus
from loom.archive.spool import Spool, Spooled, by_message
from loom.archive.stranded import StrandedSession
from loom.archive.unwritable import PrivateCopy, copy_privately, is_at_rest, is_unwritable


def _prepared(path: Path, *, readonly: bool) -> PrivateCopy | None:
    """A copy to open in the place of the archive, where that cannot be read as it stands."""
    path = path.absolute()
    remove_old_copies(path.parent)
    if not is_unwritable(path):
        return None
    if not readonly:
        raise UnwritableArchive(
            f"Nothing can be stored: {path.parent} is read-only for you.",
            "Make it and the archive in it writable, or set LOOM_HOME to another folder. Until then it is open to "
            "read only, and what is written from elsewhere meanwhile is not shown.",
        )
    require_local(path)
    require_file(path)
    try:
        if is_at_rest(path) and is_current(path):
            return None
    except NewerArchive:
        return None
    copy = copy_privately(path)
    try:
        with suppress(NewerArchive):
            prepare(copy.path)
    except BaseException:
        copy.remove()
        raise
    return copy


class ConversationStore(ArchiveReader):
    """Append-only store of conversations, for one event loop. `initialize` first, `close` last."""

    def __init__(self) -> None:
        super().__init__()
        self._appender = Appender()
        self._forks = self._make_forks()
        self._leftovers = Leftovers(self._access, self._leases)
        self._closing = asyncio.Lock()
        self._copy: PrivateCopy | None = None

    @classmethod
    async def open(cls, path: Path | str, *, readonly: bool = False) -> ConversationStore:
        """An initialized store. Raises as `initialize` does."""
        store = cls()
        await store.initialize(path, readonly=readonly)
        return store

    async def initialize(self, path: Path | str, *, readonly: bool = False) -> None:
        """Open the archive at `path`: make it if there is none, migrate it (after a backup) if it is older.

        Raises NotAnArchive (empty or foreign file: not touched), NewerArchive or UnwritableArchive (can be opened with
        `readonly`), ArchiveUnavailable, ArchiveDamaged or WriteFailed.
        """

        def look() -> None:
            # Here, and not behind an await that may be cancelled: only a copy that is known is removed.
            self._copy = _prepared(Path(path), readonly=readonly)

        try:
            # No task: the end of a program cancels all of them, and this one would let go of its thread.
            await unbroken(asyncio.get_running_loop().run_in_executor(None, look))
            self._place(path if self._copy is None else self._copy.path)
            await self._access.open(readonly=readonly)
            self._forks = self._make_forks()
            self._leftovers = Leftovers(self._access, self._leases)
            if not readonly:
                self._leftovers.tidy()
        except BaseException:
            await self._remove_copy()
            raise

    async def close(self) -> None:
        """Finish what is being written, give leases back, tidy the log up, and let the files go.

        Closing again does nothing, but wait for a closing that is under way.
        """
        await unbroken(asyncio.ensure_future(self._close()))

    async def _close(self) -> None:
        async with self._closing:
            try:
                await self._forks.end()
                await self._leftovers.end()
                # What is still being stored wakes the finder when it is done.
                await self._access.finish()
                try:
                    await self._finder.close()
                finally:
                    await asyncio.to_thread(self._leases.release_all)
                    await self._access.close()
            finally:
                await self._remove_copy()

    async def _remove_copy(self) -> None:
        copy, self._copy = self._copy, None
        if copy is not None:
            await asyncio.to_thread(copy.remove)

    async def checkpoint(self, *, empty: bool = True) -> bool:
        """Move the write-ahead log into the database, and empty it unless told otherwise; False if others are using
        it just now. loom does this by itself, in pauses."""
        return await self._access.checkpoint(empty=empty)

    def spool_stranded(self, spool: Spool) -> None:
        """From now on, what is in a log that the archive has gone on without goes to the spool, before anybody who
        stores something hears of it."""

        def keep(stranded: Sequence[StrandedSession]) -> None:
            for found in stranded:
                spool.put(found.session_id, found.turns, found.session)

        self._access.keep = keep

    async def adopt(self, spooled: Spooled) -> bool:
        """Store a spooled session, turns and all, if it is none that the archive has; whether it did. Raises
        WriteFailed."""
        if spooled.session is None or not await self.adopt_session(spooled.session):
            return False
        for turns in by_message(spooled.turns):
            await self.append_turns(spooled.session_id, turns)
        return True

    async def adopt_session(self, session: NewSession) -> bool:
        """Store a session that comes back from elsewhere, under its own id and without turns but for those that it is a
        copy of; False if the archive has one of that id. Raises an ArchiveError."""
        if not session.copied:
            return await self._access.write(lambda c: sessions.adopt_session(c, session))
        # What the archive has of it may be just a half that nobody holds any more.
        await self._leftovers.done()
        return await self._forks.make_again(session)

    # Sessions

    async def create_session(
        self,
        workspace: Path | str,
        model: str,
        system_prompt: str,
        *,
        title: str = "",
        parent_id: str | None = None,
        fork_turn: int | None = None,
    ) -> str:
        """Store a new session; gives its id. Without a title the first message gives it one."""
        place = await self._identify(workspace)
        return await self._access.write(
            lambda c: sessions.create_session(
                c, place, model, system_prompt, title=title, parent_id=parent_id, fork_turn=fork_turn
            )
        )

    async def rename_session(self, session_id: str, title: str) -> None:
        """Give the session a title; an empty one lets the next message give it one."""
        await self._access.write(lambda c: sessions.rename_session(c, session_id, title))

    async def change_tags(
        self, session_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Put tags on the session and take others away; the tags that it has then. Raises BadTag."""
        return await self._access.write(lambda c: tags.change_tags(c, session_id, add, remove))

    async def delete_session(self, session_id: str) -> None:
        """Take the session off the list. Its turns stay, and `restore_session` brings it back."""
        await self._access.write(lambda c: sessions.show_session(c, session_id, False))

    async def restore_session(self, session_id: str) -> None:
        """Put a deleted session back on the list."""
        await self._access.write(lambda c: sessions.show_session(c, session_id, True))

    async def fork_session(self, session_id: str, turn_number: int | None = None) -> str:
        """Store a copy of the session up to and with `turn_number` (whole if None); gives the copy's id. Turns keep
        their numbers, exchanges, keys and digests. The state is copied only with the whole session: an earlier one is
        made of the turns again.

        A long one is copied in parts, between which others write; nobody sees it before it is whole. Raises
        UnknownSession, UnknownTurn or WriteFailed.
        """
        return await self._forks.make(session_id, turn_number)

    async def update_session_state(self, session_id: str, state: dict[str, Any]) -> None:
        """Keep the session's state, in place of the earlier one."""
        await self._access.write(lambda c: sessions.update_state(c, session_id, state, self._leases.epoch(session_id)))

    async def update_model(self, session_id: str, model_name: str) -> None:
        """Note which model answers from here on."""
        await self._access.write(
            lambda c: sessions.update_model(c, session_id, model_name, self._leases.epoch(session_id))
        )

    async def resume_session(self, session_id: str, limit: int = 200) -> list[Turn]:
        """The newest `limit` turns, ascending, once a draft that a crash left is made turns of.

        Takes no longer for a long session than for a short one. Raises UnknownSession.
        """

        def look(connection: sqlite3.Connection) -> tuple[bool, list[Turn]]:
            # In one hop: nearly always there is no draft.
            sessions.require(connection, session_id)
            is_left = not self.readonly and drafts.get_draft(connection, session_id) is not None
            return is_left, reading.turns_before(connection, session_id, None, limit)

        is_left, turns = await self._access.read(look)
        if is_left:
            await self.recover_draft(session_id)
            turns = await self.get_turns_before(session_id, None, limit)
        return turns

    # Turns

    async def append_turn(
        self,
        session_id: str,
        role: Role,
        content: str | None,
        *,
        tool_calls: list[dict[str, Any]] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        created_at: str | datetime | None = None,
        kind: TurnKind | None = None,
        status: TurnStatus = TurnStatus.COMPLETE,
        token_count: int = 0,
        part_json: str | None = None,
        message_meta: str | None = None,
        usage: dict[str, int] | None = None,
        cost_usd: float | None = None,
        append_key: str | None = None,
    ) -> int:
        """Store one turn; gives its number, once it is on the disk. See NewTurn for the columns.

        Without a kind, a tool's turn is a result, an assistant's with calls is a call, anything else is text. A moment
        without an offset is taken as UTC.
        Raises as `append_turns` does.
        """
        if kind is None:
            calls = TurnKind.TOOL_CALL if tool_calls else TurnKind.TEXT
            kind = {"tool": TurnKind.TOOL_RESULT, "assistant": calls}.get(role, TurnKind.TEXT)
        turn = NewTurn(
            role=role,
            content=content,
            kind=kind,
            status=status,
            tool_calls=tool_calls,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            token_count=token_count,
            part_json=part_json,
            message_meta=message_meta,
            usage=usage,
            cost_usd=cost_usd,
            append_key=append_key,
            created_at=None if created_at is None else clock.normalised(created_at),
        )
        stored = await self._append(session_id, (turn,))
        return stored.first_number

    async def append_turns(self, session_id: str, turns: Sequence[NewTurn]) -> list[Turn]:
        """Store the turns, all or none; gives them as stored, once they are on the disk.

        They belong to a new exchange if the first is a user's, else to the current one. A turn whose `append_key` the
        session has already is not stored again; the stored one is given. Raises UnknownSession, WriteFailed, or
        LeaseLost when this store had the session and another one took it over.
        """
        return (await self._append(session_id, tuple(turns))).turns

    # Drafts and manifests

    async def save_draft(self, draft: Draft) -> None:
        """Keep the answer in progress, in place of the session's earlier draft. Storing an assistant turn drops it."""
        await self._access.write(lambda c: drafts.save_draft(c, draft, self._leases.epoch(draft.session_id)))

    async def recover_draft(self, session_id: str) -> list[Turn]:
        """Make interrupted turns of a draft that a crash left; gives them. Nothing while another store has the
        session: it is still writing there."""
        if await self.get_draft(session_id) is None:
            return []

        def recover(connection: sqlite3.Connection) -> Appended:
            draft = drafts.get_draft(connection, session_id)
            if draft is None or self._leases.holder(session_id) is not None:
                return Appended([], None)
            epoch = self._leases.epoch(session_id)
            stored = self._appender.append(connection, session_id, drafts.interrupted(draft), epoch)
            drafts.drop_draft(connection, session_id)
            return stored

        return (await self._store(recover)).turns

    async def add_manifest(self, manifest: Manifest) -> None:
        """Keep what a request was made of."""
        await self._access.write(lambda c: manifests.add_manifest(c, manifest))

    async def set_manifest_reported(
        self, session_id: str, request: int, tokens: int, cache_read_tokens: int | None = None
    ) -> None:
        """Note the input tokens that the provider reported for a request, and how many of them it had cached."""
        await self._access.write(lambda c: manifests.set_reported(c, session_id, request, tokens, cache_read_tokens))

    # Leases

    async def acquire_lease(self, session_id: str, *, take_over: bool = False) -> Lease:
        """Become the session's one writer, until `release_lease`, `close` or the end of the process.

        Raises LeaseHeld (who, where, since when) if another store is, unless asked to take over: then whatever that
        one still appends is refused there with LeaseLost. Raises UnknownSession or WriteFailed.
        """

        def acquire(connection: sqlite3.Connection) -> Lease:
            # Nobody takes a session over from whoever purges it.
            sessions.require(connection, session_id)
            return self._leases.acquire(connection, session_id, take_over=take_over)

        return await self._access.write(acquire)

    async def is_lease_lost(self, session_id: str) -> bool:
        """Whether this store was the session's one writer and another one has taken it over since."""
        return await self._access.read(lambda c: self._leases.is_lost(c, session_id))

    async def release_lease(self, session_id: str) -> None:
        """Let others write the session."""
        await self._access.write(lambda _: self._leases.release(session_id))

    async def _append(self, session_id: str, turns: tuple[NewTurn, ...]) -> Appended:
        return await self._store(lambda c: self._appender.append(c, session_id, turns, self._leases.epoch(session_id)))

    async def _store(self, append: Callable[[sqlite3.Connection], Appended]) -> Appended:
        return await self._access.write(append, then=self._index)

    def _make_forks(self) -> Forks:
        return Forks(self._access, self._leases, lambda: self._finder.wake(0))

    def _index(self, stored: Appended) -> None:
        if stored.last_row is not None:
            self._finder.wake(stored.last_row)
