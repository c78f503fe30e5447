"""What stands above the composer until the person has done something about it."""

from __future__ import annotations

from enum import StrEnum

from textual.content import Content
from textual.widgets import Static

from loom.text import show_block


class Notice(StrEnum):
    """What it is about, the most pressing first: one is shown at a time."""

    TAKEN = "taken"
    """Another loom has the session."""
    UNSAVED = "unsaved"
    """Turns could not be written."""
    TRUST = "trust"
    """Nobody has said yet whether the model reads the project's instructions."""


class NoticeBar(Static):
    """A few lines of their own: they cover nothing, and no key that is typed is taken for an answer."""

    DEFAULT_CSS = """
    NoticeBar {
        display: none;
        height: auto;
        max-height: 8;
        padding: 0 1;
        background: $error 20%;
        color: $text-error;
        &.-trust { background: $warning 15%; color: $text-warning; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._texts: dict[Notice, str] = {}

    def show_notice(self, notice: Notice, text: str) -> None:
        """Draw it, unless a more pressing one stands there; an empty text takes it away."""
        self._texts.pop(notice, None)
        if text:
            self._texts[notice] = text
        shown = self.shown
        self.update(Content(show_block(self._texts[shown], max_chars=1_000) if shown else ""))
        self.set_class(shown is Notice.TRUST, "-trust")
        self.display = shown is not None

    @property
    def shown(self) -> Notice | None:
        """What is drawn."""
        return next((notice for notice in Notice if notice in self._texts), None)
