"""The session state as lines for a person, every entry with its turn. The model gets the same entries as YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from loom.state import SessionState
from loom.state.model import Command, Constraint, ErrorResolved, FileTouched


@dataclass(frozen=True, slots=True)
class StateRow:
    """One line of the panel, not yet safe to draw."""

    text: str
    turn: int = 0
    """Where it comes from; 0 for a heading, and for the focus, which is the newest wish."""
    sign: str = ""
    bad: bool = False
    heading: bool = False


_ACTIONS = {"created": "+", "edited": "~", "deleted": "−"}
"""Signs, so that colours are not needed to tell them apart."""


def state_rows(state: SessionState) -> list[StateRow]:
    """Section by section, those with nothing in them left out; newest entries first."""
    return list(_rows(state))


def _rows(state: SessionState) -> Iterator[StateRow]:
    if state.current_focus:
        yield StateRow("Focus", heading=True)
        yield StateRow(state.current_focus)
    yield from _section("Constraints", (_constraint(each) for each in state.constraints))
    yield from _section("Decisions", (StateRow(each.text, each.turn) for each in state.key_decisions))
    yield from _section("Files", (_file(each) for each in state.files_touched))
    yield from _section("Commands", (_command(each) for each in state.commands))
    yield from _section("Errors and what mended them", (_error(each) for each in state.errors_resolved))
    yield from _section("Pins", (StateRow(each.text, each.turn, "◆") for each in state.pins))


def _section(name: str, rows: Iterable[StateRow]) -> Iterator[StateRow]:
    found = list(rows)
    if found:
        yield StateRow(f"{name} ({len(found)})", heading=True)
        yield from reversed(found)


def _constraint(each: Constraint) -> StateRow:
    instead = f" (instead of T{each.replaces})" if each.replaces is not None else ""
    return StateRow(f"{each.text}{instead}", each.turn, "!")


def _file(each: FileTouched) -> StateRow:
    return StateRow(each.path, each.turn, _ACTIONS[each.action])


def _command(each: Command) -> StateRow:
    if each.exit_code == 0:
        return StateRow(each.command, each.turn, "✓")
    ended = "did not end" if each.exit_code is None else f"exit {each.exit_code}"
    return StateRow(f"{each.command} ({ended})", each.turn, "✗", bad=True)


def _error(each: ErrorResolved) -> StateRow:
    mended = f"mended in {each.fixed_by}" if each.fixed_by else "no longer happens"
    return StateRow(f"{each.message} — {mended}; {each.command} passes since T{each.turn}", each.failed_turn, "✓")
