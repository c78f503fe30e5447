"""`loom import --list`: the histories of other agents on this machine, and what to type to import one."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from dataclasses import asdict
from pathlib import Path

from loom.cli.output import say, write_line
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.interchange.finding import FINDERS, Found, Places, find, is_of
from loom.locations import expanded
from loom.text import plural, show_line
from loom.times import local_time

_SHOWN_UNREAD = 5


def list_histories(parsed: argparse.Namespace) -> int:
    """Print the sessions of the workspace, newest first, or of everywhere; what could not be read goes to stderr."""
    workspace = find_workspace(parsed.workspace or ".")
    unread: list[str] = []
    places = Places(expanded("~"), os.environ, workspace)
    every = find(places, _agents(parsed.list), unread.append)
    shown = every if parsed.all else [found for found in every if is_of(found, workspace)]
    for found in shown:
        write_line(json.dumps(asdict(found)) if parsed.json else _as_line(found))
    for words in unread[:_SHOWN_UNREAD]:
        say(f"loom: not read: {show_line(words, 500)}")
    if len(unread) > _SHOWN_UNREAD:
        say(f"loom: {len(unread) - _SHOWN_UNREAD:,} more could not be read.")
    if len(every) > len(shown):
        rest = plural(len(every) - len(shown), "session")
        say(f"loom: {rest} worked in other folders, or nothing says where; --all lists them.")
    elif not shown:
        say("loom: no session of another agent was found in the usual places; `loom import FILE` takes any file.")
    if shown and not parsed.json:
        say("loom: `loom import PATH` takes one in, the last column is its PATH.")
    return 0


def _agents(typed: str) -> tuple[str, ...]:
    """The agents that are meant: all, or the one whose name begins so."""
    wanted = typed.lower().replace(" ", "-")
    found = tuple(agent for agent in FINDERS if agent.startswith(wanted))
    if not found:
        raise LoomError(f"loom knows no agent {show_line(typed, 60)}.", f"It knows {', '.join(FINDERS)}.")
    return found


def _as_line(found: Found) -> str:
    when = local_time(found.when) if found.when else "at no known time"
    size = "" if found.size is None else f"({_bytes(found.size)})  "
    count = "" if not found.messages else f"({plural(found.messages, 'message')})  "
    folder = show_line(_short(found.folder), 80) or "no folder"
    title = show_line(found.title or "untitled", 60)
    # It is to be copied into a shell whole.
    path = show_line(shlex.quote(found.path), 5_000)
    return f"{found.agent}  {when}  {folder}  {title}  {size}{count}{path}"


def _short(folder: str) -> str:
    home = str(Path.home())
    return f"~{folder[len(home) :]}" if folder == home or folder.startswith(f"{home}{os.sep}") else folder


def _bytes(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return plural(size, "byte")
