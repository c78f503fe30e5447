"""What a screen has begun ends before what it shows goes."""

from __future__ import annotations

from typing import cast

from textual.dom import DOMNode
from textual.messages import Prune


class EndsItsWork:
    """For a screen that has workers; to stand before Screen among the bases.

    Textual takes a screen's widgets away, one after the other, and only then cancels its workers: one that comes to
    its end in between looks for a widget that is gone, and that ends the program.
    """

    async def on_prune(self, event: Prune) -> None:
        screen = cast(DOMNode, self)
        screen.workers.cancel_node(screen)
