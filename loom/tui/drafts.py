"""What is being written, kept on the disk meanwhile: neither a crash nor leaving costs anybody their words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from loom.archive.records import Turn
from loom.archive.rewound import is_rewound, rewound_after
from loom.archive.unsent import Unsent, place_of
from loom.cowork.typed import packed, read_placed, typed_in, unpacked

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
            self._text = packed(*texts)
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


class Drafts:
    """Keeps the words of whichever conversation is open. A disk that takes nothing is said once."""

    def __init__(self, unsent: Unsent, workspace: str, warn: Callable[[str], None]) -> None:
        self._unsent = unsent
        self._workspace = workspace
        self._warn = warn
        self._keeper: DraftKeeper | None = None
        self._due: asyncio.TimerHandle | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._failed = False
        self._ended = False

    async def restore(self, session_id: str | None, turns: Sequence[Turn]) -> list[str]:
        """What was being written, and what waited, when this conversation was left, oldest first; from now on its words
        are kept. `turns` are its newest ones."""
        keeper = DraftKeeper(self._unsent, session_id, self._workspace)
        try:
            texts = await keeper.restore()
        except OSError as error:
            self._warn(f"What was being written here cannot be read: {error.strerror or error}.")
            texts = []
        # Not before: what is kept is to have what was restored in it.
        self._keeper = keeper
        # loom was killed between storing the message and forgetting that it was being written.
        said = [typed.spelled for typed in map(typed_in, _not_rewound(turns)) if typed is not None]
        return [piece for text in texts if said[-1:] != [read_placed(text)[0].rstrip()] for piece in unpacked(text)]

    async def keep(self, session_id: str | None, *texts: str) -> None:
        """Keep these texts as what is being written in the open conversation."""
        if self._keeper is None:
            return
        try:
            await self._keeper.keep(session_id, packed(*texts))
        except OSError as error:
            if not self._failed:
                self._failed = True
                self._warn(f"What you write cannot be kept on the disk until it is sent: {error.strerror or error}.")

    async def hand_on(self, session_id: str | None, text: str) -> None:
        """Leave this text to be found when the session is opened; None is the next new one here. Raises OSError."""
        words = self._unsent.at(place_of(session_id, self._workspace))
        await asyncio.to_thread(words.keep, text)
        await asyncio.to_thread(words.release)

    def keep_soon(self, keep: Callable[[], Awaitable[None]]) -> None:
        """Call `keep` KEEP_SECONDS after the first of several changes."""
        if self._due is None and not self._ended:
            self._due = asyncio.get_running_loop().call_later(KEEP_SECONDS, self._start, keep)

    def _start(self, keep: Callable[[], Awaitable[None]]) -> None:
        self._due = None
        # No worker: leaving must not cut it short.
        self._keeping = asyncio.ensure_future(keep())

    async def release(self) -> None:
        """The conversation is left; its words stay for whoever opens it next."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            await keeper.release()

    def end(self) -> None:
        """Nothing more is kept by itself."""
        self._ended = True
        if self._due is not None:
            self._due.cancel()


def _not_rewound(turns: Sequence[Turn]) -> list[Turn]:
    """The turns, ascending, that were not rewound past: a message that was given back is being written again."""
    marks = (rewound_after(turn) for turn in reversed(turns))
    rewound = next((ranges for ranges in marks if ranges is not None), ())
    return [turn for turn in turns if not is_rewound(turn.turn_number, rewound)]
