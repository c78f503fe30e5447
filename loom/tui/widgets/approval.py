"""The question before an effect: what will happen, whole, and no default yes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click, Focus, Key, Resize
from textual.message import Message
from textual.widgets import Input, Static

from loom.cowork.events import ApprovalAsked, Decision
from loom.text import plural, show, show_line
from loom.tui.widgets.key_guard import KeyGuard
from loom.tui.widgets.key_order import LineBox, passed_on
from loom.tui.widgets.text_view import TextView

_SCROLLING = ("up", "down", "pageup", "pagedown", "home", "end")


class Choice(Static):
    """One answer that can be clicked."""

    DEFAULT_CSS = "Choice { width: auto; height: 1; margin-right: 2; &:hover { text-style: underline; } }"

    class Chosen(Message):
        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, key: str, label: str, short: str, style: str) -> None:
        """`short` is the label where the terminal is narrow."""
        super().__init__(markup=False)
        self._key = key
        self._labels = label, short
        self._style = style
        self.fit(narrow=False)

    def fit(self, *, narrow: bool) -> None:
        label = self._labels[narrow]
        self.update(Content.assemble((f" {self._key} ", f"bold {self._style} reverse"), f" {label}"))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Chosen(self._key))


NARROW = 78
"""Columns below which the answers have short labels, so that all of them are in view."""


LEAST_LINES = 3
"""Lines that the body has, however low the terminal."""


class Approval(Vertical, can_focus=True):
    """One question. `y`, `a`, `n`, and `p` where there is a wider yes, answer it once the keyboard has been quiet;
    Enter never does. What allows more than this once, `a` and `p`, counts when it is pressed twice: a word that is
    begun never does that.

    The screen gives it the keyboard only when the composer is empty. Any other letter goes to the composer, and so does
    one that came too soon to be an answer: whoever starts to type a sentence is not answering, and loses no letter.
    """

    DEFAULT_CSS = """
    Approval {
        height: auto;
        border: round $warning 60%;
        padding: 0 1;
        margin: 0 1;
        &:focus, &:focus-within { border: round $warning; }
        & > .title { text-style: bold; height: auto; max-height: 2; }
        & > .warning { color: $text-error; text-style: bold; height: auto; max-height: 3; }
        & > .scope { color: $text-muted; height: auto; max-height: 4; }
        & > .hint { color: $text-muted; height: auto; }
        & > TextView { background: $surface; padding: 0 1; }
        & > .answers { height: 1; }
        & > Input { display: none; border: none; height: 1; padding: 0; background: $surface; }
        &.-reason > Input { display: block; }
        &.-reason > .answers { display: none; }
    }
    """

    class Answered(Message):
        """The person decided."""

        def __init__(self, call_id: str, decision: Decision) -> None:
            super().__init__()
            self.call_id = call_id
            self.decision = decision

    class TakeBack(Message):
        """Up where there is nothing to scroll: the last queued message is wanted back."""

    class Typed(Message):
        """Letters that are no answer: they belong to the composer."""

        def __init__(self, characters: str) -> None:
            super().__init__()
            self.characters = characters

    def __init__(self, asked: ApprovalAsked, *, more: int = 0, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self.asked = asked
        self._more = more
        self._guard = KeyGuard(clock)
        self._most = self._room = 24
        self._seen_end = self._says_length = False
        self._begun = ""
        """A key that has to come once more, as often as it came; or one that is no answer here. It may be how a word
        begins."""
        self._typing = False
        """The keyboard is on its way to the composer; what comes until then is part of what is being written."""

    def compose(self) -> ComposeResult:
        preview = self.asked.preview
        count = f"  ({self._more} more to answer)" if self._more else ""
        yield Static(Content(f"{show_line(preview.title)}{count}"), classes="title", markup=False)
        if preview.warning:
            yield Static(Content(f"⚠ {show(preview.warning)}"), classes="warning", markup=False)
        yield TextView(preview.body, diff=preview.kind == "diff")
        with Horizontal(classes="answers"):
            yield Choice("y", "yes, once", "yes", "$success")
            yield Choice("a", "always this session", "always", "$warning")
            if preview.wider_scope:
                yield Choice("p", "always this prefix", "prefix", "$warning")
            yield Choice("n", "no", "no", "$error")
        yield LineBox(placeholder="Why not? The model reads it; Enter sends, Esc goes back", compact=True)
        yield Static(self._scopes(), classes="scope", markup=False)
        yield Static("", classes="hint", markup=False)

    def _scopes(self) -> Content:
        preview = self.asked.preview
        lines = [f"a allows: {show_line(preview.scope, 300)}"]
        if preview.wider_scope:
            lines.append(f"p allows: {show_line(preview.wider_scope, 300)}")
        return Content("\n".join(lines))

    def on_mount(self) -> None:
        body = self.query_one(TextView)
        # The question itself holds the keyboard; its body scrolls with the arrow keys from here.
        body.can_focus = False
        self._hint("")

    def on_resize(self, event: Resize) -> None:
        # Not now: in the middle of a layout their new widths would not be looked at.
        self.call_after_refresh(self._fit_answers, event.size.width < NARROW)
        self.call_after_refresh(self._fit_body)

    def _fit_answers(self, narrow: bool) -> None:
        for choice in self.query(Choice):
            choice.fit(narrow=narrow)

    def on_focus(self, event: Focus) -> None:
        self._guard.restart()
        self._begun, self._typing = "", False
        self._hint("")
        self._say_length()

    def restart(self) -> None:
        """The question came back into view: keys that were meant for something else do not answer it."""
        self._guard.restart()

    def fit(self, body: int, room: int) -> None:
        """Give the body at most `body` lines, and the whole at most `room`, so that the answers and what they would
        allow stay in view; the rest of the body scrolls."""
        self._most, self._room = body, room
        # In cells: a share of the screen counts for nothing inside a box that is as high as its content.
        self.query_one(TextView).styles.max_height = min(body, room)
        self.call_after_refresh(self._fit_body)

    def _fit_body(self) -> None:
        """How high title, warning and scopes are is known once they have been laid out."""
        if not self.is_attached:
            return
        body, hint = self.query_one(TextView), self.query_one(".hint")
        others = [each for each in self.children if each is not body and each.display]
        # The line of a hint is kept free: the others stay where they are when it appears.
        beside = sum(each.outer_size.height for each in others) + self.gutter.height + (not hint.display)
        lines = max(LEAST_LINES, min(self._most, self._room - beside))
        if body.styles.max_height is None or body.styles.max_height.value != lines:
            body.styles.max_height = lines

    @on(TextView.Laid)
    def _say_length(self) -> None:
        # What is in view in the middle of a layout has not been seen by anybody.
        hidden = not self._seen_end and self.query_one(TextView).hidden_below
        if self._says_length and not hidden:
            self._hint("")  # it was said before all of it had its place
        elif hidden and (self._says_length or not self.query_one(".hint").display):
            self._hint_hidden(hidden)

    def set_more(self, more: int) -> None:
        """How many further questions wait behind this one."""
        count = f"  ({more} more to answer)" if more else ""
        self.query_one(".title", Static).update(Content(f"{show_line(self.asked.preview.title)}{count}"))

    def say_typing(self) -> None:
        """The composer keeps the keyboard because there is text in it."""
        self._hint("You are writing: Tab comes here, your text stays.")

    def _hint(self, text: str) -> None:
        hint = self.query_one(".hint", Static)
        hint.update(Content(text))
        hint.display = bool(text)
        self._says_length = False

    def on_key(self, event: Key) -> None:
        if self.has_class("-reason"):
            if event.key == "escape":
                event.stop()
                self._leave_reason()
            elif event.is_printable or event.key in ("backspace", "enter"):
                # The line takes these, so they came here before it had the keyboard.
                passed_on(self, event)
            return
        if event.key in _SCROLLING:
            event.stop()
            if event.key == "up" and not self.query_one(TextView).max_scroll_y:
                self.post_message(self.TakeBack())
                return
            # At once: who goes to the end and back in the time of an animation has not been there.
            self.query_one(TextView).go(event.key)
            self._say_unseen()
            return
        quiet = self._guard.accepts()
        if event.key == "enter":
            event.stop()
            self._hint(f"Enter answers nothing here: {', '.join(self._answers[:-1])} or {self._answers[-1]}.")
        elif event.is_printable and event.character:
            event.stop()
            self._letter(event.character, quiet=quiet)

    def _letter(self, letter: str, *, quiet: bool) -> None:
        again = letter == self._begun[:1]
        if self._typing or not (again or (quiet and letter in (*self._answers, "p"))):
            # A word that begins with the letter of an answer is given to the composer whole.
            self.post_message(self.Typed(self._begun + letter))
            self._begun, self._typing = "", True
        elif again and not quiet:
            # A key that is held down comes again by itself.
            self._begun += letter
            self._hint("Too quick to count: press it again.")
        elif letter not in self._answers:
            self._begun = self._begun + letter if again else letter
            self._hint("p is not offered: no prefix of this could be allowed.")
        elif letter != "n" and (hidden := self._unseen()):
            self._hint_hidden(hidden)
        elif letter in ("a", "p") and not again:
            self._begun = letter
            self._hint(f"Press {letter} again: always {'this prefix, ' if letter == 'p' else ''}this session.")
        else:
            self._begun = ""
            self._choose(letter)

    def _say_unseen(self) -> None:
        """The body was scrolled: what stands there about its length is no longer so."""
        hidden = self._unseen()
        if self._says_length and hidden:
            self._hint_hidden(hidden)
        elif self._says_length:
            self._hint("")

    @property
    def _answers(self) -> tuple[str, ...]:
        return ("y", "a", "p", "n") if self.asked.preview.wider_scope else ("y", "a", "n")

    def _unseen(self) -> int:
        """Lines of the body that nobody has scrolled to yet: a yes to them would be a yes to something unseen."""
        if not self._seen_end:
            self._seen_end = self.query_one(TextView).hidden_below == 0
        return 0 if self._seen_end else self.query_one(TextView).hidden_below

    def _hint_hidden(self, lines: int) -> None:
        self._hint(f"{plural(lines, 'more line')} below: End goes there, then y counts.")
        self._says_length = True

    @on(Choice.Chosen)
    def _clicked(self, event: Choice.Chosen) -> None:
        event.stop()
        if event.key != "n" and (hidden := self._unseen()):
            self._hint_hidden(hidden)
        elif self._guard.accepts():
            self._choose(event.key)

    def _choose(self, key: str) -> None:
        if key == "n":
            self.add_class("-reason")
            self._hint("")
            self.screen.set_focus(self.query_one(Input))
            return
        decision = Decision(allowed=True, always=key in ("a", "p"), wider=key == "p")
        self.post_message(self.Answered(self.asked.call_id, decision))

    @on(Input.Submitted)
    def _denied(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Answered(self.asked.call_id, Decision(allowed=False, reason=event.value.strip())))

    def _leave_reason(self) -> None:
        self.remove_class("-reason")
        self.focus()
