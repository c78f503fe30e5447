"""The one place where untrusted text is made safe to show.

Untrusted is everything that loom did not write itself: model answers, tool output, file names, titles, rows of the
archive. What is stored stays as it came; only what is drawn or printed passes through here. What is taken out is
replaced by something visible, so that nobody is fooled by what they cannot see.
"""

from __future__ import annotations

import re

MAX_BLOCK_CHARS = 65_536
"""More than this in one block makes a Textual widget slow to mount (10 MB in one line: 17 to 34 s)."""

MAX_LINE_CHARS = 2_000
"""Longer lines are cut on the screen; the whole text stays one key away."""

# C0 without tab and newline, DEL, C1; bidi embeddings, overrides, isolates and marks; zero-width and other format
# characters that reorder or hide text; tag characters and variation selectors supplement; line and paragraph
# separators; lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)

UNSAFE = _UNSAFE
"""The characters that `show` makes visible, for those who check that none is left."""


def show(text: str) -> str:
    """The text with every character that could move the cursor, reorder or hide text made visible.

    Newlines and tabs stay; `\\r\\n` becomes a newline. C0 controls and DEL become their control pictures
    (`␛`), everything else `‹U+202E›`. The result is a fixed point: `show(show(x)) == show(x)`.
    """
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"‹U+{code:04X}›"


def show_line(text: str, limit: int = 200) -> str:
    """One safe line of at most `limit` characters: white space folded, an ellipsis where it was cut."""
    head = " ".join(text[: limit * 4 + 64].split())
    line = show(head)
    return line if len(line) <= limit and len(text) <= limit * 4 + 64 else line[: limit - 1].rstrip() + "…"


def show_block(text: str, *, max_chars: int = MAX_BLOCK_CHARS, max_line: int = MAX_LINE_CHARS) -> str:
    """A safe block for one widget: at most about `max_chars` characters and `max_line` a line, each cut marked
    with how many characters are not shown."""
    cut = len(text) - max_chars
    safe = show(text[:max_chars])
    if any(len(line) > max_line for line in safe.split("\n")):
        safe = "\n".join(_short(line, max_line) for line in safe.split("\n"))
    return f"{safe}\n… {cut:,} more characters, not shown here" if cut > 0 else safe


def _short(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[:limit]}… ({len(line) - limit:,} more)"


def without_overwritten(text: str) -> str:
    """The text with whatever a carriage return wrote over, as a progress bar does, folded to `…␍` in its line: what was
    written last stays. A carriage return before a newline writes over nothing."""
    return "\n".join(_written_last(line) for line in text.split("\n"))


def _written_last(line: str) -> str:
    before, _, last = line.rstrip("\r").rpartition("\r")
    return f"…␍{last}" if before else last


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 turn`, `2,000 turns`; `nouns` is the form for many where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def storable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD: they cannot be encoded, so neither the database nor a
    provider can take them. Everything else, NUL included, stays."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Through UTF-16 a high and a low surrogate side by side become the character they mean.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
