"""The tool write_file."""

from collections.abc import Callable, Mapping
from typing import Any

from loom.text import storable
from loom.tools.change import Changes
from loom.tools.outcome import Preview, ToolOutcome
from loom.tools.paths import Place
from loom.tools.promises import call_of


class WriteFile:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    async def write_file(self, path: str, content: str) -> ToolOutcome:
        """Create a file or replace its whole content; missing folders are made. Prefer edit_file for changes.

        Args:
            path: File in the workspace.
            content: The whole new content.
        """
        return await self._changes.apply(call_of("write", path, content), path, _as_given(content))

    async def preview(self, arguments: Mapping[str, Any]) -> Preview | None:
        """The diff; None when the file has this content already."""
        path, content = arguments["path"], arguments["content"]
        return await self._changes.preview(call_of("write", path, content), path, _as_given(content))


def _as_given(content: str) -> Callable[[Place, bytes | None], bytes]:
    return lambda place, before: storable(content).encode()
