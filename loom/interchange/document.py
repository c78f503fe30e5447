"""A session as JSON, whole: every column of every turn, word for word.

Form: `{"format": "loom-session", "version": 1, "session": {…}, "turns": [{…}, …]}`, keys named as the columns of
`cowork_sessions` and `conversation_turns`. Readers skip keys that they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from loom.archive.records import Session, Turn

FORMAT = "loom-session"
VERSION = 1


def document(session: Session, turns: Iterable[Turn]) -> Iterator[str]:
    """The document in pieces, one turn a line. A SessionDetail gives its system prompt and its state too."""
    head = {column: session[column] for column in session}
    yield f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION},\n"session": {json.dumps(head)},\n"turns": ['
    for index, turn in enumerate(turns):
        yield ("\n" if index == 0 else ",\n") + json.dumps({column: turn[column] for column in turn})
    yield "\n]}\n"
