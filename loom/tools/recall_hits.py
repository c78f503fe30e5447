"""What a search found, ready to be shown: where the match is, what stands beside it, which turns belong together."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from loom.archive.records import Revision, SearchHit, Turn, TurnKind
from loom.archive.references import named_references
from loom.text import storable
from loom.times import local_time
from loom.tools.recall_budget import SHORT
from loom.tools.recall_text import MAX_NAME, Elsewhere, Recalled, calls_of, made_head, recalled, status_of, text_of

NAME = "conversation_recall"
"""The tool whose own answers are never worth recalling."""
RELATED = "related"
"""What a hit is called that only stands near such as have the words."""
REWOUND = "rewound past"
"""What the head of a turn says that is no part of the conversation any more."""
_MOST_SPANS = 4
"""Ranges, and sessions, that a line names."""


def elsewhere(hit: SearchHit, session_id: str) -> Elsewhere | None:
    """Where a hit is, as seen from a session; None if it is there."""
    return None if hit.session_id == session_id else Elsewhere(hit.session_reference, hit.session_title)


def called(hits: Sequence[SearchHit]) -> list[str]:
    """What each hit is called: `match 1`, `match 2` in their order, and `related` what only stands near such. Where
    nothing but filters was asked for, no hit has words, and each is a match."""
    words = any(hit.highlights or hit.by_meaning for hit in hits)
    names: list[str] = []
    number = 0
    for hit in hits:
        if words and not (hit.highlights or hit.by_meaning):
            names.append(RELATED)
        else:
            number += 1
            names.append(f"match {number}, near in meaning" if hit.by_meaning else f"match {number}")
    return names


def matching(
    turn: Turn, hit: SearchHit, rank: int, name: str, arguments: Mapping[str, Any] | str | None, where: Elsewhere | None
) -> Recalled:
    """The turn of a hit; `name` as it is `called`."""
    whole = recalled(turn, arguments, where)
    return replace(
        whole,
        head=f"{whole.head} {name}{_also(hit)}",
        match=_where(whole.text, hit),
        rank=rank,
        related=name == RELATED,
    )


def wanted(turn: Recalled, query: str, rank: int) -> Recalled:
    """A result of a tool, the first place of `query` in what it says as its match; its beginning where its call alone
    has the words."""
    if not query:
        return turn
    found = re.search(re.escape(query), turn.text, re.IGNORECASE)
    return replace(turn, match=found.span() if found else (0, 0), rank=rank)


def alone(hit: SearchHit, turn: Turn | None, rank: int, name: str, where: Elsewhere | None) -> Recalled:
    """A hit as far as the search itself knows it, with the text of its turn where that could be read: a range gives
    calls as we write them, and a cut text is read on in it. `name` as it is `called`."""
    tool = (hit.tool_name or "?")[:MAX_NAME]
    who = f"tool:{tool}" if hit.role == "tool" else "pin:" if hit.is_pin else f"{hit.role}:"
    head = made_head(hit.turn_number, who, hit.created_at, status_of(hit), str(where or ""))
    text = storable(hit.content) if turn is None else text_of(turn)
    return Recalled(
        hit.turn_number,
        f"{head} {name}{_also(hit)}",
        text,
        match=_where(text, hit),
        rank=rank,
        related=name == RELATED,
        from_tool=hit.role == "tool",
        session=where.reference if where else "",
    )


def brief(turn: Recalled) -> Recalled:
    """A match as a line or three around what was looked for."""
    return replace(turn.around_match(SHORT), is_brief=True)


def revised(turn: Recalled, hit: SearchHit, revision: Revision | None) -> Recalled:
    """The turn with a pointer to the later message that takes it back, if there is one."""
    if revision is None:
        return turn
    where = "" if revision.session_id == hit.session_id else f" in session {revision.session_reference}"
    when = local_time(revision.created_at)[:10]
    return replace(
        turn,
        head=f"{turn.head}; see also T{revision.turn_number}{where}: later decision on the same subject",
        note=f"[T{revision.turn_number}{where}, {when}: {short(revision.passage, 200)}]",
    )


def past(turn: Recalled) -> Recalled:
    """The turn, with it said that the person rewound past it."""
    return replace(turn, head=f"{turn.head}; {REWOUND}", rewound=True)


def _also(hit: SearchHit) -> str:
    """Where else a hit is."""
    return f"; also in {named_references(hit.also_in)}" if hit.also_in else ""


def _where(text: str, hit: SearchHit) -> tuple[int, int]:
    """Where in the text the best match is: the highlight in the middle of the snippet, which was cut out around it. The
    first one may be a word that stands far before a phrase."""
    snippet = storable(hit.snippet)
    first, last = min(hit.highlights, key=lambda span: abs(sum(span) - len(snippet)), default=(0, 0))
    found = snippet[first:last]
    if found:
        # The snippet may begin and end with marks that are not in the text: compare from the highlight on.
        for length in (len(snippet), last + 40, last):
            wanted = snippet[first : min(length, len(snippet))].rstrip("…. \n")
            # The archive has the strings of a call's arguments as they are, we as JSON.
            for written in (str, _as_json):
                at = text.find(written(wanted)) if wanted else -1
                if at >= 0:
                    return at, at + len(written(found))
        at = text.casefold().find(found.casefold())
        if at >= 0:
            return at, at + len(found)
    return 0, 0


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def worth_showing(turn: Turn) -> bool:
    """As a neighbour: what was said, not what was looked up before, and nothing that is loom's own."""
    looked_up = NAME in (turn.tool_name, *(call.get("name") for call in calls_of(turn)))
    return not looked_up and turn.kind not in (TurnKind.RECEIPT, TurnKind.NOTE, TurnKind.THINKING)


Key = tuple[str, int]
"""A session's id and a turn's number."""
Span = tuple[str, int, int]
"""A session's id, and the first and last of some of its turns."""


def copied(turn: Turn) -> object:
    """What a turn has in common with its copies in forks, and with no other."""
    return turn.turn_number, turn.created_at, turn.content


def without_copies(found: Mapping[Key, Recalled], same: Mapping[Key, object]) -> dict[Key, Recalled]:
    """The turns found, of those that forks have in common each once: a match before what only stands beside one.
    `same` has what each is `copied` by."""
    first: dict[object, Key] = {}
    for key in sorted(found, key=lambda key: found[key].match is None):
        first.setdefault(same.get(key, key), key)
    return {key: found[key] for key in found if found[key].match is not None or first[same.get(key, key)] == key}


def blocks(found: Mapping[Key, Recalled], spans: Iterable[Span]) -> list[list[Recalled]]:
    """The turns found, by session id and number, in ascending order: those of spans that touch each other together,
    and the block with the best match first. Every span has a match."""
    joined: list[Span] = []
    for session, first, last in sorted(spans):
        if joined and joined[-1][0] == session and joined[-1][2] >= first - 1:
            _, begin, end = joined.pop()
            joined.append((session, begin, max(end, last)))
        else:
            joined.append((session, first, last))
    made = [
        [turn for (session, number), turn in sorted(found.items()) if session == where and first <= number <= last]
        for where, first, last in joined
    ]
    return sorted(made, key=lambda block: min(turn.rank for turn in block if turn.match is not None))


def ranges(turns: Iterable[Recalled]) -> str:
    """`T3, T7–T9; session k3f9: T2`, a few of them."""
    numbers: dict[str, list[int]] = {}
    for turn in turns:
        numbers.setdefault(turn.session, []).append(turn.turn_number)
    shown = [
        f"session {session}: {_spans(own)}" if session else _spans(own) for session, own in sorted(numbers.items())
    ]
    more = len(shown) - _MOST_SPANS
    return "; ".join(shown[:_MOST_SPANS]) + (f"; and of {more} more sessions" if more > 0 else "")


def _spans(numbers: Sequence[int]) -> str:
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    words = [f"T{first}" if first == last else f"T{first}–T{last}" for first, last in spans[:_MOST_SPANS]]
    more = len(spans) - _MOST_SPANS
    return ", ".join(words) + (f" and {more} more ranges" if more > 0 else "")


def short(text: str, limit: int = 100) -> str:
    line = " ".join(storable(text).split())
    return f"“{line if len(line) <= limit else line[: limit - 1] + '…'}”"
