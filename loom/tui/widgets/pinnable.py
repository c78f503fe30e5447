"""What can be pinned from the transcript: the wish, and the key for it."""

from __future__ import annotations

from textual.message import Message
from textual.widget import Widget


class PinWanted(Message):
    """The person wants this turn to stay in the window, or, when it is pinned, to let it leave again."""

    def __init__(self, turn: int) -> None:
        super().__init__()
        self.turn = turn


class Pinnable(Widget):
    """A block of the transcript whose turn can be pinned. Stands behind the container among the bases: Textual takes
    the look of the first one only."""

    pinned = False
    """Whether it is; drawn beside the turn's number."""

    @property
    def pin_turn(self) -> int:
        """The turn that a pin of this block keeps; 0 before it is stored."""
        raise NotImplementedError

    def show_pinned(self, pinned: bool) -> None:
        """Draw whether it is pinned."""
        self.pinned = pinned
        self.set_class(pinned, "-pinned")
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key is named after what it does now."""
        return {"pin": not self.pinned, "unpin": self.pinned}.get(action, True)

    def action_pin(self) -> None:
        if self.pin_turn:
            self.post_message(PinWanted(self.pin_turn))
        else:
            self.notify("It is not stored yet: pin it when it has ended.", markup=False, timeout=3)

    def action_unpin(self) -> None:
        self.action_pin()
