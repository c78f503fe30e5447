"""A sheet over most of the screen with one text on it: how the screens that show a text whole are laid out."""

from __future__ import annotations

from textual.screen import ModalScreen


class TextSheet(ModalScreen[None]):
    """Composed by the screen that it is: a `Vertical` with a line of the class `title`, a TextView and a footer."""

    DEFAULT_CSS = """
    TextSheet {
        align: center middle;
        & > Vertical { width: 96%; height: 92%; background: $surface; border: round $primary; padding: 0 1; }
        & .title { text-style: bold; height: auto; max-height: 2; margin-bottom: 1; }
        & TextView { height: 1fr; }
    }
    """
    AUTO_FOCUS = "TextView"
