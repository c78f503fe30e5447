"""The requests of a session: a manifest of each, numbered, kept before it is sent."""

from __future__ import annotations

from collections.abc import Callable

from loom.archive import ArchiveError, ConversationStore, Manifest
from loom.context.fingerprints import Fingerprints
from loom.cowork.events import Listener, SaveFailed
from loom.cowork.recorder import NotSaved


class RequestLog:
    """Numbers the requests of one session and keeps what they were made of."""

    def __init__(self, store: ConversationStore, listener: Listener) -> None:
        self._store = store
        self._listener = listener
        self._session_id: str | None = None
        self._last = 0
        self.fingerprints = Fingerprints()
        self.cache_read_share: float | None = None
        """Cached share of the last request's input, 0 to 1; None when the provider did not say."""

    async def open(self, session_id: str) -> Manifest | None:
        """Go on numbering behind the session's last request; that request's manifest, None before the first."""
        if session_id != self._session_id:
            self._session_id = session_id
            self._last = await self._store.get_request_count(session_id)
        return await self._store.get_manifest(session_id, self._last) if self._last else None

    async def add(self, make: Callable[[str, int], Manifest]) -> None:
        """Keep the manifest of the next request. Raises NotSaved: what is not kept is not sent."""
        if self._session_id is None:
            raise RuntimeError("a request cannot be kept before its session")
        try:
            await self._store.add_manifest(make(self._session_id, self._last + 1))
        except ArchiveError as error:
            self._listener(SaveFailed(error.what, error.remedy))
            raise NotSaved(error.what, error.remedy) from error
        self._last += 1

    async def reported(self, input_tokens: int, cache_read_tokens: int | None) -> None:
        """Note what the provider counted for the last request (0 is no word from it), and what of that came from its
        cache; None where there is no cache to come from."""
        if self._session_id is None or not input_tokens:
            return
        self.cache_read_share = None if cache_read_tokens is None else min(1.0, cache_read_tokens / input_tokens)
        try:
            await self._store.set_manifest_reported(self._session_id, self._last, input_tokens, cache_read_tokens)
        except ArchiveError as error:
            self._listener(SaveFailed(error.what, error.remedy))
            raise NotSaved(error.what, error.remedy) from error
