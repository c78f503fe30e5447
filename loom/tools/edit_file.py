"""The tool edit_file: one exact place of a text, and why not when it is not."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from loom.text import storable
from loom.tools.change import Changes
from loom.tools.file_kinds import SAMPLE, encoding_of, kind_of
from loom.tools.outcome import Preview, ToolFailure, ToolOutcome
from loom.tools.paths import Place
from loom.tools.promises import call_of

MAX_NAMED = 10
"""Line numbers that are named when the text is there more than once."""

MAX_COMPARED = 20_000
"""Lines among which the nearest is looked for."""


class EditFile:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    async def edit_file(self, path: str, old_text: str, new_text: str, replace_all: bool = False) -> ToolOutcome:
        """Replace one piece of text in a file.

        Args:
            path: File in the workspace.
            old_text: Text to replace, exactly as in the file and there only once; without line numbers.
            new_text: What comes in its place.
            replace_all: Replace it wherever it is in the file.
        """
        call = _call(path, old_text, new_text, replace_all)
        return await self._changes.apply(call, path, _replacing(old_text, new_text, replace_all), follow=True)

    async def preview(self, arguments: Mapping[str, Any]) -> Preview | None:
        """The diff. Raises ToolFailure when the text is not there exactly once, or, to replace all, not at all."""
        path, old_text, new_text = arguments["path"], arguments["old_text"], arguments["new_text"]
        replace_all = bool(arguments.get("replace_all"))
        call = _call(path, old_text, new_text, replace_all)
        return await self._changes.preview(call, path, _replacing(old_text, new_text, replace_all))


def _call(path: str, old_text: str, new_text: str, replace_all: bool) -> bytes:
    return call_of("edit all" if replace_all else "edit", path, old_text, new_text)


def _replacing(old_text: str, new_text: str, replace_all: bool) -> Callable[[Place, bytes | None], bytes]:
    return lambda place, before: edited(place, before, old_text, new_text, replace_all=replace_all)


def edited(place: Place, before: bytes | None, old_text: str, new_text: str, *, replace_all: bool = False) -> bytes:
    """The file's bytes with the one occurrence of `old_text` replaced, or all that do not overlap one before; the rest
    stays as it is, bytes that are not UTF-8 too. In a file with CRLF line ends, line feeds in both texts mean CRLF.
    Raises ToolFailure."""
    if before is None:
        raise ToolFailure(f"There is no {place.shown} in the workspace.", "Use write_file for a new file.")
    encoding = encoding_of(before[:SAMPLE])
    if encoding not in ("utf-8", "utf-8-sig"):
        what = f"{encoding.upper()} text" if encoding else kind_of(before[:SAMPLE])
        raise ToolFailure(f"{place.shown} is {what}; only UTF-8 text can be edited.")
    if not old_text:
        raise ToolFailure("old_text is empty.", "Give the text to replace, or use write_file.")
    if old_text == new_text:
        raise ToolFailure("old_text and new_text are the same.")
    text = before.decode("utf-8", "surrogateescape")
    for old, new in _spellings(text, storable(old_text), storable(new_text)):
        found = list(_occurrences(text, old))
        if found and replace_all:
            return text.replace(old, new).encode("utf-8", "surrogateescape")
        if len(found) == 1:
            start = found[0]
            return (text[:start] + new + text[start + len(old) :]).encode("utf-8", "surrogateescape")
        if found:
            raise _ambiguous(place, text, found)
    raise _not_found(place, text, old_text)


def _spellings(text: str, old: str, new: str) -> Iterator[tuple[str, str]]:
    """Both texts with the file's line ends, then as they were given."""
    if text.count("\r\n") * 2 > text.count("\n"):
        yield _crlf(old), _crlf(new)
        yield old, new
        return
    yield old, new
    if "\r\n" in text and "\n" in old:
        yield _crlf(old), _crlf(new)


def _crlf(text: str) -> str:
    return re.sub("\r?\n", "\r\n", text)


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    """Where it begins, overlapping ones too: "aa" is not unique in "aaa"."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _ambiguous(place: Place, text: str, found: list[int]) -> ToolFailure:
    numbers = [str(text.count("\n", 0, at) + 1) for at in found[:MAX_NAMED]]
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return ToolFailure(
        f"old_text is in {place.shown} {len(found)} times, at lines {', '.join(numbers)}{more}.",
        "Add lines around it until it is unique, or give replace_all.",
    )


def _not_found(place: Place, text: str, old_text: str) -> ToolFailure:
    lines = text.split("\n")
    wanted = next((line for line in old_text.split("\n") if line.strip()), "")
    if (at := _but_for_white_space(text, old_text)) is not None:
        first, last = at
        return ToolFailure(
            f"old_text is not in {place.shown}; lines {first}–{last} differ from it only in white space.",
            f"Copy them exactly: {_quoted(chr(10).join(lines[first - 1 : last]))}",
        )
    nearest = _nearest(lines, wanted)
    if nearest is None:
        return ToolFailure(f"old_text is not in {place.shown}, nor anything like it.", "Read the file first.")
    return ToolFailure(
        f"old_text is not in {place.shown}. The nearest line is {nearest}: {_quoted(lines[nearest - 1])}",
        "Read the file there and copy the text exactly.",
    )


def _but_for_white_space(text: str, old_text: str) -> tuple[int, int] | None:
    """First and last line of the text's only place that is the same but for white space."""
    words = old_text.split()
    if not words or len(words) > 2_000:
        return None
    found = list(re.finditer(r"\s+".join(map(re.escape, words)), text))
    if len(found) != 1:
        return None
    first, last = (text.count("\n", 0, at) + 1 for at in found[0].span())
    return first, last


def _nearest(lines: list[str], wanted: str) -> int | None:
    """The number of the line most like the wanted one."""
    short = wanted.strip()[:500]
    candidates = {line.strip()[:500]: number for number, line in reversed([*enumerate(lines[:MAX_COMPARED], 1)])}
    close = difflib.get_close_matches(short, candidates, n=1, cutoff=0.5)
    return candidates[close[0]] if close else None


def _quoted(text: str) -> str:
    kept = text if len(text) <= 600 else text[:600] + "…"
    return storable(f"«{kept}»")
