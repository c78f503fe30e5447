"""What the terminal hands over, as text in which a paste is nothing but text.

Textual takes a paste apart as it does keys: what follows an escape in it comes as keys that were pressed, Enter among
them. Not every terminal takes escapes out of what is pasted (tmux does not), so a paste could send a message, or run a
command. And a byte that is no UTF-8 ended the thread that reads.
"""

from __future__ import annotations

from codecs import getincrementaldecoder

from textual.events import Paste

_START, _END = "\x1b[200~", "\x1b[201~"
MARKS = (_START.encode(), _END.encode())
"""Where a paste begins and ends in what is read."""
_ESCAPE, _STAND_IN = "\x1b", "\U0010f01b"
"""An escape in a paste, and what stands for it until Textual has made a `Paste` of it: a character that nobody has."""


class TypedText:
    """Makes text of what is read, wherever the reads cut it."""

    def __init__(self) -> None:
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self.in_paste = False
        """Whether the end of a paste is still to come."""
        self._held = ""
        """The end of what came of a paste, as long as it may be the beginning of its end."""
        self._tail = ""
        """The end of what was handed on: the beginning of a paste may go on from it."""

    def take(self, data: bytes) -> str:
        """The text for Textual's parser; `pasted` makes its pastes what they were."""
        text, given = self._decode(data), []
        while text:
            take = self._take_paste if self.in_paste else self._take_keys
            part, text = take(text)
            given.append(part)
        return "".join(given)

    def _take_keys(self, text: str) -> tuple[str, str]:
        at = (self._tail + text).find(_START)
        if at < 0:
            self._tail = (self._tail + text)[1 - len(_START) :]
            return text, ""
        end = at + len(_START) - len(self._tail)
        self.in_paste, self._tail = True, ""
        return text[:end], text[end:]

    def _take_paste(self, text: str) -> tuple[str, str]:
        paste, end, rest = (self._held + text).partition(_END)
        # A terminal sends one end for each beginning: those before the last one were pasted.
        inner, again, _ = rest.partition(_START)[0].rpartition(_END)
        if again:
            paste, rest = paste + end + inner, rest[len(inner) + len(again) :]
        self.in_paste, self._held = not end, ""
        if not end:
            lengths = range(len(_END) - 1, 0, -1)
            self._held = next((_END[:length] for length in lengths if paste.endswith(_END[:length])), "")
            paste = paste.removesuffix(self._held)
        return paste.replace(_ESCAPE, _STAND_IN) + end, rest


def pasted(event: Paste) -> Paste:
    """The paste with its escapes."""
    return Paste(event.text.replace(_STAND_IN, _ESCAPE)) if _STAND_IN in event.text else event
