"""Where a rewinding cuts: which exchanges the model no longer sees, and what is said of that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from loom.archive import ConversationStore, Turn
from loom.archive.records import ExchangeSize
from loom.archive.rewound import is_rewound, joined, others
from loom.context.edges import Beginning, cited, rewound_meta
from loom.cowork.typed import Typed, typed_in
from loom.errors import LoomError
from loom.state import SessionState, advance
from loom.text import plural, show_line
from loom.turn_numbers import Ranges

PAGE = 500
"""Turns, or exchanges, read at once."""
NAMED_FILES = 5
"""Files that are named; of more it is said how many."""


class CannotRewind(LoomError):
    """There is no such turn, or it was rewound past already."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A rewinding that is about to be stored."""

    words: str
    meta: str
    """`message_meta` of the turn that stores it."""
    typed: Typed | None
    """What the person typed to begin the exchange that is cut first; None if it began with something else."""


async def find_cut(store: ConversationStore, session_id: str, turn_number: int | None, now: Beginning) -> Cut:
    """The cut in front of the exchange of this turn, or, if None, of the newest one that is not rewound past.

    The window begins then as it did at that time, whatever was cleared, summed up or put back since. Raises
    CannotRewind.
    """
    rewound = now.edges.rewound
    if turn_number is None:
        exchange = await _newest(store, session_id, rewound)
    else:
        exchange = await _exchange_of(store, session_id, turn_number, rewound)
    first = exchange.first_turn
    marks = await store.get_window_marks(session_id, 1, before=first)
    then = Beginning().moved_by(marks[0]) if marks else Beginning()
    last = await store.get_turn_count(session_id)
    after = joined(then.edges.rewound, first, last)
    cut = tuple(part for low, high in after for part in others(low, high, rewound))
    # What was rewound past behind the point is cited with it: one range instead of what lies around it.
    gone = joined(tuple(part for part in cut if part[1] < first), first, last)
    begun = await store.get_turn(session_id, first)
    return Cut(
        words=_words(first, gone, await _effects(store, session_id, cut)),
        meta=rewound_meta(now, then, first),
        typed=typed_in(begun) if begun is not None else None,
    )


async def _newest(store: ConversationStore, session_id: str, rewound: Ranges) -> ExchangeSize:
    before: int | None = None
    while page := await store.get_exchange_sizes(session_id, before, PAGE):
        for size in page:
            if not is_rewound(size.first_turn, rewound):
                return size
        before = page[-1].exchange
    raise CannotRewind("There is nothing left to rewind.", "/unrewind puts back what was rewound past.")


async def _exchange_of(store: ConversationStore, session_id: str, turn_number: int, rewound: Ranges) -> ExchangeSize:
    turn = await store.get_turn(session_id, turn_number)
    if turn is None:
        raise CannotRewind(
            f"There is no turn T{turn_number} here.", "/rewind T12 goes back to before the exchange of that turn."
        )
    [exchange] = await store.get_exchange_sizes(session_id, turn.exchange + 1, 1)
    if is_rewound(exchange.first_turn, rewound):
        raise CannotRewind(f"T{turn_number} was rewound past already.", "/unrewind puts it back.")
    return exchange


@dataclass(slots=True)
class _Effects:
    """What some turns did that stays as it is."""

    files: dict[str, None] = field(default_factory=dict)
    """Those that they changed, in the order in which they first did."""
    remembered: bool = False
    """Whether the memory, which the model goes on reading, was changed."""


async def _effects(store: ConversationStore, session_id: str, cut: Ranges) -> _Effects:
    state, effects = SessionState(), _Effects()
    for low, high in cut:
        for first in range(low, high + 1, PAGE):
            rows = await store.get_range(session_id, first, min(high, first + PAGE - 1))
            state = await asyncio.to_thread(_collect, state, rows, effects)
    return effects


def _collect(state: SessionState, rows: Sequence[Turn], effects: _Effects) -> SessionState:
    """The state after these turns, what they did put into `effects`: a state forgets all but the newest files."""
    for turn in rows:
        state = advance(state, [turn])
        effects.files.update((file.path, None) for file in state.files_touched if file.turn == turn.turn_number)
        effects.remembered |= turn.facts.get("action") == "remembered"
    return state


def _words(first: int, gone: Ranges, effects: _Effects) -> str:
    are, them = ("is", "it") if len(gone) == 1 and gone[0][0] == gone[0][1] else ("are", "them")
    left = f"{cited(gone)} {are} out of the window, kept in the archive; /unrewind puts {them} back"
    words = f"Rewound to before T{first}: {left}."
    if effects.remembered:
        words += " What was noted in the memory since stays there; /memory shows it."
    if not (files := list(effects.files)):
        return words
    named = ", ".join(show_line(path, 60) for path in files[:NAMED_FILES])
    more = f" and {plural(len(files) - NAMED_FILES, 'more file')}" if len(files) > NAMED_FILES else ""
    return f"{words} Not undone in the workspace: {named}{more}."
