"""Quoted text and fenced blocks, put aside while the words around them are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

MARK = "\x00{}\x00"
"""How a literal stands in the masked text. NUL is taken out of the input first, so nothing else looks like it."""

MARKED = "\x00\\d+\x00"
"""Regular expression for one literal in the masked text."""

_QUOTED = re.compile(
    r'"(?P<double>(?:[^"\\\n]|\\.)*)"'
    r"|`(?P<tick>[^`\n]+)`"
    r"|“(?P<curly>[^”\n]*)”"
    r"|(?<![\w'])'(?P<single>[^'\n]*)'(?!\w)"
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_MARKED = re.compile("\x00(\\d+)\x00")


@dataclass(frozen=True, slots=True)
class Literal:
    """One quoted text or fenced block."""

    raw: str
    """As it was typed, quotes and fences included."""
    value: str
    """What it means. In double quotes `\\n`, `\\t`, `\\"` and `\\\\` are escapes; other quotes are verbatim."""
    fenced: bool


@dataclass(frozen=True, slots=True)
class Masked:
    """A message with its literals replaced by marks."""

    text: str
    literals: tuple[Literal, ...]

    def literal(self, mark: str) -> Literal | None:
        """The literal that `mark` stands for; None if it is not exactly one mark."""
        found = _MARKED.fullmatch(mark)
        return self.literals[int(found[1])] if found else None

    def value(self, masked: str) -> str:
        """What a piece of masked text means: the value of a single literal, else the text as typed."""
        literal = self.literal(masked.strip())
        return literal.value if literal else self.raw(masked)

    def raw(self, masked: str) -> str:
        """The piece of masked text as it was typed."""
        return _MARKED.sub(lambda found: self.literals[int(found[1])].raw, masked)


def mask(text: str) -> Masked:
    """The message with every fenced block and quoted text put aside. Never raises."""
    literals: list[Literal] = []

    def put(literal: Literal) -> str:
        literals.append(literal)
        return MARK.format(len(literals) - 1)

    text = text.replace("\r\n", "\n").replace("\x00", "\ufffd")
    unfenced = _mask_fences(text, put)
    masked = _QUOTED.sub(lambda found: put(_quoted(found)), unfenced)
    return Masked(masked, tuple(literals))


def _quoted(found: re.Match[str]) -> Literal:
    if found["double"] is not None:
        return Literal(found[0], _ESCAPE.sub(_unescape, found["double"]), fenced=False)
    return Literal(found[0], found[found.lastgroup or 0], fenced=False)


def _unescape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[0])


def _mask_fences(text: str, put: Callable[[Literal], str]) -> str:
    lines = text.split("\n")
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        opened = _opening(line)
        if opened is None:
            kept.append(line)
            continue
        before, fence = opened
        block: list[str] = []
        raw = [line[len(before) :]]
        while at < len(lines):
            raw.append(lines[at])
            at += 1
            if lines[at - 1].strip().startswith(fence) and not lines[at - 1].strip().strip(fence[0]):
                break
            block.append(lines[at - 1])
        value = "".join(f"{content}\n" for content in block)
        kept.append(before + put(Literal("\n".join(raw), value, fenced=True)))
    return "\n".join(kept)


def _opening(line: str) -> tuple[str, str] | None:
    """What stands before an opening fence, and the fence; None if the line opens no block."""
    for sign in ("```", "~~~"):
        start = line.find(sign)
        if start < 0 or (sign == "~~~" and line[:start].strip()):
            continue
        after = line[start:].lstrip(sign[0])
        # ```code``` on one line is a quotation of sorts, not an opening.
        if sign[0] not in after and len(after.split()) <= 1:
            return line[:start], sign[0] * (len(line) - start - len(after))
    return None
