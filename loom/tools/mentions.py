"""What goes along with a message: files that the person names in it, as `@src/auth.py` or `@"with a space.txt"`, and
turns of the archive.

It is attached behind the message as data, fenced, under its path, so that neither the model nor the session state takes
it for the person's own words. What is no file of the workspace stays what it is: a word with an @; of one that reads
like a path the person is told.
"""

from __future__ import annotations

import re
import stat
import threading
import time
from collections.abc import Iterator, Sequence

from loom.attached import HEAD, blocks_of, split_attached, with_attached
from loom.text import show_line, storable
from loom.tools.file_kinds import encoding_of, kind_of, size_in_words
from loom.tools.outcome import ToolFailure
from loom.tools.paths import OutsideWorkspace, Place, Workspace
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
_ENDING = re.compile(r"\.[A-Za-z]\w{0,4}$")
"""What makes a path of a word: `.py`, `.ipynb`; not what a decorator like `@pytest.fixture` ends with."""
_CALL = re.compile(r"\w\(")
MOST_TOLD = 3
"""Paths that are told as no files of a message; the others are counted."""


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

    def without_a_file(self, message: str) -> str:
        """Which of the paths that the message names have no file to go along with it, and why, in a sentence; empty
        when there is none. A word that only has an @ before it, as `@property`, is none of them."""
        mentions = _MENTION.findall(split_attached(message)[0])
        alone = [(quoted, plain) for quoted, plain in mentions if self._place_of(quoted or plain) is None]
        told = dict.fromkeys(filter(None, (self._why_alone(quoted, plain) for quoted, plain in alone)))
        if not told:
            return ""
        more = f" and {len(told) - MOST_TOLD:,} more" if len(told) > MOST_TOLD else ""
        return f"No file went along for {', '.join(list(told)[:MOST_TOLD])}{more}."

    def _why_alone(self, quoted: str, plain: str) -> str:
        """The path, as it is spelled, and why it is no file; empty for what is no path."""
        path = quoted or plain.rstrip(_AFTER)
        try:
            place = self._workspace.place(path)
            status = self._workspace.stat(place)
            folder = status is not None and stat.S_ISDIR(status.st_mode)
            why = "not there" if status is None else "a folder" if folder else "not to be read"
        except OutsideWorkspace:
            folder, why = False, "out of reach"
        except ToolFailure:
            folder, why = False, "not to be read"
        is_path = bool(quoted) or folder or _reads_like_a_path(path)
        return f"{show_line(spelled(path), 80)} ({why})" if is_path else ""

    def _named(self, message: str) -> Iterator[Place]:
        for quoted, plain in _MENTION.findall(message):
            if (place := self._place_of(quoted or plain)) is not None:
                yield place

    def _place_of(self, mention: str) -> Place | None:
        """The file that is meant, be it with or without what ends the sentence behind it."""
        files = (self._file(path) for path in dict.fromkeys((mention, mention.rstrip(_AFTER))))
        return next((place for place in files if place is not None), None)

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


def _reads_like_a_path(word: str) -> bool:
    if _CALL.search(word) or not word.strip("./"):
        return False
    return "/" in word or word.startswith(".") or _ENDING.search(word) is not None


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
