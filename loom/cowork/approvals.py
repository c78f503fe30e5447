"""Questions to the person: what is waiting for a yes, and the answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from loom.cowork.events import ApprovalAnswered, ApprovalAsked, Decision, Listener
from loom.tools.outcome import Preview


@dataclass(slots=True)
class Approvals:
    """Asks through the listener and waits for `answer`. There is no default and no time-out."""

    listener: Listener
    _waiting: dict[str, tuple[ApprovalAsked, asyncio.Future[Decision]]] = field(default_factory=dict)

    @property
    def pending(self) -> tuple[ApprovalAsked, ...]:
        """What is waiting, oldest first."""
        return tuple(asked for asked, _ in self._waiting.values())

    async def ask(self, call_id: str, tool_name: str, preview: Preview) -> Decision:
        """The person's decision. Cancelling the waiting task withdraws the question."""
        asked = ApprovalAsked(call_id, tool_name, preview)
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = (asked, future)
        self.listener(asked)
        decision: Decision | None = None
        try:
            decision = await future
            return decision
        finally:
            del self._waiting[call_id]
            self.listener(ApprovalAnswered(call_id, decision))

    def answer(self, call_id: str, decision: Decision) -> bool:
        """Answer a waiting question; False if nothing waits under that id (it was withdrawn)."""
        entry = self._waiting.get(call_id)
        if entry is None or entry[1].done():
            return False
        entry[1].set_result(decision)
        return True
