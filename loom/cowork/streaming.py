"""The answer while it streams: what a front end draws of it and what a draft keeps of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic_ai.messages import (
    AgentStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)

from loom.archive import NewTurn
from loom.archive.records import TurnKind, TurnStatus
from loom.cowork.events import Event, TextDelta, ThinkingDelta
from loom.text import storable


@dataclass(slots=True)
class _Part:
    kind: TurnKind
    chunks: list[str]


@dataclass(slots=True)
class StreamedAnswer:
    """One response as far as it has arrived. Empty again once the response is stored."""

    _parts: dict[int, _Part] = field(default_factory=dict)

    def take(self, event: AgentStreamEvent) -> Event | None:
        """Keep what the event adds; the event to draw, if it is words."""
        match event:
            case PartStartEvent(index=index, part=TextPart(content=text)):
                return self._add(index, TurnKind.TEXT, text)
            case PartStartEvent(index=index, part=ThinkingPart(content=text)):
                return self._add(index, TurnKind.THINKING, text)
            case PartDeltaEvent(index=index, delta=TextPartDelta(content_delta=text)):
                return self._add(index, TurnKind.TEXT, text)
            case PartDeltaEvent(index=index, delta=ThinkingPartDelta(content_delta=str(text))):
                return self._add(index, TurnKind.THINKING, text)
        return None

    def _add(self, index: int, kind: TurnKind, text: str) -> Event | None:
        part = self._parts.setdefault(index, _Part(kind, []))
        if not text:
            return None
        part.chunks.append(text)
        return TextDelta(text) if kind is TurnKind.TEXT else ThinkingDelta(text)

    def clear(self) -> None:
        self._parts.clear()

    def turns(self) -> list[NewTurn]:
        """The words so far, as the interrupted turns that a crash would leave."""
        return [
            NewTurn(
                role="assistant",
                content=storable("".join(part.chunks)),
                kind=part.kind,
                status=TurnStatus.INTERRUPTED,
            )
            for _, part in sorted(self._parts.items())
            if part.chunks
        ]
