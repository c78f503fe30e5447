"""A child that appends and says so: it is killed at any moment, and what it said must be true.

    python -m tests.crash.writer ARCHIVE SESSION SEED [STORE [STEPS [FILE]]]

STORE is one of `tests.crash.liars`. After STEPS turns the child ends by itself; with a FILE it says what it says there.

Each acknowledgement is one line on standard output, written after the append returned: the turn number and the digest
of the text, which the parent can make again from the seed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import sys

from loom.archive import Draft, NewTurn
from tests.crash.liars import STORES


def text_of(seed: int, step: int) -> str:
    """What the child with this seed says at this step: from nothing to some pages of the database."""
    chance = random.Random(f"{seed}/{step}")
    length = chance.choice([0, 1, 40, 400, 4_000, 40_000])
    return f"{seed}/{step} " + "".join(chance.choice("abc \n\0é日😀'\"\\") for _ in range(min(length, 400))) * (
        1 + length // 400
    )


def digest_of(text: str | None) -> str:
    return hashlib.sha256((text or "").encode()).hexdigest()[:16]


async def write(
    path: str, session: str, seed: int, honesty: str = "honest", steps: str = "inf", file: str | None = None
) -> None:
    chance = random.Random(seed)
    store = STORES[honesty]()
    await store.initialize(path)
    said_to = sys.stdout.fileno() if file is None else os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    step = 0
    while step < float(steps):
        batch = [
            NewTurn(
                role="user" if n == 0 else "assistant", content=text_of(seed, step + n), append_key=f"{seed}/{step + n}"
            )
            for n in range(chance.choice([1, 1, 1, 2, 5]))
        ]
        if chance.random() < 0.2:
            await store.save_draft(Draft(session_id=session, exchange=0, turns=tuple(batch)))
        luck = chance.random()
        if luck < 0.15:
            await store.checkpoint(empty=luck < 0.05)
        turns = await store.append_turns(session, batch)
        said = "".join(f"{turn.turn_number} {digest_of(turn.content)} {step + n}\n" for n, turn in enumerate(turns))
        # One write to a pipe of less than PIPE_BUF bytes arrives whole or not at all.
        os.write(said_to, said.encode())
        step += len(turns)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
