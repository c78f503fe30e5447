"""What goes along with a message: files that the person names in it, as `@src/auth.py` or `@"with a space.txt"`, and
turns of the archive.

It is attached behind the message as data, fenced, under its path, so that neither the model nor the session state takes
it for the person's own words. What is no file of the workspace stays what it is: a word with an @.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence

from loom.attached import HEAD, blocks_of, split_attached, with_attached
from loom.text import storable
from loom.tools.file_kinds import encoding_of, kind_of, size_in_words
from loom.tools.outcome import ToolFailure
from loom.tools.paths import Place, Workspace
from loom.tools.walk import walk

MAX_FILES = 10
"""Files that go along with one message; the others are named as left out."""
MAX_BYTES = 64_000
MAX_LINES = 1_500
"""Of one file; of a longer one the beginning goes along, and is marked as no more than that."""
MOST_PATHS = 50_000
"""Files of the workspace that are offered for completion."""
PATIENCE = 10.0
"""Seconds after which the paths found so far are what is offered."""

_MENTION = re.compile(r"(?<!\S)@(?:\"([^\"\n]+)\"|([^\s\"@]\S*))")
_AFTER = ".,;:!?)]}'"
"""What may stand right behind a path and belongs to the sentence."""


class Mentions:
    """The files of one workspace, as messages name them. Every method blocks."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def paths(self, stop: threading.Event) -> list[str]:
        """The paths that may be named, without what is ignored, in the order of names."""
        until = time.monotonic() + PATIENCE
        found: list[str] = []
        for one in walk(self._workspace, Place(()), lambda: stop.is_set() or time.monotonic() > until):
            path = one.place.relative
            if "\n" not in path and '"' not in path and path == storable(path):
                found.append(path)
            if len(found) >= MOST_PATHS:
                break
        return found

    def with_files(self, message: str) -> str:
        """The message, and behind it the text of each file that it names, once."""
        message, attached = split_attached(message)
        places = list(dict.fromkeys(self._named(message)))
        blocks = [self._block(place) for place in places[:MAX_FILES]]
        if left := places[MAX_FILES:]:
            names = ", ".join(place.shown for place in left)
            blocks.append(f"{HEAD}not {names}: at most {MAX_FILES} files go along with a message]")
        blocks = [attached, *blocks] if attached else blocks
        return with_attached(message, "\n\n".join(blocks)) if blocks else message

    def _named(self, message: str) -> Iterator[Place]:
        for quoted, plain in _MENTION.findall(message):
            for path in dict.fromkeys((quoted or plain, (quoted or plain).rstrip(_AFTER))):
                if (place := self._file(path)) is not None:
                    yield place
                    break

    def _file(self, path: str) -> Place | None:
        try:
            place = self._workspace.place(path)
            with self._workspace.open(place):
                return place
        except ToolFailure:  # nothing there, a folder, outside, or not to be read: only a word then
            return None

    def _block(self, place: Place) -> str:
        try:
            with self._workspace.open(place) as file:
                data = file.read(MAX_BYTES + 1)
                size = file.seek(0, 2)
        except ToolFailure as error:  # gone since it was found
            return f"{HEAD}not {place.shown}: {error.what}]"
        encoding = encoding_of(data)
        if encoding is None:
            return f"{HEAD}not {place.shown}: it is {kind_of(data)}]"
        return _fenced(f"{place.shown}, {size_in_words(size)}", data, encoding, "read_file")


def attached_turn(name: str, about: str, text: str) -> str:
    """What goes behind a message for a turn of the archive; `name` is `k3f9 T57`, `about` one line."""
    return _fenced(f"turn {name}, {about}", storable(text).encode(), "utf-8", "conversation_recall")


def _fenced(about: str, data: bytes, encoding: str, rest: str) -> str:
    """The block of a text: as much of it as goes along, below what it is. `rest` is the tool that has all of it."""
    text, cut = _beginning(data, encoding)
    if cut:
        lines = text.count("\n") + 1
        about += f", only its first {lines:,} line{'' if lines == 1 else 's'}; {rest} shows the rest"
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    return f"{HEAD}{about}]\n{fence}\n{text}\n{fence}"


def _beginning(data: bytes, encoding: str) -> tuple[str, bool]:
    """The text, at most MAX_BYTES and MAX_LINES of it, and whether that is not all."""
    cut = len(data) > MAX_BYTES
    text = storable(data[:MAX_BYTES].decode(encoding, "replace")).replace("\r\n", "\n")
    if cut:
        # A line, or a character, that was torn apart says nothing; a file of one line has only that.
        text = text.rpartition("\n")[0] or text.rstrip("\ufffd")
    lines = text.rstrip("\n").split("\n")
    return "\n".join(lines[:MAX_LINES]), cut or len(lines) > MAX_LINES


def without_files(message: str) -> str:
    """What the person wrote, without what was attached."""
    return split_attached(message)[0]


def attached_files(message: str) -> list[str]:
    """The lines that say what was attached: `[attached: src/auth.py, 26 bytes]`."""
    return [block.partition("\n")[0] for block in blocks_of(split_attached(message)[1])]


def spelled(path: str) -> str:
    """How a message names this path."""
    return f'@"{path}"' if re.search(r"\s", path) or path != path.rstrip(_AFTER) else f"@{path}"


def best_paths(paths: Sequence[str], wanted: str, limit: int) -> list[str]:
    """The paths that `wanted` may mean, best first: the beginning of a name, then a part of it, a part of the path,
    and at last letters in their order; shorter ones before longer ones."""
    wanted = wanted.casefold()
    letters = re.compile(".*?".join(map(re.escape, wanted)), re.DOTALL)
    ranked = []
    for path in paths:
        whole = path.casefold()
        name = whole.rpartition("/")[2]
        if name.startswith(wanted):
            rank = 0
        elif wanted in name:
            rank = 1
        elif wanted in whole:
            rank = 2
        elif letters.search(whole):
            rank = 3
        else:
            continue
        ranked.append((rank, len(path), path))
    return [path for _, _, path in sorted(ranked)[:limit]]
