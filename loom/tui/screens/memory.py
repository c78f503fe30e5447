"""What is remembered about the workspace: read, edit, take the newest change back."""

from __future__ import annotations

import asyncio
import os
from typing import ClassVar

from textual import work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from loom.errors import LoomError
from loom.text import plural, show_line
from loom.tui.editing import Edited, TextKept, edit
from loom.tui.screens.sheet import TextSheet
from loom.tui.service import ChatService
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.text_view import TextView

NAME = "MEMORY.md"
KEPT_SECONDS = 86_400.0
"""An error that names where lost words lie stands until it is clicked away, or for a day."""


class MemoryScreen(TextSheet):
    """MEMORY.md of the workspace. What is replaced stays in the folder beside it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit", tooltip="Edit it in $EDITOR"),
        Binding("u", "undo", "Undo", tooltip="Take the newest change back"),
        Binding("escape,q", "dismiss(None)", "Back", key_display="Esc"),
    ]

    def __init__(self, service: ChatService, content: bytes) -> None:
        super().__init__()
        self._service = service
        self._content = content

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title(), classes="title", markup=False)
            yield TextView(self._text())
            yield KeyBar()

    def _title(self) -> Content:
        size = f"{plural(len(self._content), 'byte')}" if self._content else "empty"
        return Content(show_line(f"{NAME}, what the model noted about this workspace ({size})", 160))

    def _text(self) -> str:
        if not self._content:
            return "Nothing is noted yet.\nThe model notes things here with write_memory.\ne begins it yourself."
        return self._content.decode("utf-8", "replace")

    async def _show(self) -> None:
        self._content = await self._service.beside.read_memory()
        # With TextView a text is for life: the new one gets a view of its own.
        old, new = self.query_one(TextView), TextView(self._text())
        with self.app.batch_update():
            await self.query_one(Vertical).mount(new, after=old)
            await old.remove()
        new.focus()
        self.query_one(".title", Static).update(self._title())

    @work(exclusive=True, group="memory", exit_on_error=False)
    async def action_undo(self) -> None:
        try:
            await self._service.beside.undo_memory()
            await self._show()
        except LoomError as error:
            self.notify(str(error), severity="warning", markup=False)
        else:
            self.notify("The newest change is taken back.", markup=False, timeout=3)

    @work(exclusive=True, group="memory", exit_on_error=False)
    async def action_edit(self) -> None:
        if self._service.busy:
            # The editor has the whole terminal, and a question would wait behind it unseen.
            self.notify("An exchange is running: edit when it has ended.", severity="warning", markup=False)
            return
        try:
            before = await self._service.beside.read_memory()
            edited = self._edited(before)
            self.app.refresh(layout=True)
            await self._store(edited, before)
            await self._show()
        except SuspendNotSupported:
            self.notify("This terminal cannot be handed to an editor.", severity="error", markup=False)
        except TextKept as error:
            self.notify(show_line(str(error), 1_000), severity="error", markup=False, timeout=KEPT_SECONDS)
        except LoomError as error:
            self.notify(str(error), severity="error", markup=False, timeout=15)

    def _edited(self, before: bytes) -> Edited:
        """What the person makes of it in their editor, which has the terminal meanwhile."""
        failed: BaseException
        with self.app.suspend():
            # An exception that leaves this block leaves the terminal to nobody: no picture, no keys.
            try:
                return edit(before, NAME, os.environ)
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed = error
        raise failed

    async def _store(self, edited: Edited, before: bytes) -> None:
        """Keep the edited text; until it is stored its file lies where the person is told, however this ends."""
        stored = edited.content == before
        try:
            if not stored:
                await self._keep(edited.content, before)
                stored = True
        finally:
            if not stored:
                self.app.notify(
                    f"What you wrote is in {show_line(os.fspath(edited.path), 1_000)}",
                    severity="error",
                    markup=False,
                    timeout=KEPT_SECONDS,
                )
        await asyncio.to_thread(edited.discard)

    async def _keep(self, after: bytes, before: bytes) -> None:
        """Write the edited text. When another loom changed the file meanwhile, that change is kept in the history."""
        try:
            await self._service.beside.write_memory(after, before)
        except LoomError:
            now = await self._service.beside.read_memory()
            if now == before:
                raise
            await self._service.beside.write_memory(after, now)
            self.notify(
                f"{NAME} was changed while you edited it. Yours stands; u brings the other one back.",
                severity="warning",
                markup=False,
                timeout=15,
            )
