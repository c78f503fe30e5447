"""Untrusted text with matches marked: safe to draw, and the marks where they belong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from textual.content import Content

from loom.text import show

Spans = Sequence[tuple[int, int]]
"""(start, end) character offsets, ascending, not overlapping."""

MATCH = "$text-warning bold underline"
MAX_MARKS = 500
"""Marks drawn in one text; a word on every line of a large output needs no more."""


def marked(text: str, spans: Spans, style: str = MATCH) -> Content:
    """The text made safe, piece by piece, so that the marks stay where they were found."""
    pieces: list[Content] = []
    at = 0
    for span in spans:
        start, end = max(span[0], at), min(span[1], len(text))
        if start >= end:
            continue
        pieces += [Content(show(text[at:start])), Content.styled(show(text[start:end]), style)]
        at = end
    pieces.append(Content(show(text[at:])))
    return Content("").join(pieces)


def marked_line(text: str, spans: Spans, width: int, style: str = MATCH) -> Content:
    """One line of about `width` cells in which the first mark is to be seen."""
    flat = re.sub(r"\s", " ", text)
    first = min(spans[0][0], len(flat)) if spans else 0
    start = 0 if _back(flat, first, width * 2 // 3) == 0 else _back(flat, first, width // 3)
    # No room is left empty at the end while there is text before.
    start = min(start, _back(flat, len(flat), width - 1))
    shifted = [(max(0, a - start), b - start) for a, b in spans if b > start]
    # From the mark on every character that can be seen takes a cell or two: a piece is enough.
    line = marked(flat[start : max(start, first) + 2 * width + 8], shifted, style)
    line = Content("…").append(line) if start else line
    return line.truncate(width, ellipsis=True)


def _back(text: str, end: int, cells: int) -> int:
    """Where the piece of a text begins that ends there and takes so many cells at most."""
    while end and (cells := cells - cell_len(show(text[end - 1]))) >= 0:
        end -= 1
    return end


def words_of(snippet: str, highlights: Spans) -> tuple[str, ...]:
    """The words that a search marked, each once, longest first."""
    found = {snippet[start:end].strip() for start, end in highlights}
    return tuple(sorted((word for word in found if word), key=lambda word: (-len(word), word)))


def found_at(text: str, snippet: str, highlights: Spans) -> tuple[int, int] | None:
    """Where in a text that is shown a search's best match stands: in the middle of its snippet; where it is worded
    otherwise than the one that was searched, the first of the words that it marked. None where there is none."""
    at = text.find(snippet) if highlights else -1
    if at >= 0:
        start, end = min(highlights, key=lambda span: abs(span[0] + span[1] - len(snippet)))
        return at + start, at + end
    return next(iter(occurrences(text, words_of(snippet, highlights), 1)), None)


def occurrences(text: str, words: Iterable[str], limit: int = MAX_MARKS) -> list[tuple[int, int]]:
    """Where the words stand in the text, whatever their case."""
    pattern = "|".join(re.escape(word) for word in words)
    if not pattern:
        return []
    spans: list[tuple[int, int]] = []
    for match in re.finditer(pattern, text, re.IGNORECASE):
        spans.append(match.span())
        if len(spans) >= limit:
            break
    return spans


def excerpt(text: str, at: int, before: int, after: int) -> tuple[int, int]:
    """The piece of a large text around offset `at`, cut at line ends where there are any near."""
    start, end = max(0, at - before), min(len(text), at + after)
    if start and (newline := text.find("\n", start, at)) >= 0:
        start = newline + 1
    if end < len(text) and (newline := text.rfind("\n", at, end)) > at:
        end = newline
    return start, end
