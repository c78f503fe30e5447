"""What a query asks for: words, names, phrases, filters. Any text is a query; none raises."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from loom.archive.search.asking import is_asked_in_keywords, is_question
from loom.archive.search.marks import ROLES
from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS
from loom.archive.search.words import (
    CJK,
    IN_WORDS,
    cjk_pieces,
    cjk_runs,
    fold,
    is_code_like,
    parts_of,
    plain_letters,
    plain_words,
    unaccented,
    words_of,
)
from loom.text import storable

MAX_QUERY = 2_000
"""Characters of a query that are read: more than anyone types, enough for a pasted error."""
MAX_TERMS = 24
"""More words than this make a query slower and not better; the longest stay."""
MAX_NAMES = 8
LONGEST_QUESTION = 300
"""Characters; what is longer tells something as well."""
MOST_BESIDE = 2
"""Words beside what a question is about: `say`, `remember`."""

FILTERS = ("role", "tool", "file", "before", "after", "session")
"""Every filter, in the order in which completion offers them."""

_FILTER = re.compile(
    r'"[^"\n]*"|(?:(?<=\s)|^)(?P<minus>-?)(?P<name>' + "|".join(FILTERS) + r'):(?:"(?P<quoted>[^"]*)"|(?P<bare>\S+))',
    re.IGNORECASE,
)
"""A filter, or what is quoted: in there nothing is one."""
_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”')
_TICKED = re.compile(r"`([^`\n]+)`")
_EXCLUDED = re.compile(
    r'"[^"\n]+"|“[^”\n]+”|`[^`\n]+`'
    r"|(?:(?<=\s)|^)-(?:\"(?P<straight>[^\"\n]+)\"|“(?P<curved>[^”\n]+)”|(?P<word>[^\W_]"
    rf"[\w{IN_WORDS}'’-]{{1,63}}|[{CJK}])"
    # A path or a file's name has a letter, and a slash or a dot; but `-I/usr/include` and `-3.5x` are none.
    r"|(?P<path>(?=\S*[^\W\d_])(?!\w[/\\])(?=\S*[/\\]|[^\W\d]\S*?\.\w|\.\w)"
    r"[\w./\\~@][\w./\\~@+-]{0,200}(?<=[\w/\\])))(?=\s|$)"
)
"""What is quoted, or what has a minus: in what is quoted no minus means anything. A letter alone with one is a flag, a
character of Chinese is a word."""
_SIGN = re.compile(r"[^\w\s.,;:!?…'’\"“”()-]|_")
"""Tells a word from the same one in a sentence: `operator<<`, `%PATH%`, `F#`, `_private`."""
_SIGNED_LETTER = re.compile(r"(?<![\w+#])[A-Za-z](?:\+\+|#)(?![\w+#])")
"""`C++` and `C#`, of which words are a letter alone, which no query looks for."""
_TOKEN = re.compile(r"[\w./\\:@~+#$%-]{2,}")
_SENTENCE_ENDS = ".?!… "
_ENDS = ".:-/\\~+#$%@_,;"
_WORDS = re.compile(r"[^\W_]{3}")
_FORM = re.compile(
    r"\b(?:what|which) (?:different )?(?:kind|type|sort)s? of\b|\b(?:in|by) (?:what|which) ways?\b"
    r"|\bhow many (?:different )?(?:(?:kind|type|sort)s of|times\b)"
    r"|\b(?:is|are|was|were) (?:something|some things|a thing|things)\b"
    r"|\b(?:(?:likely|probably|possibly|potentially)(?: be)?|be considered)\b",
    re.IGNORECASE,
)
"""What a question says of the form of its answer, not of its subject: `what kind of art` asks for art, and not for
the turns with the word `kind`."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a turn must be to be found, whatever its words."""

    roles: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    """All of them must hold, as of files; of tools and roles any one."""
    after: tuple[str, ...] = ()
    session: str | None = None


@dataclass(frozen=True, slots=True)
class TypedFilter:
    """A filter as it stands in a query, whether its value means something or not."""

    name: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query: its stem, and the word as typed, folded."""

    stem: str
    word: str


@dataclass(frozen=True, slots=True)
class Query:
    """A query, taken apart."""

    text: str
    """As typed, without the filters."""
    terms: tuple[Term, ...] = ()
    """Words to look for, stop words left out unless there is nothing else."""
    pieces: tuple[str, ...] = ()
    """CJK characters in pairs, or one alone."""
    names: tuple[str, ...] = ()
    """Code-like tokens, folded, whole."""
    phrases: tuple[str, ...] = ()
    """In double quotes: folded text that a hit must contain."""
    passages: tuple[str, ...] = ()
    """Folded text that a hit had better contain as it stands: the query as typed, and what is in back-ticks."""
    excluded_words: tuple[str, ...] = ()
    """Words, folded, that a hit must not have, unless it has them with their minus (see `has_as_flag`)."""
    excluded_texts: tuple[str, ...] = ()
    """Folded text that a hit must not contain: phrases, and words that are more than one in the index."""
    excluded_paths: tuple[str, ...] = ()
    """Paths and files' names, folded, that a hit must not name (see `names_path`)."""
    filters: Filters = field(default_factory=Filters)
    is_question: bool = False
    """It asks for what was said, rather than being words put into a search field."""

    @property
    def is_empty(self) -> bool:
        return not (self.terms or self.pieces or self.names or self.phrases or self.passages)

    @property
    def excluded(self) -> tuple[str, ...]:
        """The stems of the excluded words."""
        return tuple(dict.fromkeys(map(stem, self.excluded_words)))

    @property
    def is_common(self) -> bool:
        """Whether it is put in the commonest words alone (`it is what it is`)."""
        return not self.names and not self.pieces and all(map(_is_stop, self.terms))

    @property
    def has_one_phrase_alone(self) -> bool:
        """Whether a turn with its first phrase is a hit, whatever else it says."""
        return not (
            self.phrases[1:] or self.filters.files or self.excluded_words or self.excluded_texts or self.excluded_paths
        )

    @property
    def excusing(self) -> tuple[str, ...]:
        """The passages with an excluded word in them: whoever pastes `rm -rf` means a turn that has it."""
        return tuple(passage for passage in self.passages if _taken_out_in(passage))


def parse(raw: str, *, asked: bool = False) -> Query:
    """The query that a text means; `asked` as `Request` has it."""
    text = storable(raw[:MAX_QUERY]).replace("\x00", " ")
    filters, text = _take_filters(text)
    whole = " ".join(text.split())
    # Filters ask for something, too: their turns without the words that have a minus.
    spoken = without_excluded(text) if filters == Filters() else _bare(text)
    taken_out = _taken_out_in(text) if spoken != text else []
    left_out = [words for kind, words in taken_out if kind != "path"]
    phrases = tuple(dict.fromkeys(_clean(a or b) for a, b in _QUOTED.findall(spoken)))
    passages = [_clean(part) for part in _TICKED.findall(text)]
    # A number with a minus may be a negative one: then it is what is asked for.
    passages += [f"-{number}" for number in left_out if number.isdecimal()]
    passages += [fold(language) for language in _SIGNED_LETTER.findall(spoken)]
    if spoken.strip():
        passages += _as_typed(whole, " ".join(spoken.split()), quoted=bool(phrases))
    names = _names(spoken)
    quotes = bool(names or phrases or _TICKED.search(text))
    asks = is_question(whole) or (asked and not quotes and is_asked_in_keywords(whole))
    return Query(
        text=whole,
        terms=_terms(_subject(spoken) if asks else spoken),
        pieces=tuple(dict.fromkeys(piece for run in cjk_runs(spoken) for piece in cjk_pieces(run)))[:MAX_TERMS],
        names=names,
        phrases=tuple(phrase for phrase in phrases if phrase),
        passages=tuple(dict.fromkeys(passage for passage in passages if passage)),
        excluded_words=tuple(dict.fromkeys(fold(word) for word in left_out if _is_one_word(word))),
        excluded_texts=tuple(dict.fromkeys(_clean(word) for word in left_out if not _is_one_word(word))),
        excluded_paths=tuple(dict.fromkeys(_as_path(words) for kind, words in taken_out if kind == "path")),
        filters=filters,
        is_question=asks,
    )


def _as_typed(whole: str, spoken: str, *, quoted: bool) -> list[str]:
    """The passage that a query may be, `spoken` without what a hit must not have. What has no word at all is signs, or
    longer than any word that the index keeps."""
    if not words_of(spoken):
        return [] if quoted else [_clean(spoken)]
    is_more = len(words_of(whole)) > 1 or _SIGN.search(whole) or cjk_runs(whole)
    # What ends a sentence may have been said in the middle of one.
    return [_clean(whole).rstrip(_SENTENCE_ENDS) or _clean(whole)] if is_more else []


def typed_filters(text: str) -> list[TypedFilter]:
    """The filters of a query, in order. What is in quotation marks or has a minus is none."""
    return [_typed(match) for match in _FILTER.finditer(text) if match["name"] and not match["minus"]]


def filters_with_minus(text: str) -> list[TypedFilter]:
    """What looks like a filter and has a minus, in order: it is searched for as words."""
    return [_typed(match) for match in _FILTER.finditer(text) if match["name"] and match["minus"]]


def _typed(match: re.Match[str]) -> TypedFilter:
    value = match["quoted"] or match["bare"] or ""
    return TypedFilter(plain_letters(match["name"]).lower(), value.strip(), *match.span())


def is_short_question(text: str) -> bool:
    """Whether a text asks and hardly tells anything."""
    return len(text) <= LONGEST_QUESTION and is_question(text)


def asks_the_same(text: str, query: Query) -> bool:
    """Whether a text is a short question about all that the query is about, and hardly anything else."""
    wanted = _about(query)
    if not wanted or not is_short_question(text):
        return False
    asked = _about(parse(text))
    return wanted <= asked and len(asked - wanted) <= MOST_BESIDE


def _about(query: Query) -> frozenset[str]:
    return frozenset(term.stem for term in query.terms)


def without_excluded(text: str) -> str:
    """A query without the words that a hit must not have; as it is where nothing else is asked for."""
    rest = _bare(text)
    return rest if rest.strip() else text


def has_as_flag(folded: str, word: str) -> bool:
    """Whether a folded text has an excluded word as it stands in the query, with the minus before it: whoever asks for
    `git commit -am` means a turn with this flag, and none with the word."""
    return f"-{word}" in folded and bool(re.search(rf"(?<![^\s\"'`(=])-{re.escape(word)}(?!\w)", folded))


def names_path(folded: str, path: str) -> bool:
    """Whether a folded text names a path of `Query.excluded_paths`, by itself or within a longer one, with either
    slash: `lib/src/auth.py:42` names `src/auth.py` and `auth.py`; `oauth.py`, `auth.pyc` and `-auth.py` do not."""
    end = "" if path.endswith("/") else r"(?!\w|[.-]\w)"
    text = folded.replace("\\", "/")
    return path in text and bool(re.search(rf"(?<![\w.-]){re.escape(path)}{end}", text))


def _as_path(text: str) -> str:
    return _clean(text).replace("\\", "/").removeprefix("./")


def _bare(text: str) -> str:
    return _EXCLUDED.sub(lambda match: " " if match.lastgroup else match[0], text)


def _taken_out_in(text: str) -> list[tuple[str, str]]:
    """The words, phrases and paths with a minus, without it; each behind its group of `_EXCLUDED`."""
    return [(match.lastgroup, match[match.lastgroup]) for match in _EXCLUDED.finditer(text) if match.lastgroup]


def _is_one_word(text: str) -> bool:
    """Whether the index keeps a text as one word."""
    return plain_words(text) == [fold(text)]


def _subject(question: str) -> str:
    """A question without what it says of the form of its answer; all of it where nothing else is left."""
    bare = _FORM.sub(" ", question)
    return bare if any(not _is_stop(Term(stem(word), word)) for word in plain_words(bare)) else question


def _clean(text: str) -> str:
    return " ".join(fold(text).split())


def _terms(text: str) -> tuple[Term, ...]:
    words = {stem(word): word for word in reversed(plain_words(text))}
    inner = {stem(part): part for part in plain_words(" ".join(parts_of(text)))}
    terms = [Term(key, word) for key, word in [*reversed(words.items()), *inner.items()] if word]
    terms = list({term.stem: term for term in reversed(terms)}.values())[::-1]
    kept = [term for term in terms if not _is_stop(term)]
    terms = kept or terms
    if len(terms) > MAX_TERMS:
        longest = set(sorted(terms, key=lambda term: len(term.word), reverse=True)[:MAX_TERMS])
        terms = [term for term in terms if term in longest]
    return tuple(terms)


def _is_stop(term: Term) -> bool:
    if len(term.word) == 1 and term.word.isascii():
        return True
    return term.stem in STOP_STEMS or term.word in STOP_STEMS


def _names(text: str) -> tuple[str, ...]:
    cores = (_core(token) for token in _TOKEN.findall(unaccented(text)))
    return tuple(dict.fromkeys(core.lower() for core in cores if len(core) > 1 and is_code_like(core)))[:MAX_NAMES]


def _core(token: str) -> str:
    """A token without the signs around it; with its underscores where it would be a word without them. The index has
    `_private` as a word, but `self._private` has it inside."""
    core = token.strip(_ENDS)
    return core if is_code_like(core) or not _WORDS.search(core) else token.strip(_ENDS.replace("_", ""))


def _take_filters(text: str) -> tuple[Filters, str]:
    filters = Filters()
    kept: list[str] = []
    position = 0
    for typed in typed_filters(text):
        changed = _with(filters, typed.name, typed.value) if typed.value else None
        if changed is None:
            continue
        filters = changed
        kept.append(text[position : typed.start])
        position = typed.end
    kept.append(text[position:])
    return filters, " ".join(kept)


def _with(filters: Filters, name: str, value: str) -> Filters | None:
    """The filters with one more, or None where the value is none of that filter's (it is then searched for)."""
    if name == "role":
        roles = frozenset(value.lower().split(","))
        return replace(filters, roles=filters.roles | roles) if roles <= set(ROLES) else None
    if name == "tool":
        return replace(filters, tools=filters.tools | frozenset(value.lower().split(",")))
    if name == "file":
        return replace(filters, files=(*filters.files, _clean(value)))
    if name == "before":
        return replace(filters, before=(*filters.before, value))
    if name == "after":
        return replace(filters, after=(*filters.after, value))
    return replace(filters, session=value)
