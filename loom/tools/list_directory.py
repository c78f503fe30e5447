"""The tool list_directory."""

import os
import stat

from loom.text import storable
from loom.tools.file_kinds import size_in_words
from loom.tools.offloop import in_thread
from loom.tools.outcome import ToolOutcome
from loom.tools.paths import Place, Workspace, shown_name

MAX_ENTRIES = 1_000


class ListDirectory:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def list_directory(self, path: str = ".") -> ToolOutcome:
        """List a folder: folders first (with /), then files with sizes.

        Args:
            path: Folder in the workspace.
        """
        return await in_thread(lambda: self._list(self._workspace.place(path)))

    def _list(self, place: Place) -> ToolOutcome:
        rows: list[tuple[bool, str, str]] = []
        with self._workspace.listing(place) as entries:
            for entry in entries:
                if self._workspace.owns(place.child(entry.name)):
                    rows.append(self._row(place, entry))
        rows.sort()
        lines = [line for _, _, line in rows[:MAX_ENTRIES]]
        if len(rows) > MAX_ENTRIES:
            lines.append(f"[{MAX_ENTRIES:,} of {len(rows):,} entries; find_files narrows them]")
        content = "\n".join(lines) or f"{place.shown} is an empty folder."
        facts = {"path": storable(place.relative), "action": "listed", "lines": len(rows)}
        return ToolOutcome(content, facts | {"truncated": len(rows) > MAX_ENTRIES})

    def _row(self, place: Place, entry: os.DirEntry[str]) -> tuple[bool, str, str]:
        """(is not a folder, name, line)."""
        name = shown_name(entry.name)
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return True, entry.name, f"{name}  (vanished)"
        if stat.S_ISDIR(status.st_mode):
            return False, entry.name, f"{name}/"
        if stat.S_ISLNK(status.st_mode):
            return True, entry.name, f"{name} -> {self._target(place.child(entry.name))}"
        if not stat.S_ISREG(status.st_mode):
            return True, entry.name, f"{name}  (not a regular file)"
        return True, entry.name, f"{name}  {size_in_words(status.st_size)}"

    def _target(self, place: Place) -> str:
        path = self._workspace.path(place)
        try:
            target = shown_name(str(path.readlink()))
        except OSError:
            return "?"
        inside = os.path.realpath(path).startswith(f"{self._workspace.root}{os.sep}")
        return target if inside else f"{target} (outside the workspace)"
