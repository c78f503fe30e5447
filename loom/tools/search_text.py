"""The tool search_text."""

import re
import stat

from loom.text import storable
from loom.tools.glob import Glob
from loom.tools.outcome import ToolFailure, ToolOutcome
from loom.tools.own_search import search_with_python
from loom.tools.paths import Workspace
from loom.tools.ripgrep import find_ripgrep, search_with_ripgrep
from loom.tools.searching import MAX_MATCHES, PATIENCE, BadPattern, Matches, Search, grouped


class SearchText:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def search_text(
        self, pattern: str, path: str = ".", glob: str = "", ignore_case: bool = False, literal: bool = False
    ) -> ToolOutcome:
        """Search the lines of text files; what .gitignore leaves out is not searched.

        Args:
            pattern: Regular expression.
            path: Folder or file to search.
            glob: Only files like this, such as *.py.
            ignore_case: Upper and lower case are the same.
            literal: The pattern is plain text.
        """
        if not pattern or "\0" in pattern or "\n" in pattern:
            raise ToolFailure("The pattern is empty, or holds a line end or NUL.", "Search for one line's text.")
        search = self._checked(Search(storable(pattern), path, glob, ignore_case, literal))
        try:
            matches = await self._search(search)
        except BadPattern as error:
            raise ToolFailure(
                f"The pattern is no regular expression: {error}", "Correct it, or set literal."
            ) from error
        content = _told(search, matches)
        facts = {"path": storable(search.start), "action": "searched", "matches": len(matches.found)}
        return ToolOutcome(content, facts | {"truncated": matches.more or matches.late})

    def _checked(self, search: Search) -> Search:
        place = self._workspace.place(search.start)
        status = self._workspace.stat(place)
        if status is None:
            raise ToolFailure(f"There is no {place.shown} in the workspace.", "Use find_files or list_directory.")
        # Opening anything else (a named pipe) may wait for ever.
        if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            raise self._workspace.not_a_file(place, status)
        if stat.S_ISREG(status.st_mode):
            with self._workspace.open(place):
                pass
        if search.glob:
            Glob(search.glob)
        return Search(search.pattern, place.relative, search.glob, search.ignore_case, search.literal)

    async def _search(self, search: Search) -> Matches:
        program = find_ripgrep()
        if program is None:
            return await search_with_python(self._workspace, search)
        try:
            return await search_with_ripgrep(program, self._workspace, search)
        except BadPattern:
            # ripgrep has no look-around and no back-references; Python has.
            if not re.search(r"\(\?<?[=!]|\\[1-9]|\(\?P=", search.pattern):
                raise
            return await search_with_python(self._workspace, search)


def _told(search: Search, matches: Matches) -> str:
    notes = []
    if matches.more:
        notes.append(f"[the first {MAX_MATCHES} matching lines; narrow the pattern, path or glob]")
    if matches.late:
        notes.append(f"[stopped after {PATIENCE:.0f} s: not everything was searched]")
    if not matches.found:
        where = "" if search.start == "." else f" in {search.start}"
        return "\n".join([f"Nothing matches {storable(search.pattern)}{where}.", *notes])
    return "\n".join([grouped(matches.found), *notes])
