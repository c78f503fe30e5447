"""The requests of a session as they were sent, for `/context` and `loom context`: the archive's side of time travel."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loom.archive import ConversationStore, Manifest, RequestLine, Turn
from loom.context.tokens import TokenCounter
from loom.errors import LoomError

if TYPE_CHECKING:
    # Half a second, and only needed once a request is looked at.
    from loom.context.seen import SeenRequest


_PLACE = re.compile(r"([Tt]?)([1-9][0-9]{0,9})")


class NoSuchRequest(LoomError):
    """A request was asked for that the session never sent."""


class PastRequests:
    """Reads requests of one session. Nothing here writes; what takes long runs in threads."""

    def __init__(self, store: ConversationStore, counter: TokenCounter, session_id: str) -> None:
        self._store = store
        self._counter = counter.twin()
        self._session_id = session_id

    async def lines(self) -> list[RequestLine]:
        """All requests, oldest first, without their words."""
        return await self._store.list_requests(self._session_id)

    async def seen(self, request: int) -> SeenRequest:
        """What the model saw in this request. Raises NoSuchRequest or an ArchiveError."""
        manifest = await self._store.get_manifest(self._session_id, request)
        if manifest is None:
            last = await self._store.get_request_count(self._session_id)
            if not last:
                raise NoSuchRequest("No request has been sent in this session yet.")
            raise NoSuchRequest(f"There is no request {request} in this session.", f"They go from 1 to {last:,}.")
        number = manifest.recipe.get("summary")
        summary = await self._store.get_turn(self._session_id, number) if isinstance(number, int) and number else None
        turns = await self._turns(manifest)
        return await asyncio.to_thread(self._replay, manifest, turns, summary)

    async def _turns(self, manifest: Manifest) -> list[Turn]:
        """The whole exchanges that the request had anything of, up to its last turn."""
        last = manifest.recipe.get("last_turn") or max((end for _, end in manifest.turns), default=0)
        rows: dict[int, Turn] = {}
        for first, end in manifest.turns:
            found = await self._store.get_range(self._session_id, first, end)
            rows |= {turn.turn_number: turn for turn in found}
            for exchange in {turn.exchange for turn in (*found[:1], *found[-1:])}:
                # A range may begin or end inside an exchange, whose other turns say how its parts look.
                whole = await self._store.get_exchanges(self._session_id, exchange, exchange)
                rows |= {turn.turn_number: turn for turn in whole if turn.turn_number <= last}
        return [rows[number] for number in sorted(rows)]

    def _replay(self, manifest: Manifest, turns: Sequence[Turn], summary: Turn | None) -> SeenRequest:
        from loom.context.replay import replay  # imports pydantic_ai: half a second

        self._counter.load()
        return replay(manifest, turns, summary, self._counter.count)


def find_request(wanted: str, lines: Sequence[RequestLine]) -> int:
    """The request that a person names: its number (`12`), or a turn (`T57`, see `request_at_turn`).

    Raises NoSuchRequest.
    """
    found = _PLACE.fullmatch(wanted.strip())
    if found is None:
        raise NoSuchRequest(f"{wanted.strip()[:40]!r} is no request.", "Write its number (12), or a turn (T57).")
    number = int(found[2])
    return request_at_turn(lines, number) if found[1] else number


def request_at_turn(lines: Sequence[RequestLine], turn: int) -> int:
    """The request that the model was answering when this turn was the newest, or the next one after it.

    Raises NoSuchRequest when no request was sent at or after that turn.
    """
    for line in lines:
        if line.last_turn >= turn:
            return line.request
    last = f"the last one ended at T{lines[-1].last_turn}" if lines else "none has been sent yet"
    raise NoSuchRequest(f"No request was sent with T{turn} in it: {last}.")
