"""Where the person writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea

from loom.cowork.typed import MARK, Typed, joined, placed, read_typed
from loom.text import UNSAFE, show, show_line
from loom.tools.mentions import spelled
from loom.tui.commands import Command, complete
from loom.tui.widgets.behind_names import MAX_PASTE_LINES, BehindNames, slow_to_wrap
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.key_order import bound_above, bound_here, is_joiner

MAX_HISTORY = 500

_NEWLINE_KEYS = ("shift+enter", "ctrl+j", "alt+enter")
ASK = "Ask, or / for commands, ! for the shell"
READ_ONLY = "Read only: nothing is sent from here; / for commands"
_SHELL_PLACEHOLDER = "Runs in the workspace; Backspace leaves"


@dataclass(frozen=True, slots=True)
class PathEntry:
    """A file that may be named."""

    path: str

    @property
    def usage(self) -> str:
        return show_line(spelled(self.path), 200)

    @property
    def help(self) -> str:
        return ""


class Composer(TextArea):
    """A text area that sends on Enter; the screen gives back what could not be sent.

    A `!` in front of everything makes it a shell, for one command; Backspace in the same place makes it a composer
    again. Texts that are put in and taken out are spelled as `loom.cowork.typed` has it.
    """

    DEFAULT_CSS = """
    Composer {
        height: auto;
        min-height: 3;
        max-height: 12;
        margin: 0 1;
        padding: 0 1;
        border: round $border-blurred;
        background: $background;
        scrollbar-size-vertical: 1;
        &:focus { border: round $border; }
        &.-shell { border: round $warning 60%; border-title-color: $text-warning; border-title-style: bold; }
        &.-shell:focus { border: round $warning; }
        & .text-area--cursor-line { background: transparent; }
    }
    """

    class Submitted(Message):
        """Enter on a text that is not empty."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class CommandSubmitted(Message):
        """Enter on a command that is to be run."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    class ShellChanged(Message):
        """The composer has become a shell, or is none any more."""

    class TakeBack(Message):
        """Up in the empty composer: the last queued message is wanted back."""

    class SendHeld(Message):
        """Enter in the empty composer: what is held is to go."""

    class AnswerWanted(Message):
        """Tab: to a waiting approval, else to the next widget."""

    class Scrolled(Message):
        """The transcript should move by a page; the composer keeps the keyboard."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    class PathsWanted(Message):
        """The beginning of a path was written behind an @."""

        def __init__(self, wanted: str) -> None:
            super().__init__()
            self.wanted = wanted

    class HiddenShown(Message):
        """A paste held characters that cannot be seen; they were made visible."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, popup: CompletionPopup[Command | PathEntry], *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            placeholder=ASK,
            show_line_numbers=False,
        )
        self._popup = popup
        self._invitation = ASK
        self._history: list[str] = []
        self._at: int | None = None
        self._draft = ""
        self._emptied = ""
        """What was taken away last, spelled."""
        self._behind = BehindNames()
        self._quiet_at: str | None = None
        self._offered_at = ""
        """The text that the list on the screen was made for."""
        self._paths_for: str | None = None
        """The beginning of a path that the list on the screen is for."""
        self.may_take_back = False
        """Whether messages are queued."""
        self.is_shell = False
        """Whether Enter runs what is written, as a command in the workspace."""

    # --- what the screen does --------------------------------------------------------------------------------

    def invite(self, words: str) -> None:
        """What stands in it while nothing is written."""
        self._invitation = words
        if not self.is_shell:
            self.placeholder = words

    def give_back(self, text: str) -> None:
        """What could not be sent: it stands in front of what has been written since."""
        self.put(joined(text, self._spelled))

    def _accept(self) -> None:
        self.remember([self._spelled])
        self.clear()
        self._at = None
        self._be_shell(False)

    def _be_shell(self, on: bool) -> None:
        if on != self.is_shell:
            self.is_shell = on
            self.set_class(on, "-shell")
            self.border_title = f"{MARK} shell" if on else ""
            self.placeholder = _SHELL_PLACEHOLDER if on else self._invitation
            self._offer()
            self.post_message(self.ShellChanged())

    @property
    def _spelled(self) -> str:
        return Typed(self.text, self.is_shell).spelled if self.text else ""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being written."""
        return not self.text and not self.is_shell

    def remember(self, texts: Iterable[str]) -> None:
        """Add to the history, oldest first; repetitions in a row count once."""
        for text in texts:
            if text.strip() and (not self._history or self._history[-1] != text):
                self._history.append(text)
        del self._history[:-MAX_HISTORY]

    def put(self, text: str, place: int | None = None) -> None:
        """Replace the content (undo brings the old one back), cursor behind `place` characters of the text, or at the
        end: also where something of it stands there by name."""
        typed = read_typed(text)
        self._be_shell(typed.is_command)
        shown = self._behind.taken(typed.text)
        self.replace(shown, self.document.start, self.document.end)
        self.move_cursor(self.document.end)
        if place is not None and shown == typed.text:
            lines = f"{shown[: max(0, place - (len(text) - len(shown)))]}|".splitlines()
            self.move_cursor((len(lines) - 1, len(lines[-1]) - 1))

    def attach(self, block: str) -> None:
        """Write the name of a turn; what is `attached_turn` of it goes along with the message."""
        self.insert(f"{self._behind.attach(block)} ")

    def empty(self) -> None:
        """Take the text away; undo brings it back, a command as a command."""
        self._emptied = self._spelled
        self.replace("", self.document.start, self.document.end)
        self._be_shell(False)

    def undo(self) -> None:
        was_empty = not self.text
        super().undo()
        if was_empty and self.text and self._emptied == Typed(self.text, is_command=True).spelled:
            self._be_shell(True)

    @property
    def unsent(self) -> str:
        """What is being written, spelled, as it would be sent, and where the cursor stands in it, unless that is at its
        end, in the middle of a name, or beside a turn that goes along: see `loom.cowork.typed.placed`."""
        if not self.text:
            return ""
        whole = self.whole_text()
        spelled = Typed(whole, self.is_shell).spelled
        before = self._behind.whole(self.get_text_range(self.document.start, self.cursor_location), alone=True)
        behind = self._behind.whole(self.get_text_range(self.cursor_location, self.document.end), alone=True)
        return placed(spelled, len(spelled) - len(behind)) if behind and before + behind == whole else spelled

    def whole_text(self) -> str:
        """What was written, with long pastes in full and the turns that go along behind it."""
        return self._behind.whole(self.text, alone=self.is_shell)

    # --- keys ------------------------------------------------------------------------------------------------

    async def _on_key(self, event: Key) -> None:
        if is_joiner(event):
            self._replace_via_keyboard(event.character or "", *self.selection)
        elif event.key == "ctrl+d" and self.is_idle:
            await self.app.run_action("app.leave('Ctrl+D')", self)
        elif not (self._switches(event) or self._handle(event.key)):
            if not await bound_here(self, event) and event.key == "ctrl+c":
                # Nothing to copy here: it clears what was written before it, and not what comes behind it.
                await bound_above(self, event)
            return
        event.stop()
        event.prevent_default()

    def _switches(self, event: Key) -> bool:
        """Whether the key makes this a shell, or a composer again."""
        if self.cursor_location != (0, 0) or not self.selection.is_empty:
            return False
        leaves = event.key == "backspace" or (event.key == "escape" and not self.text)
        if event.character == MARK if not self.is_shell else leaves:
            self._be_shell(not self.is_shell)
            return True
        return False

    def _handle(self, key: str) -> bool:
        if self._is_late(self._popup.chosen):
            # Keys came faster than the messages about them: the list is that of a text before.
            self._popup.offer(self._commands())
        if self._popup.is_open and self._handle_popup(key):
            return True
        match key:
            case "enter":
                if self.text.strip():
                    # Taken at once: what is typed before the screen has read the message is the next one.
                    text = self.whole_text().strip()
                    self.post_message(self.CommandSubmitted(text) if self.is_shell else self.Submitted(text))
                    self._accept()
                elif self.is_idle:
                    self.post_message(self.SendHeld())
            case _ if key in _NEWLINE_KEYS:
                self._replace_via_keyboard("\n", *self.selection)
            case "tab":
                self.post_message(self.AnswerWanted())
            case "pageup" | "pagedown":
                self.post_message(self.Scrolled(-1 if key == "pageup" else 1))
            case "up" if not self.text and self.may_take_back:
                self.post_message(self.TakeBack())
            case "up" if self._row() == 0:
                return self._recall(-1)
            case "down" if self._row() == self.wrapped_document.height - 1:
                return self._recall(1)
            case _:
                return False
        return True

    def _handle_popup(self, key: str) -> bool:
        match key:
            case "up" | "down":
                self._popup.move(-1 if key == "up" else 1)
            case "escape":
                self._quiet_at = self.text
                self._popup.offer(())
            case "tab":
                self.complete_with(self._popup.chosen)
            case "enter" if not self._is_written(self._popup.chosen):
                self.complete_with(self._popup.chosen)
            case _:
                return False
        return True

    def complete_with(self, entry: Command | PathEntry | None) -> None:
        """Write the command or the path; what follows, or Enter, comes from the person."""
        match entry:
            case Command():
                self.put(f"/{entry.name} " if entry.args else f"/{entry.name}")
            case PathEntry() if (mention := self._mention()) is not None:
                start = (self.cursor_location[0], self.cursor_location[1] - len(mention) - 1)
                self.replace(f"{spelled(entry.path)} ", start, self.cursor_location, maintain_selection_offset=False)
                self.move_cursor((start[0], start[1] + len(spelled(entry.path)) + 1))
            case _:
                return
        self._quiet_at = self.text
        self._popup.offer(())

    def _is_written(self, entry: Command | PathEntry | None) -> bool:
        match entry:
            case Command():
                return self.text.strip() == f"/{entry.name}"
            case PathEntry():
                return f"@{self._mention()}" == spelled(entry.path)
        return True

    def on_text_area_changed(self) -> None:
        if self.text != self._quiet_at:
            self._offer()

    def _commands(self) -> tuple[Command, ...]:
        return () if self.is_shell else complete(self.text)

    def _offer(self) -> None:
        """Let the list be that of the text as it is now."""
        self._quiet_at = None
        self._offered_at = self.text
        self._popup.offer(self._commands())
        if (wanted := self._mention()) is not None:
            self.post_message(self.PathsWanted(wanted))

    def _is_late(self, entry: Command | PathEntry | None) -> bool:
        match entry:
            case Command():
                return entry not in self._commands()
            case PathEntry():
                return self._mention() != self._paths_for
        return self.text not in (self._quiet_at, self._offered_at)

    def offer_paths(self, wanted: str, paths: Sequence[str]) -> None:
        """The paths that `wanted` may become; too late when something else is being written."""
        if wanted == self._mention() and self.text != self._quiet_at:
            self._paths_for = wanted
            self._popup.offer(tuple(PathEntry(path) for path in paths))

    def _mention(self) -> str | None:
        """What stands between an @ that begins a word and the cursor; None when there is none."""
        if self.is_shell:
            return None
        row, column = self.cursor_location
        found = re.search(r"(?:^|\s)@([^\s\"@]*)$", self.document.get_line(row)[:column])
        return found[1] if found is not None else None

    def _row(self) -> int:
        """The cursor's row on the screen, wrapped lines counted."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y

    def _recall(self, by: int) -> bool:
        """Step through what was sent before; what was being written comes back at the end."""
        if not self._history or (self._at is None and by > 0):
            return False
        if self._at is None:
            self._draft, self._at = self._spelled, len(self._history)
        elif self._at < len(self._history) and self._spelled != self._history[self._at]:
            # An entry that was edited becomes the draft: nothing that was typed is lost.
            self._draft = self._spelled
        at = self._at + by
        if at < 0:
            return True
        if at >= len(self._history):
            self._at = None
            self.put(self._draft)
            return True
        self._at = at
        self.put(self._history[at])
        if by < 0:
            self.move_cursor(self.document.start)
        self._quiet_at = self.text
        self._popup.offer(())
        return True

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        # Terminals send a bare carriage return for a pasted line end.
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if hidden := len(UNSAFE.findall(text)):
            text = show(text)
            self.post_message(self.HiddenShown(hidden))
        if text.count("\n") >= MAX_PASTE_LINES or slow_to_wrap(text):
            text = self._behind.fold(text)
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)
