"""The tags of a session: words that the person puts on it, to find it again in the list."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from loom.archive.errors import ArchiveError
from loom.archive.rows import read_tags
from loom.archive.sessions import require
from loom.archive.transactions import transaction
from loom.text import plural

MAX_TAGS = 16
"""On one session: more would not be seen in a row of the list."""
MAX_TAG = 32
"""Characters of one."""


class BadTag(ArchiveError):
    """Something that is no tag, or one too many. Nothing was changed."""


def tag_of(word: str) -> str:
    """The tag that a person writes as this word, with a `#` in front or without. Raises BadTag."""
    tag = word.removeprefix("#")
    if not tag:
        raise BadTag("A tag needs a name.", "Write words with spaces between: auth backend.")
    if len(tag) > MAX_TAG:
        raise BadTag(f"A tag has at most {MAX_TAG} characters; this one has {len(tag):,}.")
    # What is not printable cannot be seen, or turns round what stands beside it.
    if not tag.isprintable() or any(character.isspace() for character in tag):
        raise BadTag("A tag is one word of characters that can be seen.")
    return tag


def change_tags(
    connection: sqlite3.Connection, session_id: str, add: Sequence[str], remove: Iterable[str]
) -> tuple[str, ...]:
    """Take these tags away and put those on, each once whatever its case; the tags as they are then, in the order in
    which they came. Raises BadTag or UnknownSession."""
    added = [tag_of(word) for word in add]
    removed = {tag_of(word).casefold() for word in remove}
    with transaction(connection):
        require(connection, session_id)
        row = connection.execute("SELECT tags FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone()
        tags = {tag.casefold(): tag for tag in read_tags(row[0]) if tag.casefold() not in removed}
        for tag in added:
            tags.setdefault(tag.casefold(), tag)
        if added and len(tags) > MAX_TAGS:
            raise BadTag(f"A session has at most {plural(MAX_TAGS, 'tag')}.", "/untag takes one away.")
        kept = tuple(tags.values())
        connection.execute(
            "UPDATE cowork_sessions SET tags = ? WHERE id = ?", (json.dumps(kept, ensure_ascii=False), session_id)
        )
    return kept
