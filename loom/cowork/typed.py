"""What a person sends: a message for the model, or a command to run. Where both are kept as text (queue, history, what
is not sent yet) a `!` in front makes a command of it; a message that begins with one has a space before it."""

from __future__ import annotations

from dataclasses import dataclass

from loom.archive.records import Turn, TurnKind
from loom.attached import split_attached, with_attached
from loom.tools.mentions import without_files

MARK = "!"
_BETWEEN = "\x1e"
"""Stands in no text that was typed: a paste shows what it has of these."""
_HERE = "\x11"
"""Neither does this."""


@dataclass(frozen=True, slots=True)
class Typed:
    """One thing that was typed."""

    text: str
    is_command: bool = False

    @property
    def spelled(self) -> str:
        """As one text that `read_typed` understands."""
        if self.is_command:
            return f"{MARK}{self.text}"
        return f" {self.text}" if self.text.lstrip(" ").startswith(MARK) else self.text


def read_typed(spelled: str) -> Typed:
    """What this text spells."""
    if spelled.startswith(MARK):
        return Typed(spelled.removeprefix(MARK), is_command=True)
    return Typed(spelled.removeprefix(" ") if spelled.lstrip(" ").startswith(MARK) else spelled)


def typed_in(turn: Turn) -> Typed | None:
    """What the person typed in this turn; None when it is no turn of theirs."""
    if command := turn.person_command:
        return Typed(command, is_command=True)
    if turn.role == "user" and turn.kind is TurnKind.TEXT:
        return Typed(without_files(turn.content or ""))
    return None


def packed(*spelled: str) -> str:
    """Several pieces as one text to keep, for `unpacked` to take apart; blank ones are left out."""
    return _BETWEEN.join(text for text in spelled if text.strip())


def unpacked(text: str) -> list[str]:
    """The pieces of a text that was kept, in their order."""
    return [piece for piece in text.split(_BETWEEN) if piece.strip()]


def placed(spelled: str, place: int) -> str:
    """The text as one to keep, with the cursor behind `place` of its characters, for `read_placed`; a blank one stays
    blank, so that nobody keeps it."""
    if not spelled.strip():
        return spelled
    # The first one is the place: a text that came with its own keeps them all.
    place = 0 if _HERE in spelled else place
    return f"{spelled[:place]}{_HERE}{spelled[place:]}"


def read_placed(kept: str) -> tuple[str, int | None]:
    """A text that was kept, and how many of its characters were in front of the cursor; None where that was not
    kept, since it stood at the end."""
    place = kept.find(_HERE)
    return (kept, None) if place < 0 else (f"{kept[:place]}{kept[place + 1 :]}", place)


def joined(*spelled: str) -> str:
    """Several pieces as one text to go on with; blank ones are left out. One alone stays what it is; of several nothing
    is a command any more, and what was attached to any goes along behind all."""
    pieces = [text for text in spelled if text.strip()]
    if len(pieces) < 2:
        return "".join(pieces)
    words, attached = zip(*map(split_attached, pieces), strict=True)
    said = "\n\n".join(words)
    behind = "\n\n".join(filter(None, attached))
    return Typed(with_attached(said, behind) if behind else said).spelled
