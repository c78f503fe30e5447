"""A session in words: to be filtered by, and before it is deleted."""

from __future__ import annotations

from datetime import datetime

from loom.archive.records import Session
from loom.text import show_line
from loom.tui.age import age
from loom.tui.widgets.session_list import turns_text


def haystack(session: Session) -> str:
    """What the filter looks at."""
    fields = (session.title, session.reference, session.focus, session.model_name, session.workspace_path)
    return "\n".join((*fields, *session.tags)).casefold()


def deletion_in_words(session: Session, now: datetime) -> str:
    """The whole of what deleting a session does, and which one it is."""
    return (
        f"{session.reference} · {turns_text(session.turn_count)} · last used {age(session.last_active_at, now)} ago"
        f" · {show_line(session.model_name, 80)}\n{show_line(session.workspace_path, 300)}\n\n"
        "It leaves this list and the search. Its turns stay in the archive until they are purged, and u brings it back."
    ).replace("now ago", "just now")
