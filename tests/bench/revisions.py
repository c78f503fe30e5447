"""Measures what is found to be taken back, in archives of any size: python -m tests.bench.revisions --cache FOLDER.

The labelled pairs of tests/archive/test_revisions.py, each said in a session of its own in the largest workspace of a
copy of an archive that `tests.bench.search` made, and looked for in the session, in the workspace and in everything:
there most of the rare words of a small session are common, and what is read of each is bounded. Pairs whose statement
is not among the first hits of its own session are counted as missed.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from loom.archive import ConversationStore, NewTurn
from tests.archive.test_revisions import CASES, READING, WHEN, Case
from tests.bench.archives import archive_of
from tests.bench.search import place_of
from tests.bench.table import show
from tests.support.long_talk import chatter

Told = tuple[bool, int]
"""Whether the statement is said to be taken back by what took it back, and how often anything else was said to be."""


async def _say(store: ConversationStore, workspace: str, case: Case) -> tuple[str, int, int]:
    """The session, the turn of the statement and the one that may take it back."""
    session = await store.create_session(workspace, "offline", "")
    said = await store.append_turn(session, "user", case.said, created_at=WHEN.format(day=1))
    between = [
        NewTurn(role=turn.role, content=turn.content, created_at=WHEN.format(day=2))
        for turn in chatter(60, seed=case.said)
    ]
    await store.append_turns(session, between)
    return session, said, await store.append_turn(session, "user", case.later, created_at=WHEN.format(day=3))


async def told(store: ConversationStore, workspace: str, case: Case) -> Mapping[str, Told]:
    """What is told of one pair, by scope."""
    session, said, later = await _say(store, workspace, case)
    hits = await store.search_turns(session, case.query)
    scopes: dict[str, dict[str, str]] = {
        "session": {"session_id": session},
        "workspace": {"workspace": workspace},
        "everything": {},
    }
    found: dict[str, Told] = {}
    for name, scope in scopes.items():
        revisions = await store.find_revisions(hits, case.query, READING, **scope)  # type: ignore[arg-type]
        ours = revisions.pop((session, said), None)
        right = ours is not None and (ours.session_id, ours.turn_number) == (session, later)
        found[name] = right, len(revisions) + (ours is not None and not right)
    await store.delete_session(session)
    return found


async def measure(archive: Path, workspace: str, turns: int, *, misses: bool) -> None:
    """Prints how many pairs are found and made up."""
    store = await ConversationStore.open(archive)
    found: defaultdict[str, list[tuple[Case, Told]]] = defaultdict(list)
    for case in CASES:
        for scope, one in (await told(store, workspace, case)).items():
            found[scope].append((case, one))
    await store.close()
    rows = []
    for scope, cases in found.items():
        true = [right for case, (right, _) in cases if case.taken_back]
        made_up = sum(wrong + (right and not case.taken_back) for case, (right, wrong) in cases)
        rows.append([scope, f"{sum(true)} of {len(true)}", str(made_up)])
        for case, (right, wrong) in cases:
            if misses and (right is not case.taken_back or wrong):
                print(f"    {scope}: {case.said!r} / {case.later!r}: {right}, {wrong} others")
    show(f"{turns:,} turns, {len(CASES)} pairs", ["looked for in", "found", "made up"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True, help="where the archives are kept")
    parser.add_argument("--turns", type=int, nargs="+", default=(1_000, 100_000, 1_000_000))
    parser.add_argument("--misses", action="store_true", help="list the pairs that were not told rightly")
    parsed = parser.parse_args()
    for turns in parsed.turns:
        archive = archive_of(parsed.cache, turns)
        with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
            copy = Path(folder) / "archive.db"
            # The guard keeps this process from reading the file itself.
            subprocess.run(["cp", archive, copy], check=True)
            asyncio.run(measure(copy, place_of(archive).workspace, turns, misses=parsed.misses))


if __name__ == "__main__":
    main()
