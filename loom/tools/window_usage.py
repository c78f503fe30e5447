"""The tool window_usage: the gauge's numbers, for the model."""

from collections.abc import Callable

from loom.tools.outcome import ToolOutcome


class WindowUsageTool:
    def __init__(self, reading: Callable[[], str]) -> None:
        self._reading = reading

    async def window_usage(self) -> ToolOutcome:
        """How full your window is, by segment: the numbers that the person's gauge shows."""
        return ToolOutcome(self._reading())
