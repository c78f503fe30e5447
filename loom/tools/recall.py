"""The tool conversation_recall: what was said and done before, word for word, from the archive."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol

from loom.archive.errors import ArchiveDamaged
from loom.archive.records import Revision, SearchHit, SearchPage, Turn
from loom.archive.rewound import is_rewound
from loom.config import Settings
from loom.text import plural, storable
from loom.tools.offloop import in_thread
from loom.tools.outcome import ToolFailure, ToolOutcome
from loom.tools.recall_frame import Frame
from loom.tools.recall_hits import (
    NAME,
    RELATED,
    Key,
    Span,
    alone,
    blocks,
    brief,
    called,
    copied,
    elsewhere,
    matching,
    past,
    revised,
    short,
    wanted,
    without_copies,
    worth_showing,
)
from loom.tools.recall_text import Elsewhere, Recalled, call_text, calls_of, recalled
from loom.turn_numbers import Ranges

Action = Literal["search", "range", "tool_calls", "summary"]
Scope = Literal["session", "workspace", "all"]

USUAL, USUAL_BRIEF, MOST = 10, 25, 50
"""Results when no limit is given: so many with what stands beside them, and up to so many in all, those behind the
first in a few lines each. And the most that a limit may ask for."""
SMALL_ROOM = 2_000
"""Tokens. Of more than that an answer takes half when no limit is given."""

MOST_TURNS = 400
"""Turns that one range looks at."""

_MOST_TOOLS = 20
"""Tools that are named to a model that asked for another."""

_WIDTH: dict[str, int] = {"session": 0, "workspace": 1, "all": 2}
_PLACES = {"session": "this session", "workspace": "this workspace's sessions", "all": "all sessions"}

_NO_OFFSET = "offset is for one turn alone and was ignored."

_CITED = re.compile(r"\[?[Tt](?:urn )?#?([0-9]{1,7})\]?")
"""A query that is a turn's citation, as a model has it from an answer, a receipt or the person."""


class RecallSource(Protocol):
    """The archive, from where one session stands."""

    async def search(self, query: str, scope: Scope, limit: int) -> SearchPage:
        """Best first."""

    async def session_meant(self, reference: str, scope: Scope) -> tuple[str, str] | None:
        """The id and the whole reference of the only session within the scope that goes by one; None if there is
        none."""

    async def turns(self, session_id: str, first: int, last: int) -> list[Turn]:
        """Inclusive, ascending; those that there are."""

    async def turns_around(self, session_id: str, turn_number: int) -> list[Turn]:
        """The turn with one on either side, ascending."""

    async def tool_turns(self, name: str, limit: int) -> list[Turn]:
        """Results of one tool in this session, newest first."""

    async def tools(self) -> Sequence[str]:
        """The tools that have results in this session, those used most first."""

    async def call(self, session_id: str, tool_call_id: str, before: int) -> Turn | None:
        """The turn that asked for the call whose result is turn `before`."""

    async def summary(self) -> str:
        """The session's state and totals."""

    async def turn_count(self, session_id: str) -> int:
        """0 of a session that does not exist yet."""

    def session_id(self) -> str:
        """Of this session; empty before it exists."""

    def reference(self) -> str:
        """By which this session is cited; empty before it exists."""

    async def revisions(
        self, hits: Sequence[SearchHit], query: str, scope: Scope
    ) -> Mapping[tuple[str, int], Revision]:
        """Which of the hits a later message of the user's takes back, by session id and turn."""

    async def rewound(self, session_id: str) -> Ranges:
        """The turns of a session that the person rewound past."""

    async def nearest(self, query: str, scope: Scope) -> Sequence[str]:
        """Words in scope that are spelt nearly like those of a query, the most similar first."""


class Recall:
    def __init__(
        self,
        source: RecallSource,
        settings: Settings,
        count: Callable[[str], int],
        room: Callable[[], int] | None = None,
    ) -> None:
        """`room` gives the most tokens that the window has for one recall; the setting is the upper bound."""
        self._source = source
        self._most_tokens = settings.recall_tokens
        self._room = room
        self._widest = settings.recall_scope
        self._count = count

    @property
    def _budget(self) -> int:
        return self._most_tokens if self._room is None else min(self._most_tokens, self._room())

    async def conversation_recall(
        self,
        action: Action,
        query: str = "",
        tool_name: str = "",
        start_turn: int = 0,
        end_turn: int = 0,
        limit: int = 0,
        offset: int = 0,
        scope: Scope = "session",
        session: str = "",
    ) -> ToolOutcome:
        """Look up earlier turns, verbatim: everything ever said or done is kept.

        Args:
            action: search by words, range of turns, past tool_calls of one tool, or summary of the session.
            query: search: words (and others for the same), names or a "phrase". tool_calls: only calls with this text.
            tool_name: tool_calls: the tool.
            start_turn: range: first turn.
            end_turn: range: last turn; 0 is start_turn alone.
            limit: Most results; of one turn, most characters. 0 is the usual.
            offset: characters of that one turn to skip.
            scope: search: where.
            session: range: another one's reference.
        """
        if limit < 0 or offset < 0 or start_turn < 0 or end_turn < 0:
            raise ToolFailure("Turns, limit and offset count from 0 upwards.")
        if session and action != "range":
            raise ToolFailure("session is for range alone.", "Leave it out; scope says where search looks.")
        match action:
            case "search":
                return await self._search(storable(query).replace("\0", " ").strip(), scope, offset, limit)
            case "range":
                return await self._range(start_turn, end_turn, offset, limit, storable(session).strip())
            case "tool_calls":
                return await self._tool_calls(storable(tool_name).strip(), storable(query).strip(), offset, limit)
            case "summary":
                return await self._summary()
        raise ToolFailure(f"There is no action {action!r}.", "Use search, range, tool_calls or summary.")

    async def _search(self, query: str, scope: Scope, offset: int, limit: int) -> ToolOutcome:
        if not query:
            raise ToolFailure("search needs a query.", 'Give words, a name or a "phrase" that was said.')
        if scope not in _WIDTH:
            raise ToolFailure(f"There is no scope {scope!r}.", "Use session, workspace or all.")
        asked, scope = scope, scope if _WIDTH[scope] <= _WIDTH[self._widest] else self._widest
        notes = [] if asked == scope else [f"scope={asked} is not allowed here; searched {_PLACES[scope]}."]
        if offset:
            notes.append(_NO_OFFSET)
        most = min(limit or USUAL_BRIEF, MOST)
        page = await self._source.search(query, scope, most)
        hits = page.hits
        if page.fault:
            notes.append(storable(page.fault))
        if cited := _CITED.fullmatch(query):
            notes.append(f"{query} as a turn of this session: action=range start_turn={cited[1]}.")
        if page.waiting_turns:
            notes.append(f"{page.waiting_turns:,} older turns are still being indexed and were not searched.")
        notes += map(storable, page.doubts)
        if not hits:
            return await self._nothing_found(query, scope, page, notes)
        turns = await self._around(hits, await self._source.revisions(hits, query, scope), limit or USUAL)
        if not page.has_words:
            advice = await self._advice(query, scope, page)
            notes.insert(0, f"None has the words; each is only near in meaning. {advice}")
        related = called(hits).count(RELATED)
        found = plural(len(hits) - related, "match", "matches") + (
            f" and {plural(related, 'related turn')}" if related else ""
        )
        # So many were asked for: a model must not take them for all that there are.
        wider = f"; limit gives up to {MOST}" if most < MOST else ""
        more = f" There may be more{wider}." if len(hits) == most else ""
        notes.insert(0, f"{found} in {_PLACES[scope]}, numbered best first.{more}")
        room = self._budget if limit else min(self._budget, max(self._budget // 2, SMALL_ROOM))
        return await self._answer(turns, notes, len(hits) - related, room)

    async def _nothing_found(self, query: str, scope: Scope, page: SearchPage, notes: list[str]) -> ToolOutcome:
        count = await self._source.turn_count(self._source.session_id())
        where = f"{_PLACES[scope]} ({count:,} turns)" if scope == "session" else _PLACES[scope]
        searched = (
            f"Nothing in {where} matches {short(query)}; messages, tool names, arguments and outputs were searched."
        )
        advice = await self._advice(query, scope, page)
        content = self._frame().at_most(" ".join([searched, advice, *notes]))
        return ToolOutcome(content, {"action": "searched", "matches": 0})

    async def _advice(self, query: str, scope: Scope, page: SearchPage) -> str:
        """What else to try where nothing has the words."""
        advice = "Try other or fewer words, part of a name, or tool_calls."
        if page.obstacles:
            advice = " ".join(map(storable, page.obstacles))
        elif near := await self._source.nearest(query, scope):
            advice = f"Spelt nearly like it, and there: {', '.join(map(short, near))}. {advice}"
        wider = [name for name in ("workspace", "all") if _WIDTH[scope] < _WIDTH[name] <= _WIDTH[self._widest]]
        return f"{advice} Or scope={wider[0]}." if wider else advice

    async def _around(
        self, hits: Sequence[SearchHit], revisions: Mapping[tuple[str, int], Revision], whole: int
    ) -> list[Recalled]:
        """Each hit with what stands beside it, those that touch each other together, with the best match first. Behind
        the first `whole` a hit is brief and stands alone, unless it, or its copy in a fork, stands beside one of those.
        """
        found: dict[Key, Recalled] = {}
        same: dict[Key, object] = {}
        spans: list[Span] = []
        for rank, (hit, name) in enumerate(zip(hits, called(hits), strict=True), 1):
            key = (hit.session_id, hit.turn_number)
            where = elsewhere(hit, self._source.session_id())
            is_whole = rank <= whole or key in found
            near = await self._near(hit, is_alone=not is_whole)
            mine = next((turn for turn in near if turn.turn_number == hit.turn_number), None)
            if mine is None or not is_whole:
                own = alone(hit, mine, rank, name, where)
            else:
                own = matching(mine, hit, rank, name, await self._arguments(mine), where)
            is_whole = is_whole or (mine is not None and copied(mine) in same.values())
            for turn in near:
                same[turn.session_id, turn.turn_number] = copied(turn)
                if turn is not mine and worth_showing(turn):
                    beside = recalled(turn, await self._arguments(turn), where)
                    found.setdefault((turn.session_id, turn.turn_number), beside)
            found[key] = revised(own if is_whole else brief(own), hit, revisions.get(key))
            numbers = [hit.turn_number, *(turn.turn_number for turn in near)]
            spans.append((hit.session_id, min(numbers), max(numbers)))
        shown = await self._marked(without_copies(found, same))
        return [turn for block in blocks(shown, spans) for turn in block]

    async def _marked(self, found: Mapping[Key, Recalled]) -> dict[Key, Recalled]:
        """The turns, with it said of each that the person rewound past it."""
        rewound = {session: await self._source.rewound(session) for session in {session for session, _ in found}}
        return {
            (session, number): past(turn) if is_rewound(number, rewound[session]) else turn
            for (session, number), turn in found.items()
        }

    async def _near(self, hit: SearchHit, *, is_alone: bool) -> list[Turn]:
        """The turn of a hit, with its neighbours unless it stands alone or one of them is damaged; none where it is
        damaged itself: the hit has the words."""
        if not is_alone:
            with suppress(ArchiveDamaged):
                return await self._source.turns_around(hit.session_id, hit.turn_number)
        with suppress(ArchiveDamaged):
            return await self._source.turns(hit.session_id, hit.turn_number, hit.turn_number)
        return []

    async def _range(self, first: int, last: int, offset: int, limit: int, reference: str) -> ToolOutcome:
        session_id, reference = await self._meant(reference)
        where = Elsewhere(reference) if session_id != self._source.session_id() else None
        count = await self._source.turn_count(session_id)
        its = f"Session {short(reference)}" if where else "This session"
        if first < 1:
            raise ToolFailure("range needs start_turn.", f"{its} has turns 1 to {count}.")
        last = last or first
        is_one = last == first
        first, last = min(first, last), max(first, last)
        if first > count:
            raise ToolFailure(f"There is no turn {first}.", f"{its} has turns 1 to {count}.")
        notes = [] if last <= count else [f"The session ends with turn {count}."]
        last = min(last, count, first + limit - 1 if limit and not is_one else last)
        if last - first >= MOST_TURNS:
            notes.append(f"Of turns {first}–{last} the last {MOST_TURNS} were looked at.")
            first = last - MOST_TURNS + 1
        found = {
            (session_id, turn.turn_number): recalled(turn, await self._arguments(turn), where)
            for turn in await self._source.turns(session_id, first, last)
        }
        turns = list((await self._marked(found)).values())
        if is_one and turns:
            frame = self._frame()
            return await in_thread(lambda: frame.of_piece(turns[0], offset, limit, notes))
        if offset:
            notes.append(_NO_OFFSET)
        return await self._answer(turns, notes, len(turns))

    async def _meant(self, reference: str) -> tuple[str, str]:
        """The id and the reference of the session that is meant; this one where none is named. Raises ToolFailure."""
        own = (self._source.session_id(), self._source.reference())
        if not reference or reference.lower() == own[1]:
            return own
        if self._widest == "session":
            raise ToolFailure("Only this session can be recalled here.", "Leave session out.")
        found = await self._source.session_meant(reference, self._widest)
        if found is None:
            raise ToolFailure(
                f"Of {_PLACES[self._widest]} none goes by {short(reference)}.", "Give the reference as a match has it."
            )
        return found

    async def _tool_calls(self, name: str, query: str, offset: int, limit: int) -> ToolOutcome:
        if not name:
            raise ToolFailure("tool_calls needs tool_name.", "Name a tool, such as shell_execute or read_file.")
        session_id = self._source.session_id()
        most = min(limit or USUAL, MOST)
        found: dict[Key, Recalled] = {}
        for turn in await self._source.tool_turns(name, MOST_TURNS if query else most):
            arguments = await self._arguments(turn)
            call = call_text({"name": name, "arguments": arguments})
            if query.casefold() in f"{call}\n{turn.content or ''}".casefold():
                found[session_id, turn.turn_number] = wanted(recalled(turn, arguments), query, len(found) + 1)
            if len(found) == most:
                break
        if not found:
            with_it = f" with {short(query)}" if query else ""
            words = f"No call of {short(name)}{with_it} has a result in this session. search looks through everything."
            if there := [tool for tool in await self._source.tools() if tool != NAME]:
                words += f" Tools with results here: {', '.join(map(short, there[:_MOST_TOOLS]))}."
            return ToolOutcome(self._frame().at_most(words), {"matches": 0})
        turns = list((await self._marked(found)).values())
        return await self._answer(turns, ["Newest first.", *([_NO_OFFSET] if offset else [])], len(turns))

    async def _arguments(self, turn: Turn) -> Mapping[str, Any] | str | None:
        """What the call was given that a tool turn answers; None where the turn that has it is damaged."""
        if turn.role != "tool" or turn.tool_call_id is None:
            return None
        try:
            asked = await self._source.call(turn.session_id, turn.tool_call_id, turn.turn_number)
        except ArchiveDamaged:
            return None
        calls = calls_of(asked) if asked else []
        return next((call.get("arguments") for call in calls if call.get("id") == turn.tool_call_id), None)

    async def _answer(
        self, turns: Sequence[Recalled], notes: Sequence[str], matches: int, most: int = 0
    ) -> ToolOutcome:
        """The turns within so many tokens, or in the whole room, whatever they are."""
        frame = self._frame(most)
        return await in_thread(lambda: frame.of_turns(turns, notes, matches))

    def _frame(self, most: int = 0) -> Frame:
        return Frame(self._source.reference(), most or self._budget, self._count)

    async def _summary(self) -> ToolOutcome:
        text = storable(await self._source.summary())
        frame = self._frame()
        content = await in_thread(lambda: frame.at_most(text))
        return ToolOutcome(content, {"truncated": len(content) < len(text)})
