"""The tool find_files."""

import stat
import threading
import time

from loom.text import storable
from loom.tools.glob import Glob
from loom.tools.offloop import in_thread
from loom.tools.outcome import ToolFailure, ToolOutcome
from loom.tools.paths import Place, Workspace
from loom.tools.walk import Found, walk

MAX_FILES = 200
"""Paths in one answer."""

PATIENCE = 30.0
"""Seconds after which what was found so far is the answer."""


class FindFiles:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def find_files(self, pattern: str, path: str = ".") -> ToolOutcome:
        """Find files by name, newest first; what .gitignore leaves out is not looked at.

        Args:
            pattern: Glob such as *.py (any depth) or src/**/*.{ts,tsx} (from path).
            path: Folder to look in.
        """
        stop = threading.Event()
        glob = Glob(pattern)
        return await in_thread(lambda: self._find(glob, pattern, self._workspace.place(path), stop), stop)

    def _find(self, glob: Glob, pattern: str, start: Place, stop: threading.Event) -> ToolOutcome:
        status = self._workspace.stat(start)
        if status is None or not stat.S_ISDIR(status.st_mode):
            raise ToolFailure(f"{start.shown} is not a folder of the workspace.", "Give a folder as path.")
        deadline = time.monotonic() + PATIENCE
        late = False

        def stopped() -> bool:
            nonlocal late
            late = time.monotonic() > deadline
            return late or stop.is_set()

        depth = len(start.parts)
        found = [one for one in walk(self._workspace, start, stopped) if glob.matches(one.place.parts[depth:])]
        found.sort(key=_newest_first)
        lines = [one.place.shown for one in found[:MAX_FILES]]
        if len(found) > MAX_FILES:
            lines.append(f"[the newest {MAX_FILES:,} of {len(found):,} files; narrow the pattern or path]")
        if late:
            lines.append(f"[stopped after {PATIENCE:.0f} s: not every folder was looked at]")
        where = f" in {start.shown}" if start.parts else ""
        content = "\n".join(lines) or f"No file matches {storable(pattern)}{where}."
        facts = {"path": storable(start.relative), "action": "searched", "matches": len(found)}
        return ToolOutcome(content, facts | {"truncated": late or len(found) > MAX_FILES})


def _newest_first(found: Found) -> tuple[int, tuple[str, ...]]:
    return -found.modified_ns, found.place.parts
