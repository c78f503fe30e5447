"""A talk that is recalled from: a session in a real archive, and the tool over it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from loom.archive import ConversationStore
from loom.archive.records import TurnKind
from loom.config import Settings
from loom.cowork.recall_source import ArchiveRecall
from loom.tools.toolbox import build_toolbox


def tokens(text: str) -> int:
    """A stand-in for the counter: words and signs, long ones cut as a tokenizer would."""
    return sum(-(-len(piece) // 6) for piece in re.findall(r"\w+|\s+|[^\w\s]", text))


class Talk:
    """A session in a real archive, and the tool over it."""

    def __init__(self, store: ConversationStore, workspace: Path) -> None:
        self.store = store
        self.workspace = workspace
        self.session = ""
        self._calls = 0

    async def begin(self) -> str:
        self.session = await self.store.create_session(self.workspace, "offline", "")
        return self.session

    async def user(self, text: str, when: str = "2026-01-15T14:30:00.000000Z") -> int:
        return await self.store.append_turn(self.session, "user", text, created_at=when)

    async def assistant(self, text: str) -> int:
        return await self.store.append_turn(self.session, "assistant", text, created_at="2026-01-15T14:31:00.000000Z")

    async def tool(self, name: str, output: str, **arguments: Any) -> int:
        """The call and its result; gives the result's number."""
        self._calls += 1
        call = f"call-{self._calls}"
        await self.store.append_turn(
            self.session,
            "assistant",
            None,
            kind=TurnKind.TOOL_CALL,
            tool_calls=[{"id": call, "name": name, "arguments": arguments}],
        )
        return await self.store.append_turn(
            self.session, "tool", output, kind=TurnKind.TOOL_RESULT, tool_call_id=call, tool_name=name
        )

    async def recall(self, action: str, *, settings: Settings | None = None, **arguments: Any) -> str:
        settings = settings or Settings()
        session = await self.store.get_session(self.session) if self.session else None
        if session is not None:
            # The one that asks comes behind all that was said.
            session = replace(session, exchange_count=session.exchange_count + 1)
        rewound = await self.store.get_rewound(self.session)
        source = ArchiveRecall(
            self.store,
            str(self.workspace),
            lambda: session,
            lambda: "focus: auth\n",
            lambda: rewound,
            lambda turn: True,
        )
        tools = build_toolbox(self.workspace, settings, source, tokens)
        content = (await tools["conversation_recall"].function(action, **arguments)).content
        assert tokens(content) <= settings.recall_tokens
        return content
