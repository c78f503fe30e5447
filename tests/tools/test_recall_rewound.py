"""What the person rewound past is recalled as what it is."""

from __future__ import annotations

from loom.archive.records import TurnKind
from loom.config import Settings
from loom.context.edges import Beginning, rewound_meta
from loom.tools.recall_frame import WITHDRAWN
from tests.tools.talk import Talk


async def rewind(talk: Talk, first: int) -> None:
    """As the session does it."""
    meta = rewound_meta(Beginning(), Beginning(), first)
    await talk.store.append_turn(talk.session, "system", "Rewound.", kind=TurnKind.NOTE, message_meta=meta)


async def test_every_way_of_recalling_says_so(talk: Talk) -> None:
    kept = await talk.user("We keep the albatross port at 8123.")
    await talk.assistant("Noted.")
    gone = await talk.user("The albatross port is 9000 now.")
    run = await talk.tool("shell_execute", "albatross 9000", command="cat port")
    await rewind(talk, gone)
    found = await talk.recall("search", query="albatross port")
    assert f"[Turn {gone}] user: (2026-01-15 14:30) match" in found and WITHDRAWN in found
    lines = found.splitlines()
    assert all(("; rewound past" in line) == (f"[Turn {kept}]" not in line) for line in lines if " match " in line)
    ranged = await talk.recall("range", start_turn=1, end_turn=run)
    assert ranged.count("; rewound past\n") == 3 and WITHDRAWN in ranged
    alone = await talk.recall("range", start_turn=kept)
    assert "rewound past" not in alone
    assert "; rewound past" in await talk.recall("range", start_turn=gone)
    assert "; rewound past" in await talk.recall("tool_calls", tool_name="shell_execute")


async def test_it_says_so_of_another_session(talk: Talk) -> None:
    gone = await talk.user("The albatross port is 9000 now.")
    await rewind(talk, gone)
    await talk.begin()
    await talk.user("Hello.")
    found = await talk.recall("search", query="albatross", scope="workspace", settings=Settings(recall_scope="all"))
    assert "; rewound past" in found


async def test_what_was_rewound_past_takes_nothing_back(talk: Talk) -> None:
    await talk.user("We use Postgres for the albatross.")
    await talk.assistant("Noted.")
    later = await talk.user("I changed my mind: we use MySQL for the albatross, not Postgres.")
    assert f"see also T{later}" in await talk.recall("search", query="albatross Postgres")
    await rewind(talk, later)
    assert "see also" not in await talk.recall("search", query="albatross Postgres")


async def test_what_took_it_back_before_that_still_does(talk: Talk) -> None:
    await talk.user("We use Postgres for the albatross.")
    await talk.assistant("Noted.")
    holds = await talk.user("I changed my mind: we use MySQL for the albatross, not Postgres.")
    await talk.assistant("Noted.")
    gone = await talk.user("I changed my mind: we use SQLite for the albatross, not Postgres.")
    assert f"see also T{gone}" in await talk.recall("search", query="albatross Postgres")
    await rewind(talk, gone)
    [found] = [
        line for line in (await talk.recall("search", query="albatross Postgres")).splitlines() if "[Turn 1]" in line
    ]
    assert f"see also T{holds}" in found
