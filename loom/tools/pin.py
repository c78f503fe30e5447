"""The tool pin: a turn, or some words, that stay in front of the model whatever leaves the window."""

from typing import Protocol

from loom.tools.outcome import ToolFailure, ToolOutcome


class PinSource(Protocol):
    """The pins of a session, as far as the model may change them. Every method raises ToolFailure in words."""

    async def pin_turn(self, turn: int) -> int:
        """Pin a turn; its number."""

    async def pin_text(self, text: str) -> int:
        """Pin words; the number of the turn that holds them from now on."""

    async def unpin(self, turn: int) -> None:
        """Take away a pin of the model's own."""


class PinTool:
    def __init__(self, source: PinSource) -> None:
        self._source = source

    async def pin(self, turn: int = 0, text: str = "", remove: bool = False) -> ToolOutcome:
        """Keep a turn, or a few words, in front of you whatever leaves the window. The person sees it.

        Args:
            turn: The turn: 57 for T57.
            text: Words, in place of a turn.
            remove: Unpin that turn; your own pins only.
        """
        if bool(turn) == bool(text.strip()) or (remove and not turn):
            raise ToolFailure("pin takes either turn or text; remove takes turn.")
        if remove:
            await self._source.unpin(turn)
            return ToolOutcome(f"T{turn} is no longer pinned.", {"action": "unpinned"})
        number = await (self._source.pin_turn(turn) if turn else self._source.pin_text(text))
        return ToolOutcome(f"Pinned as T{number}.", {"action": "pinned"})
