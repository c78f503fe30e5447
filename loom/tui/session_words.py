"""Sessions in words: which are listed, that there is none, and which one it is before it is deleted."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePath

from textual.content import Content

from loom.archive.leases import Holder
from loom.archive.records import Session
from loom.text import plural, show_line
from loom.times import local_time
from loom.tui.age import age
from loom.tui.widgets.session_list import turns_text


def nothing_in_words(wanted: str, *, everywhere: bool) -> str:
    """What is said of a list without a session: of a filter that `wanted` words, or of an archive; `everywhere` is
    every workspace, not only this one."""
    if wanted.strip():
        wider = "" if everywhere else "; then a shows those of every workspace"
        return f"No session has “{show_line(wanted, 60)}”. Esc clears the filter{wider}."
    if everywhere:
        return "No session yet. Enter starts the first one."
    return "No session in this workspace yet. Enter starts the first one; a shows every workspace."


def holder_in_words(holder: Holder) -> str:
    """Who has a session open: `Process 4242 on bench has it, since 2026-03-04 10:00 +00:00.`"""
    since = show_line(local_time(holder.since), 40)
    return f"Process {holder.pid} on {show_line(holder.host, 60)} has it, since {since}."


def deletion_in_words(session: Session, now: datetime, holder: Holder | None = None) -> str:
    """The whole of what deleting a session does, and which one it is; `holder` is another loom that has it open."""
    elsewhere = ""
    if holder is not None:
        elsewhere = (
            f"It is open in another loom. {holder_in_words(holder)} That one goes on; what is said there is stored, "
            "off the list.\n\n"
        )
    return (
        f"{session.reference} · {turns_text(session.turn_count)} · last used {age(session.last_active_at, now)} ago"
        f" · {show_line(session.model_name, 80)}\n{show_line(session.workspace_path, 300)}\n\n{elsewhere}"
        "It leaves this list and the search. Its turns stay in the archive until they are purged. u brings it back; "
        f"once the list was left, --resume {session.reference} does."
    ).replace("now ago", "just now")


def title_of_list(workspace: str | None, total: int, shown: int, *, loading: bool) -> tuple[Content, Content]:
    """What stands above the list, left and right: whose sessions (None: every workspace's), and how many of them."""
    where = "every workspace" if workspace is None else show_line(PurePath(workspace).name or "/", 60)
    path = "" if workspace is None else f"  {show_line(workspace, 120)}"
    count = plural(total, "session") if shown >= total else f"{shown:,} of {total:,}"
    if loading:
        count = f"{count}…" if total else "loading…"
    return (
        Content.assemble(("loom", "$text-primary bold"), "  ", (where, "bold"), (path, "$foreground-muted")),
        Content.styled(count, "$foreground-muted"),
    )
