"""The tools read_memory, write_memory and update_memory: notes about the workspace that outlast the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from loom.text import storable
from loom.tools.diffs import make_diff
from loom.tools.memory_file import NAME, MemoryChange, MemoryFile, MemoryProblem
from loom.tools.offloop import in_thread
from loom.tools.outcome import ToolFailure, ToolOutcome

T = TypeVar("T")


class MemoryTools:
    """Run by themselves: the person sees the diff on the card, and `/memory` takes a change back."""

    def __init__(self, memory: Callable[[], MemoryFile]) -> None:
        """`memory` finds the file; it may ask git, and is called in a thread."""
        self._memory = memory

    async def read_memory(self) -> ToolOutcome:
        """Your notes about this workspace from all sessions, whole."""
        found = await self._do(lambda memory: memory.read())
        if not found.size:
            return ToolOutcome("Nothing is noted yet.", {"action": "read", "lines": 0})
        shown = len(found.text.encode("utf-8", "replace"))
        more = "" if found.size <= shown else f"\n[… of {found.size:,} bytes the first {shown:,} are shown]"
        return ToolOutcome(found.text + more, {"action": "read", "lines": found.text.count("\n")})

    async def write_memory(self, content: str) -> ToolOutcome:
        """Add to the notes, for later sessions: lasting facts and wishes, no secrets, nothing of today.

        Args:
            content: What to add, in Markdown.
        """
        if not content.strip():
            raise ToolFailure("There is nothing to note.")
        return _changed(await self._do(lambda memory: memory.append(storable(content))))

    async def update_memory(self, old_text: str, new_text: str) -> ToolOutcome:
        """Correct the notes.

        Args:
            old_text: Exactly as it stands there, once.
            new_text: In its place; empty takes it out.
        """
        return _changed(await self._do(lambda memory: memory.replace(storable(old_text), storable(new_text))))

    async def _do(self, work: Callable[[MemoryFile], T]) -> T:
        try:
            return await in_thread(lambda: work(self._memory()))
        except MemoryProblem as error:
            raise ToolFailure(error.what, error.remedy) from error


def _changed(change: MemoryChange) -> ToolOutcome:
    diff = make_diff(change.before, change.after, NAME)
    facts = {"action": "remembered", "added": diff.added, "removed": diff.removed, "diff": diff.kept}
    return ToolOutcome(f"{NAME} is changed (+{diff.added} −{diff.removed} lines).", facts)
