"""From turns to state: one turn after the other, so that it cannot matter how they are batched.

Files and commands come from results. A result that states its facts suffices; for one that does not (a row
appended through the public interface), the call it answers is looked up in `SessionState.pending_calls`,
where calls wait for their results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.archive.rewound import is_rewound, rewound_after
from loom.state.calls import COMMAND_TOOLS, FILE_TOOLS, pending_calls, result_of
from loom.state.commands import ran
from loom.state.commits import committed
from loom.state.entries import put
from loom.state.files import touched
from loom.state.model import MAX_PENDING_CALLS, PendingCall, SessionState
from loom.state.pins import pinned
from loom.turn_numbers import Ranges


def advance(state: SessionState, turns: Sequence[Turn]) -> SessionState:
    """The state after these turns (ascending). Turns that it has seen already are ignored.

    It cannot go back: where `rewinds` says so it has to be made of the session's turns again.
    """
    for turn in turns:
        if turn.turn_number > state.last_turn:
            state = replace(_after(state, turn), last_turn=turn.turn_number)
    return state


def rewinds(state: SessionState, turns: Sequence[Turn]) -> bool:
    """Whether one of these turns, ascending, leaves others rewound past than the state knows."""
    marks = (rewound_after(turn) for turn in turns if turn.turn_number > state.last_turn)
    return any(rewound is not None and rewound != state.rewound for rewound in marks)


def not_rewound(turns: Iterable[Turn], rewound: Ranges) -> list[Turn]:
    """The turns that a state is made of where these are rewound past. What is pinned there stays pinned."""
    return [turn for turn in turns if turn.kind == TurnKind.NOTE or not is_rewound(turn.turn_number, rewound)]


def rebuild(turns: Iterable[Turn]) -> SessionState:
    """The state from nothing but the turns of a session, ascending."""
    every = list(turns)
    marks = (rewound_after(turn) for turn in reversed(every))
    rewound = next((ranges for ranges in marks if ranges is not None), ())
    return advance(SessionState(rewound=rewound), not_rewound(every, rewound))


def _after(state: SessionState, turn: Turn) -> SessionState:
    if turn.role == "user" and turn.kind == TurnKind.TEXT and turn.content:
        # Its patterns take 80 ms to compile: the first message pays, not the first paint.
        from loom.state.spoken import said

        return said(state, turn.content, turn.turn_number)
    if turn.kind == TurnKind.NOTE:
        return pinned(state, turn)
    if turn.role == "assistant" and turn.tool_calls:
        for call in pending_calls(turn):
            waiting = put(state.pending_calls, call, MAX_PENDING_CALLS, same=_answered_by(call.call_id))
            state = replace(state, pending_calls=waiting)
        return state
    if turn.role == "tool":
        return _result(state, turn)
    return state


def _result(state: SessionState, turn: Turn) -> SessionState:
    answered = _answered_by(turn.tool_call_id)
    call = next((waiting for waiting in state.pending_calls if answered(waiting)), None)
    if call is not None:
        state = replace(state, pending_calls=tuple(c for c in state.pending_calls if c is not call))
    if turn.tool_name in FILE_TOOLS and turn.status == TurnStatus.COMPLETE:
        return touched(state, result_of(turn, call), turn.turn_number)
    if turn.tool_name in COMMAND_TOOLS:
        return _command(state, turn, call)
    return state


def _command(state: SessionState, turn: Turn, call: PendingCall | None) -> SessionState:
    result = result_of(turn, call)
    # A failed result that states its command ran (it timed out, say); one that does not never started.
    ended = turn.status == TurnStatus.COMPLETE or (turn.status == TurnStatus.FAILED and "command" in result.facts)
    if not ended or not result.command:
        return state
    state = ran(state, result, turn.content or "", turn.turn_number)
    return committed(state, result, turn) if turn.status == TurnStatus.COMPLETE else state


def _answered_by(call_id: str | None) -> Callable[[PendingCall], bool]:
    return lambda call: call.call_id == call_id
