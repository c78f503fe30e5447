"""What a question says about the turn it looks for beside its words: who spoke, when, what kind of answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from loom.archive.search.dates import DateCue, date_cues
from loom.archive.search.marks import RULE_FACET, role_of
from loom.archive.search.postings import Mark, Postings
from loom.archive.search.query import Query
from loom.archive.search.stopwords import STOP_STEMS
from loom.archive.search.words import plain_words

_WHEN = re.compile(
    r"^\W*when\b|\b(?:since when|how long|(?:what|which) (?:date|day|month|year|time)|how many (?:days|weeks|months"
    r"|years))\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow (?:many|much|old|often|big|large|tall|far)\b", re.IGNORECASE)
_I_SAID = re.compile(
    r"\b(?:did|do|have|had|was|were|am) i\b|\bi(?:'ve|’ve| have| had)? (?:said|told|asked|mentioned|wanted|decided)\b",
    re.IGNORECASE,
)
_YOU_SAID = re.compile(
    r"\b(?:did|have|had|were) you\b|\byou(?:'ve|’ve| have| had)?(?: \w+)?"
    r" (?:said|suggest\w*|recommend\w*|propos\w*|advis\w*|told|explain\w*|gave|given|wrote|written)\b"
    r"|\byour (?:advice|suggestion|recommendation|proposal|answer)s?\b",
    re.IGNORECASE,
)
_LOOKS_BACK = re.compile(
    r"\b(?:did|have|has|had|was|were) (?:i|we|you|it|they|the|my|our|that|this)\b"
    r"|^\W*(?:when|why|where|who|how) (?:did|was)\b|\b(?:said|told|mentioned|decided|agreed|talked)\b",
    re.IGNORECASE,
)
"""Asks what was, not what to do."""
_LEAST_NAMED = 3
_MAX_WORDS = 24
"""Words of a query that may be a speaker's name: who pastes more asks for no person."""
_MOST_RULES_SEEN = 200
"""Standing instructions that are ranked for a question, the newest."""
_MOSTLY = 0.8


@dataclass(frozen=True, slots=True)
class Cues:
    """What ranking adds to the words."""

    dates: tuple[DateCue, ...] = ()
    wants_time: bool = False
    wants_number: bool = False
    wants_advice: bool = False
    """A question: what the user prefers, and their standing instructions, bear on its answer."""
    role: str | None = None
    """Who is likely to have said it."""
    said: frozenset[int] | None = None
    """The turns of the person who is named, where turns begin with their speaker (`James: …`)."""
    names: frozenset[str] = frozenset()
    """The words of the query that name a speaker; they say who, and little about what."""
    rules: frozenset[int] = frozenset()
    """The turns that give standing instructions, the newest of them, where the question is one that these bear on."""
    bearing: frozenset[int] = frozenset()
    """Those of them that have to do with what is asked."""


def cues_of(query: Query, postings: Postings, now: datetime) -> Cues:
    """The cues in a query; `now` is what relative dates count from."""
    text = query.text
    said, role, names = _speaker(text, postings)
    if role is None and said is None:
        role = _role(text)
    asks = query.is_question
    return Cues(
        dates=tuple(dict.fromkeys(date_cues(text, now))),
        wants_time=bool(_WHEN.search(text)),
        wants_number=bool(_HOW_MANY.search(text)),
        wants_advice=asks,
        role=role,
        said=said,
        names=names,
        rules=_rules(postings) if asks and not _LOOKS_BACK.search(text) else frozenset(),
    )


def _rules(postings: Postings) -> frozenset[int]:
    places = sorted(postings.places("facets", RULE_FACET), reverse=True)
    return frozenset(places[:_MOST_RULES_SEEN])


def _role(text: str) -> str | None:
    yours, mine = bool(_YOU_SAID.search(text)), bool(_I_SAID.search(text))
    if yours == mine:
        return None
    return "assistant" if yours else "user"


def _speaker(text: str, postings: Postings) -> tuple[frozenset[int] | None, str | None, frozenset[str]]:
    """The turns or the role of the one speaker whom a query names.

    A speaker is known by turns that begin with the name, or by being called by it: who is called `Melanie` by the
    user again and again, and hardly ever by the assistant, is the assistant.
    """
    said: set[int] = set()
    roles: set[str] = set()
    names: set[str] = set()
    words = [*dict.fromkeys(plain_words(text))][:_MAX_WORDS]
    words = [word for word in words if len(word) >= 3 and word.isalpha() and word not in STOP_STEMS]
    if not postings.has_any("facets", [facet for word in words for facet in (f"said:{word}", f"to:{word}")]):
        return None, None, frozenset()
    for word in words:
        spoken = postings.places("facets", f"said:{word}")
        if len(spoken) >= _LEAST_NAMED:
            said |= spoken
            names.add(word)
        elif other := _called(postings.marks(postings.places("facets", f"to:{word}"))):
            roles.add(other)
            names.add(word)
    if said:
        return (frozenset(said) if len(names) == 1 else None), None, frozenset(names)
    return None, (roles.pop() if len(roles) == 1 else None), frozenset(names)


def _called(marks: Mapping[int, Mark]) -> str | None:
    by_user = sum(role_of(mark.marks) == "user" for mark in marks.values())
    if len(marks) < _LEAST_NAMED or _MOSTLY > by_user / len(marks) > 1 - _MOSTLY:
        return None
    return "assistant" if by_user * 2 > len(marks) else "user"
