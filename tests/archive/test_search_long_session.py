"""A session of thousands of turns: what was said long ago is among the first five, for the model and for the shell."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.search import SearchEngine
from tests.bench.corpus import Corpus
from tests.cli.test_main import loom

TURNS = 3_000
SAID = {
    120: ("user", "We decided to keep customer invoices for ten years, because the auditors want them."),
    340: ("tool", "Traceback (most recent call last):\npsycopg.errors.UniqueViolation: ERR-7741-QX at insert_batch"),
    560: ("assistant", "I moved the retry logic to services/payments/retry_policy.py and left a note there."),
    780: ("user", "設定ファイルの暗号化は絶対に忘れないでください。"),
    990: ("user", "My sister Marit recommended the bakery beside the harbour for the farewell party."),
}
QUESTIONS = [
    ("how long must invoices of customers be kept?", 120),
    ("what did I decide about keeping invoices", 120),
    ("ERR-7741-QX", 340),
    ("UniqueViolation in insert_batch", 340),
    ("services/payments/retry_policy.py", 560),
    ("where did you put the retrying of payments?", 560),
    ("retry_polcy.py", 560),
    ("暗号化", 780),
    ("which bakery did Marit recommend", 990),
]


@pytest.fixture(scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("long") / "home"
    store = await ConversationStore.open(home / "archive.db")
    session = await store.create_session(home, "offline", "", title="long")
    turns = list(Corpus(5).turns(TURNS, datetime(2025, 1, 1, tzinfo=UTC)))
    for number, (role, text) in SAID.items():
        tool = "shell_execute" if role == "tool" else None
        at = turns[number - 1].created_at
        turns[number - 1] = NewTurn(role=role, content=text, tool_name=tool, created_at=at)  # type: ignore[arg-type]
    for start in range(0, TURNS, 250):
        await store.append_turns(session, turns[start : start + 250])
    engine = SearchEngine(store.path)
    await engine.start()
    assert await engine.settle()
    await engine.close()
    await store.close()
    return home


@pytest.mark.parametrize(("query", "turn"), QUESTIONS)
async def test_the_store_finds_it_among_the_first_five(home: Path, query: str, turn: int) -> None:
    store = await ConversationStore.open(home / "archive.db")
    (session,) = await store.list_sessions(home)
    hits = await store.search_turns(session.id, query, limit=5)
    await store.close()
    assert turn in [hit.turn_number for hit in hits]


@pytest.mark.parametrize(("query", "turn"), [QUESTIONS[0], QUESTIONS[2], QUESTIONS[4], QUESTIONS[7]])
def test_the_command_finds_it_among_the_first_five(home: Path, query: str, turn: int) -> None:
    done = loom("search", query, "-w", str(home), "--limit", "5", "--json", home=home)
    assert done.returncode == 0, done.stderr
    assert turn in [json.loads(line)["turn_number"] for line in done.stdout.splitlines()]
