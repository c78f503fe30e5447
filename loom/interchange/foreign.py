"""What readers of other agents' files share: nothing in such a file is promised, so that everything is looked at before
it is taken."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from loom.archive.clock import normalised, now
from loom.archive.records import NewSession, NewTurn, TurnKind, TurnStatus
from loom.interchange.json_bounds import is_deep, is_swollen
from loom.interchange.reading import ReadSession, ReadTurn
from loom.interchange.source import ImportFailed, Source

_LONGEST_KEY = 200
_LONGEST_NAME = 64
_ODD = re.compile(r"[^A-Za-z0-9_-]")
"""Anthropic and OpenAI refuse requests in which the name or the id of a call is spelled, or is longer, otherwise."""
_NUMBER_LIMIT = 10**9
"""No response takes more tokens; the sums of what a hostile file says would not fit the archive."""
_EPOCH = "1970-01-01T00:00:00.000000Z"
_MOST_SKIPPED = 30
_MOST_CALLS = 10_000
"""So many calls may wait for their results."""


class NothingSaid(ImportFailed):
    """A session without a turn."""


@dataclass
class Gathered:
    """What is known of a session as its turns are read, one after the other."""

    agent: str
    """Whose it is, in words."""
    skipped: Counter[str] = field(default_factory=Counter)
    """What is not taken over, in words, and how often."""
    tools: dict[str, str] = field(default_factory=dict)
    """The tool of each call that waits for its result, by its id."""
    session_id: str = ""
    """As the agent has it; one that is no UUID stands for one."""
    title: str = ""
    folder: str = ""
    model: str = ""
    """Of the newest answer."""
    when: str | None = None
    """The newest time that a line had: lines without one are taken for as old."""
    first_words: str = ""
    """The first line of the person's first message, which is the title if there is no other."""

    def objects(self, source: Source) -> Iterator[Mapping[str, Any]]:
        """The objects in the lines of the file; the last line may be torn."""
        for _, made in self.numbered(source):
            yield made

    def numbered(self, source: Source) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The same, each with the number of its line, from 0."""
        for number, line in enumerate(source.lines()):
            if line is None:
                self.leave_out("a line that is too long")
            elif line.strip():
                made = loaded(line)
                if isinstance(made, dict):
                    self.at(made.get("timestamp"))
                    yield number, made
                else:
                    self.leave_out("a line that is not whole")

    def leave_out(self, what: str, times: int = 1) -> None:
        """Count what is not taken over."""
        is_listed = what in self.skipped or len(self.skipped) < _MOST_SKIPPED
        self.skipped[what if is_listed else "other things"] += times

    def at(self, moment: object) -> None:
        """The time from here on, if it is one."""
        self.when = moment_of(moment) or self.when

    def named(self, call: str, tool: object) -> str:
        """Remember the tool of a call; its name."""
        name = text_of(tool) or "unknown"
        if len(self.tools) < _MOST_CALLS:
            self.tools[call] = name
        return name

    def answered(self, call: str) -> str:
        """The tool of the call that a result is of."""
        return self.tools.pop(call, "unknown")


Walk = Callable[[Gathered], Iterator[tuple[str, NewTurn]]]
"""Reads a session from its beginning: each turn with a key that is the same whenever the file is read, and all else
into what it is given."""


def read_with(agent: str, walk: Walk, *, beside: tuple[Path, ...] = (), remark: str = "") -> ReadSession:
    """The session that a walk reads. Raises NothingSaid, or ImportFailed when it has no id."""
    gathered = Gathered(agent)
    started, count = _EPOCH, 0
    for read in _placed(gathered, walk):
        started = (read.turn.created_at or _EPOCH) if not count else started
        count += 1
    if not count:
        raise NothingSaid(f"Nothing was said in that session of {agent}.")
    if not gathered.session_id:
        raise ImportFailed(f"That session of {agent} has no id.")
    identity = identity_of(agent, gathered.session_id)
    session = NewSession(
        id=str(identity),
        # Taken if it is free; a letter in front, as all digits mean a place in the list.
        reference=f"c{identity.hex[-3:]}",
        title=gathered.title.strip() or gathered.first_words,
        workspace_path=gathered.folder,
        workspace_commit=None,
        model_name=gathered.model or "unknown",
        system_prompt="",
        started_at=started,
        parent_id=None,
        fork_turn=None,
    )
    return ReadSession(
        session,
        count,
        lambda: _placed(Gathered(agent), walk),
        skipped=dict(gathered.skipped),
        remark=remark,
        beside=beside,
    )


def identity_of(agent: str, session_id: str) -> UUID:
    """The id that a session of an agent has here: its own, or one that is made of it."""
    with suppress(ValueError):
        return UUID(session_id)
    return uuid5(NAMESPACE_OID, f"{agent}/{session_id}".encode("utf-8", "replace").decode())


def _placed(gathered: Gathered, walk: Walk) -> Iterator[ReadTurn]:
    exchange, slug = 0, gathered.agent.lower().replace(" ", "-")
    for key, turn in walk(gathered):
        exchange += turn.role == "user"
        if turn.role == "user" and not gathered.first_words and turn.content:
            gathered.first_words = _first_line(turn.content)
        short = key if len(key) <= _LONGEST_KEY else uuid5(NAMESPACE_OID, repr(key)).hex
        # What says that it is yet to come would be the newest of the list for ever.
        when = min(turn.created_at or gathered.when or _EPOCH, now())
        placed = replace(turn, append_key=f"{slug}/{short}", created_at=when)
        yield ReadTurn(placed, exchange)


def _first_line(content: str) -> str:
    """What may name a session: not what an agent writes in the person's name, which begins with a tag."""
    line = content[:2000].strip().partition("\n")[0].strip()
    return "" if line.startswith("<") else line


def said(role: str, words: str) -> NewTurn:
    """Words of the person or of the model."""
    return NewTurn(role="user" if role == "user" else "assistant", content=words)


def thought(words: str) -> NewTurn:
    """What the model thought."""
    return NewTurn(role="assistant", kind=TurnKind.THINKING, content=words)


def note(words: str) -> NewTurn:
    """What the person sees and no model is sent."""
    return NewTurn(role="system", kind=TurnKind.NOTE, content=words)


def called(call: str, tool: str, arguments: dict[str, Any] | str) -> NewTurn:
    """A call of a tool."""
    asked = {"id": _spelled(call), "name": _spelled(tool), "arguments": arguments}
    return NewTurn(role="assistant", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[asked])


def given_back(call: str, tool: str, words: str, *, failed: bool = False) -> NewTurn:
    """What a call gave back."""
    status = TurnStatus.FAILED if failed else TurnStatus.COMPLETE
    return NewTurn(
        role="tool",
        kind=TurnKind.TOOL_RESULT,
        status=status,
        content=words,
        tool_call_id=_spelled(call),
        tool_name=_spelled(tool),
    )


def _spelled(name: str) -> str:
    """The id or the name of a call, as every provider takes it: a session may go on with another one than it had."""
    plain = _ODD.sub("_", name) or "unknown"
    if len(plain) <= _LONGEST_NAME:
        return plain
    return f"{plain[: _LONGEST_NAME - 17]}-{uuid5(NAMESPACE_OID, repr(name)).hex[:16]}"


def loaded(text: str) -> object:
    """What a JSON text holds; None if it is none, or opens too much, or is nested deeper than can be written again. A
    number that is none for others (NaN, 1e999) is its text."""
    if is_swollen(text):
        return None
    try:
        made: object = json.loads(text, parse_constant=str, parse_float=_float)
    except (ValueError, RecursionError):
        return None
    return None if is_deep(made) else made


def dumped(value: object) -> str:
    """A value of JSON as text."""
    return json.dumps(value, ensure_ascii=False)


def _float(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def moment_of(value: object) -> str | None:
    """A moment as the archive writes it: ISO 8601, or seconds or milliseconds since 1970; None if it is none."""
    try:
        if isinstance(value, str):
            return normalised(value)
        if type(value) in (int, float) and value:
            number = float(value)  # type: ignore[arg-type]
            return normalised(datetime.fromtimestamp(number / 1000 if abs(number) > 1e11 else number, UTC))
    except (ValueError, OverflowError, OSError):
        pass
    return None


def text_of(value: object) -> str:
    """The text, or none."""
    return value if isinstance(value, str) else ""


def number_of(value: object) -> int:
    """The whole number, or 0."""
    return value if type(value) is int and 0 <= value <= _NUMBER_LIMIT else 0


def object_of(value: object) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def words_of(content: object) -> str:
    """The words of a content that is text, or a list of parts of which some have text."""
    if isinstance(content, str):
        return content
    parts = (part if isinstance(part, str) else text_of(object_of(part).get("text")) for part in list_of(content))
    return "\n".join(part for part in parts if part)


def arguments_of(raw: object) -> dict[str, Any] | str:
    """The arguments of a call: an object, or the JSON text of one; where it is none of an object, the text."""
    if isinstance(raw, dict):
        return raw
    made = loaded(text_of(raw))
    return made if isinstance(made, dict) else text_of(raw)
