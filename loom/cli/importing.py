"""`loom import`: sessions from the JSON that `loom export` wrote of them, or from other agents' files, under their own
ids."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

from loom.archive import ConversationStore, LeaseHeld, LeaseLost, NewTurn, Session, Turn, TurnKind, UnknownSession
from loom.archive.chains import Progress
from loom.archive.reindex import catch_up
from loom.archive.workspaces import identify
from loom.cli.histories import list_histories
from loom.cli.main import EXIT_BAD_INPUT, EXIT_FAILED
from loom.cli.named_file import named_file
from loom.cli.output import say, write_line
from loom.cli.progress import shown_progress
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.interchange.reading import ReadSession, ReadTurn
from loom.interchange.session_file import read_session, sessions_in
from loom.interchange.source import ImportFailed, is_file, opened_stream
from loom.locations import find_locations
from loom.text import plural, show_line, storable

Count = Callable[[NewTurn], int]


def run(parsed: argparse.Namespace) -> int:
    """Store the sessions, and say what of them was not taken over; 1 when one is not, word for word, what was exported,
    2 when one could not be read: the others are stored all the same."""
    if parsed.list is not None:
        if parsed.files:
            raise LoomError("--list takes no FILE.", "`loom import --list` shows what can be named, without it one is.")
        return list_histories(parsed)
    if not parsed.files:
        raise LoomError("No FILE is named.", "`loom import --list` shows the histories of other agents that are here.")
    code, stored = asyncio.run(_import(parsed))
    if stored:
        # What waits for the index is found by scanning, but only so much of it.
        with shown_progress() as progress:
            catch_up(find_locations().archive, progress)
    return code


async def _import(parsed: argparse.Namespace) -> tuple[int, int]:
    """The exit code, and how many turns were stored."""
    locations = find_locations()
    store: ConversationStore | None = None
    code = turns = 0
    try:
        for name in parsed.files:
            for read in _sessions(name, sub_agents=parsed.sub_agents):
                try:
                    if isinstance(read, ImportFailed):
                        raise read
                    placed = _placed(read, parsed.workspace)
                    if store is None:
                        # Nothing is made for a file that is none.
                        locations.prepare()
                        store = await ConversationStore.open(locations.archive)
                    with shown_progress() as progress:
                        kept = await _store(store, placed, progress)
                    turns += kept.turns
                    code = max(code, _told(placed, kept, sub_agents=parsed.sub_agents))
                except (ImportFailed, LeaseHeld, LeaseLost, UnknownSession) as error:
                    which = f"{name}: " if len(parsed.files) > 1 else ""
                    # What the archive advises is for whoever wants to talk.
                    words = f"{error.what} Import it again when that one has ended." if _is_held(error) else f"{error}"
                    say(f"loom: {show_line(f'{which}{words}', 2_000)}")
                    code = EXIT_BAD_INPUT
    finally:
        if store is not None:
            await store.close()
    return code, turns


def _is_held(error: LoomError) -> bool:
    return isinstance(error, LeaseHeld | LeaseLost)


def _sessions(name: str, *, sub_agents: bool) -> Iterator[ReadSession | ImportFailed]:
    if name != "-":
        path, only = _split(name)
        yield from sessions_in(path, only=only, sub_agents=sub_agents)
        return
    try:
        with opened_stream(sys.stdin.buffer) as source:
            yield read_session(source)
    except ImportFailed as error:
        yield error


def _split(name: str) -> tuple[Path, str]:
    """The file, and which of its sessions is meant (`sessions.db#ID`); none if all are."""
    bare, mark, only = name.rpartition("#")
    if mark and not is_file(named_file(name)) and is_file(named_file(bare)):
        return named_file(bare), only
    return named_file(name.rstrip(os.sep) or name), ""


def _told(read: ReadSession, kept: _Kept, *, sub_agents: bool) -> int:
    """Say what was stored and what was not; 1 if it is not what was exported."""
    session, changed_from = kept.session, kept.changed_from
    count = plural(kept.turns, "new turn" if kept.turns < session.turn_count else "turn")
    write_line(f"{session.reference}: {count} of {show_line(session.title or 'untitled', 60)}")
    if read.remark:
        say(f"loom: {read.remark}")
    if read.skipped:
        what = ", ".join(f"{words} ({times:,})" for words, times in read.skipped.items())
        say(f"loom: not taken over: {show_line(what, 1_000)}")
    if read.beside and not sub_agents:
        say(f"loom: its sub-agents have {plural(len(read.beside), 'session')}; --sub-agents takes them in too.")
    if not session.is_active:
        say(f"loom: it was deleted from the list; `loom cowork --resume {session.reference}` brings it back.")
    if session.workspace_path != storable(read.session.workspace_path):
        say(f"loom: it stays in {show_line(session.workspace_path, 500)}, where it was put before.")
    if not _is_here(session.workspace_path):
        say(f"loom: its folder {show_line(session.workspace_path, 500)} is not here; -w PATH goes on in another one.")
    if kept.changed:
        count = plural(kept.changed, "turn is", "turns are")
        say(f"loom: {count} in the file otherwise than when imported before: stored anew, the older words stay too.")
    if changed_from:
        say(f"loom: from T{changed_from} on it is not what was exported: somebody has changed the file.")
        return EXIT_FAILED
    return 0


def _placed(read: ReadSession, workspace: str | None) -> ReadSession:
    """With the folder that it goes on in. Raises ImportFailed where none is known."""
    folder = find_workspace(workspace) if workspace is not None else _folder_here(read)
    if folder is not None:
        place = identify(folder)
        moved = replace(read.session, workspace_path=place.path, workspace_commit=place.commit)
        read = replace(read, session=moved)
    if not read.session.workspace_path:
        raise ImportFailed("The file does not say in which folder the session was.", "Name one with -w PATH.")
    return read


def _folder_here(read: ReadSession) -> Path | None:
    """The folder of another agent's session, whose history nobody has noted yet; None where it is not here, or where
    the file names none."""
    folder = read.session.workspace_path
    return Path(folder) if not read.is_own and _is_here(folder) else None


def _is_here(folder: str) -> bool:
    try:
        return Path(folder).is_absolute() and Path(folder).is_dir()
    except OSError:
        return False  # a name that is too long, a folder that nobody may look into


@dataclass(frozen=True, slots=True)
class _Kept:
    """What came of a session."""

    session: Session
    turns: int
    """So many were stored now."""
    changed_from: int
    """The first turn that is not what was exported; 0 if all are."""
    changed: int
    """So many of them are of a file of another agent's that has other words now in their place."""


async def _store(store: ConversationStore, read: ReadSession, progress: Progress) -> _Kept:
    session_id = read.session.id
    await store.adopt_session(read.session)
    # Nobody goes on with the half of it.
    await store.acquire_lease(session_id)
    before = await store.get_turn_count(session_id)
    there = await _there(store, read)
    count, done, changed_from, changed_count = _counter(read), there, 0, 0
    for batch in read.batches(there):
        turns = _counted(batch, count)
        stored = await store.append_turns(session_id, turns)
        there_before = ((turn, kept) for turn, kept in zip(turns, stored, strict=True) if kept.turn_number <= before)
        if not read.is_own and (again := [_anew(*pair) for pair in there_before if _has_changed(*pair)]):
            end = await store.get_turn_count(session_id)
            changed_count += sum(turn.turn_number > end for turn in await store.append_turns(session_id, again))
        changed = (turn.turn_number for turn, as_was in zip(stored, batch, strict=True) if turn.digest != as_was.digest)
        if read.is_own and not changed_from:
            changed_from = next(changed, 0)
        done += len(batch)
        progress("storing", done, max(done, read.turn_count))
    session = await store.get_session(session_id)
    if session is None:
        raise UnknownSession(f"There is no session {session_id} in the archive.")
    await store.release_lease(session_id)
    return _Kept(session, session.turn_count - before, changed_from, changed_count)


def _has_changed(turn: NewTurn, kept: Turn) -> bool:
    """Whether the file says something else now where a turn was read before: an answer that was still being written,
    a history that its agent made shorter. A result is complete when it comes."""
    if kept.kind is TurnKind.TOOL_RESULT and kept.tool_call_id == turn.tool_call_id:
        return False
    return _words(turn) != _words(kept)


def _anew(turn: NewTurn, kept: Turn) -> NewTurn:
    key = f"{turn.append_key}/{uuid5(NAMESPACE_OID, _words(turn)).hex}"
    # What it took counts once.
    return replace(turn, append_key=key, usage=None if kept.usage else turn.usage)


def _words(turn: NewTurn | Turn) -> str:
    return storable(f"{turn.content or ''}{json.dumps(turn.tool_calls, ensure_ascii=False)}")


@cache
def _loaded_counter() -> Count:
    from loom.context.tokens import TokenCounter  # takes half a second

    counter = TokenCounter()
    counter.load()
    return lambda turn: counter.count(storable(turn.content or json.dumps(turn.tool_calls, ensure_ascii=False)))


def _counter(read: ReadSession) -> Count | None:
    """What counts the tokens of a turn, which another agent's file does not have."""
    return None if read.is_own else _loaded_counter()


def _counted(batch: Sequence[ReadTurn], count: Count | None) -> list[NewTurn]:
    turns = [read.turn for read in batch]
    return turns if count is None else [replace(turn, token_count=count(turn)) for turn in turns]


async def _there(store: ConversationStore, read: ReadSession) -> int:
    """How many of its turns the archive has: an import that was cut off goes on. Raises ImportFailed when it has others
    in their place, or all of them."""
    session = await store.get_session(read.session.id)
    count = session.turn_count if session is not None else 0
    if session is None or not count:
        return 0
    if not read.is_own:
        # Its turns have keys of their own: those that are there are not stored again.
        await _refuse_foreign(store, read, session)
        return 0
    newest = await store.get_turn(session.id, count)
    exported = next(islice(read.walk(), count - 1, None), None)
    same = newest is not None and exported is not None and newest.digest == exported.digest
    if same and count < read.turn_count:
        return count
    how = "whole" if same else "and has gone on otherwise"
    raise ImportFailed(f"The archive has this session already, as {session.reference}, {how}.", "Nothing was stored.")


async def _refuse_foreign(store: ConversationStore, read: ReadSession, session: Session) -> None:
    """Raises ImportFailed where the session of this id has nothing of the agent whose file it is: a file may say any,
    and what it says is not put behind somebody else's words."""
    first = next(read.walk(), None)
    agent = (first.turn.append_key or "").partition("/")[0] if first is not None else ""
    if not await store.has_key(session.id, f"{agent}/"):
        raise ImportFailed(
            f"The archive has another session of this id, {session.reference}: it did not come from such a file.",
            "Nothing was stored.",
        )
