"""The terms of a text: stems of its words, the words inside identifiers, identifiers whole, pieces of CJK runs.

The index and the query go through the same functions, so that whatever was typed is found as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from unicodedata import category, normalize

from loom.archive.search.stems import stem
from loom.archive.search.termset import TermSet

MAX_WORD = 64
MAX_NAME = 128
LONG_WORD = 12
"""Letters from which a plain word is kept whole, too: it is found by its inside (`verbindung` in
`Datenbankverbindung`) and when it is mistyped, as an identifier is."""
CHUNK = 32_768
"""Characters looked at in one go: one call of a regular expression keeps every other thread waiting."""
OVERLAP = 2 * MAX_NAME
"""Characters; accents are characters of their own at times."""

_UNSPACED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
"""Thai, Lao, Burmese and Khmer have no spaces between words either."""
CJK = "\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af" + _UNSPACED
_ACCENTS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670"
"""Of Latin, Greek and Cyrillic letters; the points of Hebrew and the vowel signs of Arabic, that few people write."""
_VOWELS = "".join(
    chr(point) for point in (*range(0x653, 0x1100), *range(0x1700, 0x1C00)) if category(chr(point)) in ("Mn", "Mc")
)
"""Signs that are no letters to Python, and stand in the middle of words: of the scripts of India above all."""
IN_WORDS = _ACCENTS + _VOWELS
"""What a word has in it as it is typed, beside letters and digits."""
_CJK_RUN = re.compile(f"[{CJK}]+")
WORD = re.compile(rf"[^\W_]+(?:[{_VOWELS}]+[^\W_]*)*")
"""A word of a folded text."""
_ASCII_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_NAME = re.compile(r"[\w./\\:@~+#$%-]{2,}")
_ENDS = ".:-/\\~+#$%@_"
_JOINS = re.compile(r"[/\\:@#~+$%]+")
_LINE = re.compile(r"(?::\d+)+$")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_MIXED = re.compile(r"[a-z]\d|\d[a-z]", re.IGNORECASE)
_MARKS = re.compile(f"[{_ACCENTS}]")
_FOR_PLAIN_LETTERS = str.maketrans("ı\u0130ſ\u212a", "iIsK")


@dataclass(frozen=True, slots=True)
class Terms:
    """What one text is found by."""

    words: Set[str]
    parts: Set[str]
    """Words inside identifiers, and CJK characters alone and in pairs."""
    names: Set[str]
    """Identifiers, paths, numbers with letters: whole, lower case, also the components of compound ones; long words."""


def fold(text: str) -> str:
    """Lower case without accents: `Café` is `cafe`, `Straße` is `strasse`, `Işık` is `isik`. So are Hebrew and Arabic
    without their points and vowel signs; other scripts keep their marks."""
    return text.lower() if text.isascii() else unaccented(text).casefold()


def unaccented(text: str) -> str:
    """The text without accents, its case kept; full-width letters become plain ones, as does the i without a dot."""
    if text.isascii():
        return text
    return normalize("NFC", _MARKS.sub("", normalize("NFKD", text))).replace("ı", "i")


def plain_letters(text: str) -> str:
    """The text with plain letters for those that a regular expression takes for them where capitals do not matter: a
    dotless i, a capital one with a dot, a long s, the sign of the kelvin. What it has found is then looked up."""
    return text.translate(_FOR_PLAIN_LETTERS)


def plain_words(text: str) -> list[str]:
    """A text's words in order, folded, with repetitions; CJK runs are left out."""
    folded = fold(text)
    words = _ASCII_WORD.findall(folded) if folded.isascii() else WORD.findall(_CJK_RUN.sub(" ", folded))
    return [word for word in words if len(word) <= MAX_WORD]


def words_of(text: str) -> list[str]:
    """The stems of `plain_words`."""
    return [stem(word) for word in plain_words(text)]


def cjk_runs(text: str) -> list[str]:
    """The unbroken CJK runs of a text."""
    return [] if text.isascii() else _CJK_RUN.findall(unaccented(text))


def cjk_pieces(run: str) -> list[str]:
    """A run's pairs of neighbouring characters, or its only character."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def is_code_like(token: str) -> bool:
    """Whether a token is an identifier, path, flag, version or code rather than a plain word."""
    if token.isalpha() and (token.islower() or token.istitle()):
        return False  # nearly every token of prose, and told at once
    return bool(any(mark in token for mark in "_./\\:@#-+~$%") or _HUMP.search(token) or _MIXED.search(token))


def is_name(text: str) -> bool:
    """Whether a text is one token, code-like or not."""
    return _NAME.fullmatch(text) is not None


def core_of(token: str) -> str:
    """A token without the signs around it, which are no part of a name in the index."""
    return token.strip(_ENDS)


def names_of(text: str) -> set[str]:
    """The code-like tokens of a text, folded, also without the line that they may end with; of compound ones
    (`src/auth.py`, `a.b_c`) the components too. Long words as well."""
    names: set[str] = set()
    for token in set(_NAME.findall(unaccented(text))):
        core = core_of(token)
        if _is_long_word(core):
            names.add(fold(core))
        if len(core) < 2 or not is_code_like(core):
            continue
        if len(core) <= MAX_NAME:
            names.add(core.lower())
            if is_code_like(bare := _LINE.sub("", core)):
                names.add(bare.lower())
        for component in _JOINS.split(core):
            _add_component(names, component)
    return names


def without_lines(names: Iterable[str]) -> set[str]:
    """The names without those that are one of the others at a line (`src/a.py:12:3` beside `src/a.py`)."""
    known = frozenset(names)
    return {name for name in known if (bare := _LINE.sub("", name)) == name or bare not in known}


def _is_long_word(token: str) -> bool:
    return LONG_WORD <= len(token) <= MAX_WORD and token.isalpha() and not _CJK_RUN.search(token)


def _add_component(names: set[str], component: str) -> None:
    for piece in {component, *component.split(".")}:
        core = core_of(piece)
        if len(core) > 1 and is_code_like(core):
            names.add(core[:MAX_NAME].lower())


def parts_of(text: str) -> set[str]:
    """The words inside the code-like words of a text, folded (`refreshToken`: refresh, token)."""
    parts: set[str] = set()
    for token in set(WORD.findall(unaccented(text))):
        if token.isalpha() and (token.islower() or token.istitle()):
            continue
        if len(token) <= MAX_NAME and (_HUMP.search(token) or _MIXED.search(token)):
            parts.update(part.lower() for part in _PART.findall(token) if len(part) > 1)
    return parts


def terms_of(text: str) -> Terms:
    """Everything that a turn's text is indexed by."""
    if len(text) <= CHUNK:
        return _terms_in(text)
    words, parts, names = (TermSet() for _ in range(3))
    for chunk in chunks(text):
        terms = _terms_in(chunk)
        words.add_all(terms.words)
        parts.add_all(terms.parts)
        names.add_all(terms.names)
    return Terms(words, parts, names)


def _terms_in(chunk: str) -> Terms:
    parts = set(map(stem, parts_of(chunk)))
    for run in cjk_runs(chunk):
        parts.update(run)
        parts.update(cjk_pieces(run))
    return Terms(frozenset(words_of(chunk)), frozenset(parts), frozenset(names_of(chunk)))


def chunks(text: str) -> Iterator[str]:
    """The text in pieces of at most `CHUNK` characters, cut at white space. Where there is none the next one begins
    `OVERLAP` before the cut: what has it in its middle (a long line of JSON, Japanese) is whole in one of the two."""
    start = 0
    while len(text) - start > CHUNK:
        end = start + CHUNK
        gap = max(text.rfind(" ", start + CHUNK // 2, end), text.rfind("\n", start + CHUNK // 2, end))
        yield text[start : gap + 1 if gap > 0 else end]
        start = gap + 1 if gap > 0 else end - OVERLAP
    if start < len(text):
        yield text[start:]
