"""`loom import`: a session from the JSON that `loom export` wrote of it, or from another agent's file, under its own
id."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from loom.archive import ConversationStore, Session, UnknownSession
from loom.archive.workspaces import identify
from loom.cli.main import EXIT_FAILED
from loom.cli.named_file import named_file
from loom.cli.output import say, write_line
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.interchange.reading import ImportFailed, ReadSession
from loom.interchange.session_file import read_session
from loom.locations import find_locations
from loom.text import plural, show_line, storable


def run(parsed: argparse.Namespace) -> int:
    """Store the session, and say how to go on with it; 1 when it is not, word for word, what was exported."""
    read = _counted(read_session(_text(parsed.file)))
    folder = find_workspace(parsed.workspace) if parsed.workspace is not None else _folder_here(read)
    if folder is not None:
        place = identify(folder)
        moved = replace(read.session, workspace_path=place.path, workspace_commit=place.commit)
        read = replace(read, session=moved)
    if not read.session.workspace_path:
        raise ImportFailed("The file does not say in which folder the session was.", "Name one with -w PATH.")
    locations = find_locations()
    locations.prepare()
    session, changed_from = asyncio.run(_store(locations.archive, read))
    write_line(
        f"{session.reference}: {plural(len(read.turns), 'turn')} of {show_line(session.title or 'untitled', 60)}"
    )
    if read.skipped:
        what = ", ".join(f"{words} ({times:,})" for words, times in read.skipped.items())
        say(f"loom: not taken over: {show_line(what, 1_000)}")
    if not Path(session.workspace_path).is_dir():
        say(f"loom: its folder {show_line(session.workspace_path, 500)} is not here; -w PATH goes on in another one.")
    if changed_from:
        say(f"loom: from T{changed_from} on it is not what was exported: somebody has changed the file.")
        return EXIT_FAILED
    return 0


def _folder_here(read: ReadSession) -> Path | None:
    """The folder of another agent's session, whose history nobody has noted yet; None where it is not here, or where
    the file names none."""
    folder = read.session.workspace_path
    return Path(folder) if folder and not read.digests and Path(folder).is_dir() else None


def _text(name: str) -> str:
    try:
        # The last line of another agent's file may end in the middle of a letter.
        return sys.stdin.read() if name == "-" else named_file(name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LoomError(f"{show_line(name, 500)} cannot be read: {error.strerror or error}.") from error


async def _store(archive: Path, read: ReadSession) -> tuple[Session, int]:
    """The session as it is stored, and the first turn that is not what was exported; 0 if all are."""
    store = await ConversationStore.open(archive)
    try:
        session_id = read.session.id
        await store.adopt_session(read.session)
        # Nobody goes on with the half of it.
        await store.acquire_lease(session_id)
        there = await _there(store, read)
        for turns in read.behind(there):
            await store.append_turns(session_id, turns)
        stored = await store.get_session(session_id)
        if stored is None:
            raise UnknownSession(f"There is no session {session_id} in the archive.")
        own = await store.get_range(session_id, 1, stored.turn_count)
        changed = (turn.turn_number for turn, digest in zip(own, read.digests, strict=False) if turn.digest != digest)
        return stored, next(changed, 0)
    finally:
        await store.close()


def _counted(read: ReadSession) -> ReadSession:
    """With the tokens of each turn, which another agent's file does not have."""
    if read.digests:
        return read
    from loom.context.tokens import TokenCounter  # takes half a second

    counter = TokenCounter()
    counter.load()
    texts = (turn.content or json.dumps(turn.tool_calls, ensure_ascii=False) for turn in read.turns)
    counts = [counter.count(storable(text)) for text in texts]
    turns = (replace(turn, token_count=tokens) for turn, tokens in zip(read.turns, counts, strict=True))
    return replace(read, turns=tuple(turns))


async def _there(store: ConversationStore, read: ReadSession) -> int:
    """How many of its turns the archive has: an import that was cut off goes on. Raises ImportFailed when it has others
    in their place, or all of them."""
    session = await store.get_session(read.session.id)
    count = session.turn_count if session is not None else 0
    if session is None or not count or not read.digests:
        # Turns of another agent's have keys of their own: those that are there are not stored again.
        return 0
    newest = await store.get_turn(session.id, count)
    same = count <= len(read.digests) and newest is not None and newest.digest == read.digests[count - 1]
    if same and count < len(read.turns):
        return count
    how = "whole" if same else "and has gone on otherwise"
    raise ImportFailed(f"The archive has this session already, as {session.reference}, {how}.", "Nothing was stored.")
