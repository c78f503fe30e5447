"""A change of one file, from its preview to its facts: what write_file and edit_file have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loom.text import storable
from loom.tools.diffs import Diff, make_diff
from loom.tools.file_kinds import SAMPLE, encoding_of, kind_of, size_in_words
from loom.tools.offloop import in_thread
from loom.tools.outcome import Preview, ToolOutcome
from loom.tools.paths import Place, Workspace
from loom.tools.promises import Promises, digest_of
from loom.tools.replacing import read_whole, replace_file


@dataclass(frozen=True, slots=True)
class Change:
    """One file, before and after."""

    place: Place
    before: bytes | None
    after: bytes

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    @property
    def action(self) -> str:
        return "created" if self.before is None else "edited"

    def diff(self) -> Diff:
        """What changes, as text. Of a binary file that is replaced, its kind and size stand for its lines."""
        old: str | None
        if self.before is not None and encoding_of(self.before[:SAMPLE]) is None:
            old = f"({kind_of(self.before[:SAMPLE])}, {size_in_words(len(self.before))})\n"
        else:
            old = None if self.before is None else _text(self.before)
        return make_diff(old, _text(self.after), self.place.shown)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


class Changes:
    """Previews changes and makes them, exactly as previewed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._promises = Promises()

    async def preview(self, call: bytes, path: str, make: Callable[[Place, bytes | None], bytes]) -> Preview | None:
        """What a person is shown; None when the file has this content already. Changes nothing. Raises ToolFailure."""
        return await in_thread(lambda: self._preview(call, path, make))

    async def apply(
        self, call: bytes, path: str, make: Callable[[Place, bytes | None], bytes], *, follow: bool = False
    ) -> ToolOutcome:
        """Make the change; `follow` lets it build upon changes allowed since it was previewed. Raises ToolFailure, and
        then nothing was written."""
        return await in_thread(lambda: self._apply(call, path, make, follow=follow))

    def _plan(self, path: str, make: Callable[[Place, bytes | None], bytes]) -> Change:
        place = self.workspace.place(path)
        before = read_whole(self.workspace, place)
        return Change(place, before, make(place, before))

    def _preview(self, call: bytes, path: str, make: Callable[[Place, bytes | None], bytes]) -> Preview | None:
        change = self._plan(path, make)
        self._promises.shown(call, digest_of(change.before))
        if change.is_none:
            return None
        verb = "Create" if change.before is None else "Edit"
        git_own = any(part.casefold() == ".git" for part in change.place.parts)
        # What git runs (hooks, config) is not part of "files of this workspace", however often that was allowed.
        this_one = f"{change.place.relative}\0{digest_of(change.after)!r}"
        return Preview(
            title=f"{verb} {change.place.shown}",
            body=change.diff().text,
            kind="diff",
            scope="exactly this change" if git_own else "edits to files in this workspace",
            scope_key=f"edit:{self.workspace.root}\0{this_one if git_own else ''}",
            warning="; ".join(self._warnings(change, git_own=git_own)),
        )

    @staticmethod
    def _warnings(change: Change, *, git_own: bool) -> list[str]:
        warnings = []
        if git_own:
            warnings.append("changes git's own files, which can make git run programs")
        if change.before is not None:
            if encoding_of(change.before[:SAMPLE]) is None:
                warnings.append(f"replaces {kind_of(change.before[:SAMPLE])}")
            elif _mostly_crlf(change.before) and not _mostly_crlf(change.after) and b"\n" in change.after:
                warnings.append("changes the line ends from CRLF to LF")
        return warnings

    def _apply(
        self, call: bytes, path: str, make: Callable[[Place, bytes | None], bytes], *, follow: bool
    ) -> ToolOutcome:
        change = self._plan(path, make)
        place, before = change.place, digest_of(change.before)
        self._promises.check(call, place, before, follow=follow)
        facts: dict[str, Any] = {"path": storable(place.relative)}
        if change.is_none:
            return ToolOutcome(f"{place.shown} already has this content; nothing was written.", facts)

        def still_right() -> None:
            self._promises.unchanged(place, before, digest_of(read_whole(self.workspace, place)))

        replace_file(self.workspace, place, change.after, still_right)
        self._promises.written(place, before, digest_of(change.after))
        diff = change.diff()
        facts |= {"action": change.action, "added": diff.added, "removed": diff.removed, "diff": diff.kept}
        verb = "Created" if change.before is None else "Edited"
        lines = f"+{diff.added} −{diff.removed} lines" if change.before is not None else _lines(diff.added)
        return ToolOutcome(f"{verb} {place.shown} ({lines}).", facts)


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _mostly_crlf(content: bytes) -> bool:
    return content.count(b"\r\n") * 2 > content.count(b"\n")
