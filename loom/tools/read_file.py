"""The tool read_file: numbered lines of a text, streamed."""

import io
import threading
from typing import BinaryIO

from loom.text import storable
from loom.tools.file_kinds import SAMPLE, encoding_of, kind_of, size_in_words
from loom.tools.offloop import in_thread
from loom.tools.outcome import ToolFailure, ToolOutcome
from loom.tools.paths import Place, Workspace

MAX_LINE = 2_000
"""Characters of a line that are shown."""

MAX_OUTPUT = 256_000
"""Characters of one answer, however many lines were asked for."""

COUNTED = 8_000_000
"""Bytes of a file up to which all its lines are counted."""

_PIECE = 65_536


class ReadFile:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def read_file(self, path: str, offset: int = 1, limit: int = 2000) -> ToolOutcome:
        """Read a text file as numbered lines (number, tab, text).

        Args:
            path: File in the workspace.
            offset: First line, counted from 1.
            limit: Most lines.
        """
        if offset < 1 or limit < 1:
            raise ToolFailure("offset and limit count lines from 1.", "Give numbers of 1 or more.")
        stop = threading.Event()
        return await in_thread(lambda: self._read(self._workspace.place(path), offset, limit, stop), stop)

    def _read(self, place: Place, offset: int, limit: int, stop: threading.Event) -> ToolOutcome:
        with self._workspace.open(place) as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            sample = file.read(SAMPLE)
            file.seek(0)
            facts = {"path": storable(place.relative), "action": "read"}
            encoding = encoding_of(sample)
            if encoding is None:
                words = f"{place.shown} is {kind_of(sample)}, {size_in_words(size)}: no text to show."
                return ToolOutcome(words, facts)
            page = _Page(file, encoding, stop)
            page.read(offset, limit, count=size <= COUNTED)
        content = page.text(place, offset, size)
        return ToolOutcome(content, facts | {"lines": page.shown, "truncated": page.more})


class _Page:
    """Some lines of a text, never more than a piece of one of them in memory at once."""

    def __init__(self, file: BinaryIO, encoding: str, stop: threading.Event) -> None:
        # Errors become U+FFFD; only line feeds end lines, as for every other program that counts them.
        self._text = io.TextIOWrapper(file, encoding, errors="replace", newline="\n")
        self._stop = stop
        self._lines: list[str] = []
        self._carriage_returns = 0
        self._total = 0
        self._counted = False
        self.shown = 0
        self.more = False

    def read(self, offset: int, limit: int, *, count: bool) -> None:
        room = MAX_OUTPUT
        try:
            while (line := self._next()) is not None and not self._stop.is_set():
                if self._total < offset:
                    continue
                if self.shown < limit and room > 0:
                    self._lines.append(f"{self._total}\t{line}")
                    room -= len(self._lines[-1])
                    self.shown += 1
                    continue
                self.more = True
                if not count:
                    return
            self._counted = True
        finally:
            self._text.detach()

    def _next(self) -> str | None:
        """The next line, clipped; None at the end."""
        line = self._text.readline(_PIECE)
        if not line:
            return None
        self._total += 1
        length, last = len(line), line
        while not last.endswith("\n") and (last := self._text.readline(_PIECE)):
            length += len(last)
        kept = line.removesuffix("\n")
        if kept.endswith("\r"):
            self._carriage_returns += 1
            kept = kept[:-1]
        if length <= MAX_LINE + 2:
            return kept
        return f"{kept[:MAX_LINE]}… [{length - MAX_LINE:,} more characters in this line]"

    def text(self, place: Place, offset: int, size: int) -> str:
        if not self._total:
            return f"{place.shown} is empty."
        if not self.shown:
            lines = "1 line" if self._total == 1 else f"{self._total:,} lines"
            raise ToolFailure(f"{place.shown} has only {lines}.", "Give a smaller offset.")
        notes = []
        last = offset + self.shown - 1
        if offset > 1 or self.more:
            whole = f"of {self._total:,}" if self._counted else f"of a file of {size_in_words(size)}"
            go_on = f"; go on with offset={last + 1}" if self.more else ""
            notes.append(f"lines {offset:,}–{last:,} {whole}{go_on}")
        if self._carriage_returns * 2 > self._total:
            notes.append("lines end in CRLF")
        if any("\ufffd" in line for line in self._lines):
            notes.append("� stands for bytes that are not valid text")
        return "\n".join(self._lines) + (f"\n[{'; '.join(notes)}]" if notes else "")
