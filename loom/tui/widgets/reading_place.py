"""Where somebody reads in a column of blocks, kept when the column gets another size."""

from __future__ import annotations

from textual.containers import VerticalScroll
from textual.widget import Widget


class ReadingPlace:
    """The end, for who follows what is new; else the block at the top of the view, and how much of it is above that."""

    def __init__(self, view: VerticalScroll) -> None:
        self._view = view
        self._width = 0
        self._block: Widget | None = None
        self._above = 0.0
        """Share of the block's lines."""

    def note(self) -> None:
        """It was scrolled."""
        width = self._view.size.width
        if self._width and self._width != width:
            # None of the person's doing: the new width moved what is in view, and the place is not restored yet.
            return
        self._width = width
        top = self._view.scroll_offset.y
        below = (each for each in self._view.children if each.virtual_region.bottom > top)
        self._block = None if self._follows else next(below, None)
        if self._block is not None:
            region = self._block.virtual_region
            self._above = (top - region.y) / max(1, region.height)

    def keep(self) -> None:
        """It has another size."""
        if self._block is not None and self._width != self._view.size.width:
            self._view.call_after_refresh(self._restore)
            return
        self._width = self._view.size.width
        if self._follows:
            # Textual keeps the end in view by the height that there was before this layout, and draws no scrollbar anew
            # for it: a notice that takes two lines would hide the two newest until something else moves.
            self._view.scroll_end(animate=False, immediate=True)
            self._view.vertical_scrollbar.refresh()

    @property
    def _follows(self) -> bool:
        return self._view.is_anchored and not self._view._anchor_released

    def _restore(self) -> None:
        """Scroll there, now that every block has its new height."""
        self._width = self._view.size.width
        if self._block is not None and self._block.is_attached:
            # With less below it, it may have come to the end, where Textual follows again.
            self._view.release_anchor()
            region = self._block.virtual_region
            self._view.scroll_to(y=region.y + round(self._above * region.height), animate=False, immediate=True)
