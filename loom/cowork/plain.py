"""An answer in plain words: its Markdown without the signs, for a line that names it."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$|^[ \t|:-]*-{3}[ \t|:-]*$", re.MULTILINE)
_FRONT = re.compile(r"^[ \t]*(?:(?:#{1,6}|>|[-*+])[ \t]+)+", re.MULTILINE)
_CODE = re.compile(r"(`+)([^`\n]+)\1")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_STRONG = re.compile(r"(?<![*\w\\])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![*\w])")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>#|~])")


def plain(markdown: str) -> str:
    """The words without emphasis, headings, bullets, quotes, fences and targets of links; code inside a line stays as
    it is, but for its ticks. Underscores stay: they are in names."""
    text = _FRONT.sub("", _RULE.sub("", _FENCE.sub("", markdown)))
    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        pieces += [_unmarked(text[at : code.start()]), code[2].strip()]
        at = code.end()
    return "".join([*pieces, _unmarked(text[at:])])


def _unmarked(text: str) -> str:
    return _ESCAPED.sub(r"\1", _STRONG.sub(r"\2", _LINK.sub(r"\1", text)))
