"""The piece of a turn that shows why it was found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from unicodedata import combining, is_normalized

from loom.archive.search.query import Query
from loom.archive.search.stems import stem
from loom.archive.search.words import WORD, fold

LENGTH = 240
"""Characters of a snippet, at most."""
LONG = 50_000
"""Characters of a text that are looked at one by one: 10 MB of Japanese would take seconds."""
_OVERLAP = 1_000
_LITERAL = 4
"""What a literal match says in the choice of a stretch, against a word."""
_MAX_MATCHES = 200
"""Matches of one kind that are looked at in one turn."""
_JOINING = frozenset(map(chr, (*range(0x1160, 0x1200), 0xFF9E, 0xFF9F)))
"""Vowels and final consonants of Korean syllables written in parts, and the voicing marks of half-width Japanese."""

Span = tuple[int, int]


def snippet_of(text: str, query: Query) -> tuple[str, tuple[Span, ...]]:
    """The part of a text around what matched best, newlines kept, and where in it the matches are.

    What was meant literally comes first; else the place with the most different words of the query close together.
    A text in which nothing matches gives its head.
    """
    if len(text) > LONG:
        text = _best_stretch(text, query)
    folded = _Folded(text)
    literal = _literal_spans(folded, query)
    words = _word_spans(folded, query)
    if literal:
        begin, end = max(literal, key=lambda span: (span[1] - span[0], -span[0]))
    elif words:
        begin, end = _densest(words)
    else:
        return text[:LENGTH], ()
    first, last = _frame(text, begin, end)
    spans = [(max(a, first) - first, min(b, last) - first) for a, b in literal if b > first and a < last]
    spans += [(max(a, first) - first, min(b, last) - first) for a, b, _ in words if b > first and a < last]
    return text[first:last], _merged(spans)


def _best_stretch(text: str, query: Query) -> str:
    """The stretch of a long text with the most of what the query asks for; the first of equals."""
    literals = (*query.phrases, *query.passages, *query.names, *query.pieces)
    roots = [_root(term.stem) for term in query.terms]
    best, most = text[:LONG], -1
    for start in range(0, len(text), LONG - _OVERLAP):
        stretch = text[start : start + LONG]
        folded = fold(stretch)
        score = _LITERAL * sum(literal in folded for literal in literals) + sum(root in folded for root in roots)
        if score > most:
            best, most = stretch, score
    return best


class _Folded:
    """A text as it is searched, and where each of its characters stands in the text as it is."""

    def __init__(self, text: str) -> None:
        self.text = fold(text)
        self._origins: list[Span] | None = None
        if not _is_aligned(text, self.text):
            written = _characters(text)
            folded = {character: fold(character) for character in set(written)}
            ends = accumulate(map(len, written))
            self.text = "".join(folded[character] for character in written)
            self._origins = [
                (end - len(character), end)
                for character, end in zip(written, ends, strict=True)
                for _ in folded[character]
            ]

    def span(self, begin: int, end: int) -> Span:
        """The original's offsets of a stretch of the folded text that is not empty."""
        if self._origins is None:
            return begin, end
        return self._origins[begin][0], self._origins[end - 1][1]


def _is_aligned(text: str, folded: str) -> bool:
    """Whether folding left each character in its place; nearly always so, and soon told."""
    if text.isascii():
        return True
    # Where nothing can get shorter, what has the same length has nothing that got longer.
    return len(text) == len(folded) and is_normalized("NFKC", text) and not any(map(combining, text))


def _characters(text: str) -> list[str]:
    """The text's characters, each with what is written behind it to be one with it."""
    characters: list[str] = []
    for point in text:
        if characters and (combining(point) or point in _JOINING):
            characters[-1] += point
        else:
            characters.append(point)
    return characters


def _literal_spans(folded: _Folded, query: Query) -> list[Span]:
    """Where the phrases, passages, names and CJK pieces stand."""
    spans: list[Span] = []
    for literal in (*query.phrases, *query.passages, *query.names, *query.pieces):
        words = literal.split()
        # To make a pattern of a pasted paragraph takes some ms, and few of the turns have it.
        if not words or not all(word in folded.text for word in words):
            continue
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        for match in pattern.finditer(folded.text):
            spans.append(folded.span(match.start(), match.end()))
            if len(spans) >= _MAX_MATCHES:
                return spans
    return spans


def _word_spans(folded: _Folded, query: Query) -> list[tuple[int, int, str]]:
    """Where words with the query's stems stand, in order; the words of the query also inside longer ones."""
    spans: list[tuple[int, int, str]] = []
    text = folded.text
    for term in query.terms:
        found = 0
        for root in {_root(term.stem), _root(term.word)}:
            at = text.find(root)
            while at >= 0 and found < _MAX_MATCHES:
                word = WORD.match(text, at) if at == 0 or not text[at - 1].isalnum() else None
                if word is not None and stem(word[0]) == term.stem:
                    spans.append((*folded.span(at, word.end()), term.stem))
                    found += 1
                elif len(term.word) >= 3 and text.startswith(term.word, at):
                    spans.append((*folded.span(at, at + len(term.word)), term.stem))
                    found += 1
                at = text.find(root, at + len(root))
    return sorted(spans)


def _root(word: str) -> str:
    """The beginning that a stem and its words share: `happi` and `happy`, `nativ` and `native`."""
    return word[:-1] if len(word) > 3 and word[-1] in "iey" else word


def _densest(spans: Sequence[tuple[int, int, str]]) -> Span:
    """The stretch of at most a snippet's length with the most different words; the first of equals."""
    best, found = (spans[0][0], spans[0][1]), 0
    start = 0
    for end in range(len(spans)):
        while spans[end][1] - spans[start][0] > LENGTH:
            if start == end:
                break
            start += 1
        different = len({key for _, _, key in spans[start : end + 1]})
        if different > found:
            best, found = (spans[start][0], spans[end][1]), different
    return best


def _frame(text: str, begin: int, end: int) -> Span:
    """`LENGTH` characters centred on a match, moved to the borders of words where that costs little."""
    room = max(0, LENGTH - (end - begin))
    first = max(0, begin - room // 2)
    last = min(len(text), first + LENGTH)
    first = max(0, last - LENGTH)
    if first > 0:
        gap = re.search(r"\s", text[first : min(begin, first + 24)])
        first += gap.end() if gap else 0
    if last < len(text) and end <= last:
        tail = text[max(end, last - 24) : last]
        cut = max(tail.rfind(" "), tail.rfind("\n"))
        last -= len(tail) - cut if cut >= 0 else 0
    return first, last


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if begin >= end:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return tuple(merged)
