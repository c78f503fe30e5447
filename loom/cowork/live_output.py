"""What a command writes while it runs: shown as it comes, kept whole for its result, and in brief for the draft."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from loom.archive import NewTurn
from loom.archive.records import TurnKind
from loom.cowork.events import CommandOutput, Listener
from loom.text import storable, without_overwritten
from loom.tools.capture import Capture

SHOW_SECONDS = 0.1
"""How often what has come is shown."""
SHOWN_CHARS = 8_000
_LOOKED_AT_BYTES = 64_000
"""So much of the end is looked at for that: a progress bar may have been written over a thousand times."""
DRAFT_BYTES = 2_000_000
"""So much of the output goes to the disk, in case that loom is killed: its beginning and its end."""

STOPPED = "[stopped: it may have taken effect]"
CUT_OFF = "[cut off: loom was ended while it ran, and may have ended it before it was done]"


class LiveOutput(Capture):
    """The output of one command."""

    def __init__(
        self, limit: int, call_id: str, tool_name: str, key: str, listener: Listener, more: Callable[[], None]
    ) -> None:
        """`key` is the append key that its result will have; `more` is called when there is more of it for a draft."""
        super().__init__(limit)
        self.key = key
        self._call_id = call_id
        self._tool_name = tool_name
        self._listener = listener
        self._more = more
        self._brief = Capture(min(limit, DRAFT_BYTES))
        self._show: asyncio.TimerHandle | None = None

    def take(self, data: bytes) -> bool:
        self._brief.take(data)
        super().take(data)
        self._more()
        if self._show is None:
            self._show = asyncio.get_running_loop().call_later(SHOW_SECONDS, self.show)
        return True

    def show(self) -> None:
        """Show now what is not shown yet."""
        if self._show is not None:
            self._show.cancel()
            self._show = None
            end = without_overwritten(self.end(_LOOKED_AT_BYTES))
            self._listener(CommandOutput(self._call_id, end[-SHOWN_CHARS:]))

    def with_note(self, note: str) -> str:
        """All that is kept of it, and the note below it."""
        return _joined(self.text(), note)

    async def cut_off(self, count: Callable[[str], int]) -> NewTurn:
        """The result that a crash would leave now, for the draft; `count` gives the tokens of a text."""
        text = storable(_joined(self._brief.text(), CUT_OFF))
        return NewTurn(
            role="tool",
            kind=TurnKind.TOOL_RESULT,
            content=text,
            tool_call_id=self._call_id,
            tool_name=self._tool_name,
            # Up to 0.1 s for all of it: no key press waits for that.
            token_count=await asyncio.to_thread(count, text),
            append_key=self.key,
        )


def _joined(output: str, note: str) -> str:
    return "\n".join(part for part in (output.rstrip("\n"), note) if part)
