"""What is being written, kept on the disk meanwhile: neither a crash nor leaving costs anybody their words."""

from __future__ import annotations

import asyncio

from loom.archive.unsent import Unsent, place_of

KEEP_SECONDS = 0.7
"""After a change, so long until it goes to the disk."""


class DraftKeeper:
    """The unsent words of one conversation. Several may keep at once: the words of the last call stay."""

    def __init__(self, unsent: Unsent, workspace: str) -> None:
        self._unsent = unsent
        self._workspace = workspace
        self._lock = asyncio.Lock()
        self._place = ""
        self._text = ""

    async def restore(self, session_id: str | None) -> str:
        """What was being written when this conversation (None: a new one in the workspace) was left. Raises OSError."""
        async with self._lock:
            self._place = place_of(session_id, self._workspace)
            self._text = await asyncio.to_thread(self._unsent.kept, self._place)
            return self._text

    async def keep(self, session_id: str | None, text: str) -> None:
        """Keep this. With the first message a new conversation gets a place of its own. Raises OSError."""
        async with self._lock:
            place = place_of(session_id, self._workspace)
            if place != self._place:
                await asyncio.to_thread(self._unsent.keep, self._place, "")
                self._place, self._text = place, ""
            if text != self._text:
                await asyncio.to_thread(self._unsent.keep, place, text)
                self._text = text
