"""What the filter `file:` and a minus leave of the turns: both are about what a text says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from itertools import islice

from loom.archive.search.postings import Postings
from loom.archive.search.query import Query, has_as_flag, names_path
from loom.archive.search.stems import stem
from loom.archive.search.words import cjk_pieces, cjk_runs, core_of, fold, is_code_like, is_name, words_of

MAX_FILES = 4_000
"""Names that may be a file which is filtered by. They are those of the whole archive: with fewer, what others have that
is short hides what a session has that is long. So many are looked up in 20 to 80 ms."""
MAX_MENTIONING = 2_000
"""Turns whose text is read to see whether it has a path that is no name of the index."""
MAX_TAKEN_OUT = 2_000
"""Turns whose text is read to see whether it has what is excluded: where more hits than are ranked have it, those
behind them are found only if it is known before. The text of a hit is always read."""
MAX_FLAGS = 200
"""Turns with an excluded word whose text is read to see whether it is a flag there."""
_PLAIN_FILES = ("file", "license", "readme", "changelog", "copying", "notice")
"""How the name of a file ends that is a word (`Makefile`): only as part of a path does the index keep it as a name."""

Texts = Callable[[Iterable[int]], Mapping[int, str]]
"""Gives the texts of turns by place."""


def mentions_of(file: str, postings: Postings, texts: Texts) -> set[int]:
    """The turns that mention a file: the path as given or within a longer one, with either slash; where no name of the
    index has it (`.env`, a path with a space), the text as it stands."""
    paths = dict.fromkeys((file, file.replace("\\", "/"), file.replace("/", "\\")))
    known = {name for path in paths if is_name(path) for name in _names_of_file(path, postings)}
    places = postings.with_any_name(sorted(known))
    if not places or file.endswith(_PLAIN_FILES):
        return places.union(*(_with_text(path, postings, texts, MAX_MENTIONING) for path in paths))
    # A path that is longer than any name of the index is known by its pieces alone.
    last = core_of(re.split(r"[\\/]", file)[-1])
    if last != file and is_code_like(last):
        others = sorted(postings.with_any_name([last]) - places, reverse=True)[:MAX_MENTIONING]
        places |= {place for place, text in texts(others).items() if any(_has(text, core_of(path)) for path in paths)}
    return places


def taken_out(query: Query, postings: Postings, texts: Texts) -> set[int]:
    """The turns that have what the query excludes, as far as they are among the newest that may."""
    places = {place for word in query.excluded_words for place in _with_word(word, postings, texts)}
    for text in query.excluded_texts:
        has_words = bool(words_of(text) or cjk_runs(text))
        places |= _with_text(text, postings, texts, MAX_TAKEN_OUT) if has_words else _with_signs(text, postings)
    for path in query.excluded_paths:
        places |= _with_text(path, postings, texts, MAX_TAKEN_OUT, _names)
    return places


def _names_of_file(path: str, postings: Postings) -> list[str]:
    core = core_of(path)
    part = core if is_code_like(core) else path
    return [part, *postings.names_with(part, most=MAX_FILES)]


def _with_word(word: str, postings: Postings, texts: Texts) -> set[int]:
    """The turns with an excluded word, but for those of the newest that have it as a flag."""
    places = postings.places("words", stem(word))
    newest = sorted(places, reverse=True)[:MAX_FLAGS]
    return places - {place for place, text in texts(newest).items() if has_as_flag(fold(text), word)}


def _has(text: str, folded: str) -> bool:
    """Whether a folded text stands in another, white space and case aside."""
    return folded in " ".join(fold(text).split())


def _names(text: str, path: str) -> bool:
    return names_path(fold(text), path)


def _with_text(
    text: str, postings: Postings, texts: Texts, most: int, has: Callable[[str, str], bool] = _has
) -> set[int]:
    """The turns that have a folded text, as it stands if nothing else is said, of the newest `most` that have its
    words."""
    words = list(dict.fromkeys(words_of(text)))
    pieces = [piece for run in cjk_runs(text) for piece in cjk_pieces(run)]
    newest = sorted(postings.with_all(words, pieces, most), reverse=True)[:most]
    return {place for place, found in texts(newest).items() if has(found, text)}


def _with_signs(text: str, postings: Postings) -> set[int]:
    """The newest turns with a folded text of which the index keeps no word (`🎉`)."""
    # Closed where not all is read: a search that is cut off with a cursor open cannot end its transaction.
    with closing(postings.likely_texts(text)) as likely_texts:
        return set(islice((place for place, found in likely_texts if _has(found, text)), MAX_TAKEN_OUT))
