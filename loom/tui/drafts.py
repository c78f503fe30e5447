"""What is being written, kept on the disk meanwhile: neither a crash nor leaving costs anybody their words."""

from __future__ import annotations

import asyncio

from loom.archive.unsent import Unsent, place_of

KEEP_SECONDS = 0.7
"""After a change, so long until it goes to the disk."""


class DraftKeeper:
    """The unsent words of one conversation. Several may keep at once: the words of the last call stay."""

    def __init__(self, unsent: Unsent, session_id: str | None, workspace: str) -> None:
        """No `session_id`: a new conversation in the workspace."""
        self._unsent = unsent
        self._workspace = workspace
        self._lock = asyncio.Lock()
        self._words = unsent.at(place_of(session_id, workspace))
        self._text = ""

    async def restore(self) -> list[str]:
        """What was being written when this conversation was left, oldest first: more than one when several looms had
        it open. What another one has open now is its own. Raises OSError."""
        async with self._lock:
            texts = await asyncio.to_thread(self._words.take_up)
            self._text = joined(*texts)
            return texts

    async def keep(self, session_id: str | None, text: str) -> None:
        """Keep this. With the first message a new conversation gets a place of its own. Raises OSError."""
        async with self._lock:
            place = place_of(session_id, self._workspace)
            if place != self._words.place:
                # First in the new place, then away from the old one: an end in between costs nothing.
                words = self._unsent.at(place)
                await asyncio.to_thread(words.keep, text)
                earlier, self._words, self._text = self._words, words, text
                await asyncio.to_thread(earlier.keep, "")
            elif text != self._text:
                await asyncio.to_thread(self._words.keep, text)
                self._text = text

    async def release(self) -> None:
        """Leave what is kept to whoever opens the conversation next."""
        async with self._lock:
            await asyncio.to_thread(self._words.release)


def joined(*texts: str) -> str:
    """Several pieces as one text to go on with; blank ones are left out."""
    return "\n\n".join(text for text in texts if text.strip())
