"""Pinning: what the person or the model wants to keep in the window, kept as notes of the archive."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from loom.archive import ConversationStore, NewTurn, Turn
from loom.archive.records import TurnKind
from loom.context.pins import Pinned
from loom.cowork.plain import plain
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import Recorder
from loom.errors import LoomError
from loom.state.model import MAX_PINS, Pin, PinnedBy
from loom.state.pins import MAX_PIN_CHARS, pin_meta, unpin_meta
from loom.text import show_line, storable
from loom.tools.outcome import ToolFailure

_LINE_CHARS = 300
"""What a pin's note and the state say of a pinned turn; the turn has the rest."""

_PINNED: dict[PinnedBy, str] = {"person": "Pinned", "model": "Pinned by the model"}
_UNPINNABLE = (TurnKind.NOTE, TurnKind.RECEIPT, TurnKind.FILE)


class CannotPin(LoomError):
    """A pin that cannot be set or taken away; nothing has changed."""


class PinnedWindow(Protocol):
    """The window, as far as pins go."""

    @property
    def pin_room(self) -> int:
        """The most tokens that pins may take together."""

    def pins_need(self, pins: Sequence[Pinned]) -> int:
        """Tokens that these would take if all of their turns had left the window."""

    def set_pins(self, pins: Sequence[Pinned]) -> None:
        """These stand in the window from the next request on."""


class PinBoard:
    """The pins of one session. They stand in its state, which is made of its turns."""

    def __init__(
        self,
        store: ConversationStore,
        recorder: Recorder,
        record: SessionRecord,
        window: Callable[[], PinnedWindow | None],
        changed: Callable[[], None],
    ) -> None:
        """`window` is None until the model is ready; `changed` is called after the pins have."""
        self._store = store
        self._recorder = recorder
        self._record = record
        self._window = window
        self._changed = changed
        self._words: dict[int, Pinned] = {}
        self._lock = asyncio.Lock()

    @property
    def pins(self) -> tuple[Pin, ...]:
        """Oldest first."""
        return self._record.state.pins

    async def pin_turn(self, turn_number: int, by: PinnedBy = "person") -> Pin:
        """Keep this turn in the window. Raises NothingSaid, CannotPin, NotSaved or an ArchiveError."""
        async with self._lock:
            session_id = self._record.require().id
            if any(pin.turn == turn_number for pin in self.pins):
                raise CannotPin(f"T{turn_number} is pinned already.")
            turn = await self._store.get_turn(session_id, turn_number) if turn_number > 0 else None
            if turn is None:
                raise CannotPin(f"There is no T{turn_number} in this session.")
            pinned = _pinned_turn(turn)
            self._check(pinned)
            line = show_line(_named(turn), _LINE_CHARS)
            await self._store_note(f"{_PINNED[by]} T{turn_number}: {line}", pin_meta(line, turn_number, by))
            return next(pin for pin in self.pins if pin.turn == turn_number)

    async def pin_text(self, text: str, by: PinnedBy = "person") -> Pin:
        """Keep these words in the window. Raises NothingSaid, CannotPin, NotSaved or an ArchiveError."""
        text = storable(text).strip()
        async with self._lock:
            self._record.require()
            if not text:
                raise CannotPin("There is nothing to pin.", "Give a turn (T12) or some words.")
            if len(text) > MAX_PIN_CHARS:
                raise CannotPin(
                    f"Pinned words have at most {MAX_PIN_CHARS:,} characters; these have {len(text):,}.",
                    "Say them in a message and pin its turn.",
                )
            if any(pin.text == text for pin in self.pins):
                raise CannotPin("These words are pinned already.")
            # The note's own number is not known yet; any will do to count with.
            self._check(Pinned(2**31, f"pinned by the {by}", text))
            note = await self._store_note(f"{_PINNED[by]}: {text}", pin_meta(text, None, by))
            return next(pin for pin in self.pins if pin.turn == note.turn_number)

    async def unpin(self, pin: Pin) -> None:
        """Let it leave the window again. Raises CannotPin when it is not pinned, NotSaved or an ArchiveError."""
        async with self._lock:
            await self._unpin(pin)

    async def unpin_turn(self, turn_number: int, *, only_by: PinnedBy | None = None) -> Pin:
        """The same by number. With `only_by`, pins of the other are left alone. Raises what `unpin` does."""
        async with self._lock:
            pin = next((pin for pin in self.pins if pin.turn == turn_number), None)
            if pin is None:
                raise CannotPin(f"T{turn_number} is not pinned.", f"Pinned: {self._numbers()}.")
            if only_by is not None and pin.by != only_by:
                raise CannotPin(f"T{turn_number} was pinned by the {pin.by}, who alone may unpin it.")
            await self._unpin(pin)
            return pin

    async def _unpin(self, pin: Pin) -> None:
        if pin not in self.pins:
            raise CannotPin(f"T{pin.turn} is not pinned.", f"Pinned: {self._numbers()}.")
        line = show_line(pin.text, _LINE_CHARS)
        await self._store_note(f"Unpinned T{pin.turn}: {line}", unpin_meta(pin))

    async def show(self, window: PinnedWindow) -> None:
        """Let this window hold what is pinned, the words read from the archive. Raises an ArchiveError."""
        session_id = self._record.require().id
        for pin in self.pins:
            if pin.turn not in self._words:
                turn = await self._store.get_turn(session_id, pin.turn)
                self._words[pin.turn] = _pinned_words(pin, turn)
        window.set_pins(self._all())

    def _all(self) -> list[Pinned]:
        return [self._words[pin.turn] for pin in self.pins if pin.turn in self._words]

    def _check(self, new: Pinned) -> None:
        if len(self.pins) >= MAX_PINS:
            raise CannotPin(f"{MAX_PINS} pins stand already, which is the most.", "Unpin one first: /pins lists them.")
        window = self._window()
        if window is None:
            return
        have, need = window.pins_need(self._all()), window.pins_need([*self._all(), new])
        if need > window.pin_room:
            raise CannotPin(
                f"Pins may take {window.pin_room:,} tokens of this window and take {have:,}; with this one they would "
                f"take {need:,}.",
                "Unpin one first (/pins lists them), or pin fewer words.",
            )

    async def _store_note(self, words: str, meta: str) -> Turn:
        # Storing announces the note, and what is announced advances the state.
        stored = await self._recorder.store(
            [NewTurn(role="system", kind=TurnKind.NOTE, content=words, message_meta=meta)]
        )
        if (window := self._window()) is not None:
            await self.show(window)
        await self._record.refresh()
        await self._record.save_state()
        self._changed()
        return stored[0]

    def _numbers(self) -> str:
        return ", ".join(f"T{pin.turn}" for pin in self.pins) or "nothing"


@dataclass(frozen=True, slots=True)
class ModelPins:
    """The `PinSource` of the tool: what the model pins is marked as its own, and it unpins nothing else."""

    board: PinBoard

    async def pin_turn(self, turn: int) -> int:
        try:
            return (await self.board.pin_turn(turn, "model")).turn
        except CannotPin as error:
            raise ToolFailure(error.what, error.remedy) from error

    async def pin_text(self, text: str) -> int:
        try:
            return (await self.board.pin_text(text, "model")).turn
        except CannotPin as error:
            raise ToolFailure(error.what, error.remedy) from error

    async def unpin(self, turn: int) -> None:
        try:
            await self.board.unpin_turn(turn, only_by="model")
        except CannotPin as error:
            raise ToolFailure(error.what, error.remedy) from error


def _pinned_turn(turn: Turn) -> Pinned:
    """The words of a turn. Raises CannotPin when it has none that could be pinned."""
    if turn.kind in _UNPINNABLE:
        raise CannotPin(f"T{turn.turn_number} is a {turn.kind.value}: only what was said and done can be pinned.")
    if not _said(turn).strip():
        raise CannotPin(f"T{turn.turn_number} is empty.")
    return Pinned(turn.turn_number, _who(turn), _said(turn))


def _pinned_words(pin: Pin, turn: Turn | None) -> Pinned:
    if turn is None or turn.kind in _UNPINNABLE or not _said(turn).strip():
        return Pinned(pin.turn, f"pinned by the {pin.by}", pin.text)
    return _pinned_turn(turn)


def _said(turn: Turn) -> str:
    return turn.content or (json.dumps(turn.tool_calls, ensure_ascii=False) if turn.tool_calls else "")


def _named(turn: Turn) -> str:
    """The words by which a person knows it again: of an answer, without the signs of its Markdown."""
    said = _said(turn)[:MAX_PIN_CHARS]
    return plain(said) if turn.role == "assistant" and turn.content else said


def _who(turn: Turn) -> str:
    # The name stands in a tag that it must not be able to close.
    name = re.sub(r"[^\w.-]+", " ", turn.tool_name or "").strip()[:60]
    return f"{turn.role} {name}".strip()
