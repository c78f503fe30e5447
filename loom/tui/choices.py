"""What a person chose on a browsing screen, for the app to act on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewSession:
    """Start from nothing."""


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Go on with a session, or only read it; `turn` is where to look first, None for its end. `forked` says what it
    was just forked from."""

    session_id: str
    turn: int | None = None
    read_only: bool = False
    forked: str = ""


@dataclass(frozen=True, slots=True)
class Quit:
    """Leave without choosing."""


@dataclass(frozen=True, slots=True)
class JumpTo:
    """Show this turn in its transcript."""

    session_id: str
    turn_number: int


@dataclass(frozen=True, slots=True)
class AttachTurn:
    """Send this turn along with the next message."""

    session_id: str
    turn_number: int


@dataclass(frozen=True, slots=True)
class ForkAt:
    """Make a session that is this one up to and including the turn."""

    session_id: str
    turn_number: int


ArchiveResult = JumpTo | AttachTurn | ForkAt
PickerResult = NewSession | OpenSession | Quit | AttachTurn | ForkAt
