"""A session whose window filled, as it is in a real archive, at fixed times."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from loom.archive import ConversationStore, NewTurn
from loom.config import Settings
from loom.context.budget import Budget
from loom.context.fingerprints import Fingerprints
from loom.context.manifests import manifest_of
from loom.context.messages import turns_from_request, turns_from_response
from loom.context.tokens import TokenCounter
from loom.context.window import Window
from loom.cowork.past_requests import PastRequests

WHEN = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)
STAMP = "2026-03-04T10:00:00.000000Z"
INSTRUCTIONS = "You are a coworker. Read before you edit."
TOOLS = '{"name": "read_file", "description": "Read a file."}\n{"name": "search_text", "description": "Search."}'


class Past:
    """Writes a session request by request, the way a conversation does."""

    def __init__(self, store: ConversationStore, session: str) -> None:
        self.store = store
        self.session = session
        self.counter = TokenCounter()
        self.counter.load()
        self.window = Window(self.counter.count, Settings(tool_output_trim_chars=600), Budget(10_000, 1_000, 0.9, 0.6))
        self.window.set_floor(tools=900, instructions=300)
        self._fingerprints = Fingerprints()
        self._request = 0

    @classmethod
    async def begin(cls, folder: Path) -> Past:
        folder.mkdir(mode=0o700, exist_ok=True)
        store = await ConversationStore.open(folder / "archive.db")
        return cls(store, await store.create_session("/home/ada/src/shop", "anthropic:claude-sonnet-4-5", INSTRUCTIONS))

    def requests(self) -> PastRequests:
        return PastRequests(self.store, self.counter, self.session)

    async def exchange(self, wish: str, path: str, output: str, answer: str) -> None:
        """A question, a file that is read, an answer: two requests."""
        number = self._request
        self.window.set_state(f"<loom-state>\ncurrent_focus: {wish}\n</loom-state>")
        await self._add(turns_from_request(ModelRequest([UserPromptPart(wish, timestamp=WHEN)]), self.counter.count))
        await self._send()
        call = ToolCallPart("read_file", {"path": path}, f"c{number}")
        await self._add(turns_from_response(ModelResponse([call], timestamp=WHEN), self.counter.count))
        facts = {"action": "read", "path": path}
        result = ToolReturnPart("read_file", output, f"c{number}", metadata=facts, timestamp=WHEN)
        await self._add(turns_from_request(ModelRequest([result]), self.counter.count))
        await self._send()
        await self._add(turns_from_response(ModelResponse([TextPart(answer)], timestamp=WHEN), self.counter.count))

    async def _add(self, turns: list[NewTurn]) -> None:
        dated = [replace(turn, created_at=STAMP) for turn in turns]
        self.window.add(await self.store.append_turns(self.session, dated))

    async def _send(self) -> None:
        self._request += 1
        assembly = self.window.assemble()
        manifest = manifest_of(
            assembly,
            session_id=self.session,
            request=self._request,
            exchange=self._request // 2 + 1,
            model_name="anthropic:claude-sonnet-4-5",
            window=10_000,
            instructions=INSTRUCTIONS,
            tools=TOOLS,
            digest=self._fingerprints.digest(assembly.messages, INSTRUCTIONS, TOOLS),
            created_at=STAMP,
        )
        await self.store.add_manifest(manifest)
        cached = assembly.tokens * (self._request % 2 + 1) // 3
        await self.store.set_manifest_reported(self.session, self._request, assembly.tokens, cached)
        self.window.report(assembly.tokens)
        if (mark := assembly.receipt or assembly.shortening) is not None:
            await self._add([mark.turn(self.counter.count)])


async def filled_past(folder: Path) -> Past:
    """Nine exchanges in a small window: outputs are shortened, exchanges leave."""
    past = await Past.begin(folder)
    for n, name in enumerate(("auth", "cart", "price", "stock", "mail", "search", "tax", "order", "login"), 1):
        lines = "\n".join(
            f"{line}: def {name}_{line}(value): return value * {line}" for line in range(60 + 20 * (n % 4))
        )
        await past.exchange(
            f"Look into src/{name}.py, please.", f"src/{name}.py", lines, f"`{name}_7` is the one. " * 90
        )
    return past
