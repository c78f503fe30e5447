"""What was taken back later is found by its subject, and hardly ever where nothing was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.search.revisions import Reading
from loom.state.revisions import FORMULAS, revising_passages, settles_something
from tests.support.long_talk import chatter

READING = Reading(revising_passages, settles_something, FORMULAS)
WHEN = "2026-01-{day:02}T10:00:00.000000Z"


@dataclass(frozen=True)
class Case:
    said: str
    later: str
    query: str
    taken_back: bool


TRUE = [
    (
        "Let's use PostgreSQL for the queue.",
        "I changed my mind: SQLite for the queue.",
        "what do we use for the queue?",
    ),
    ("Deploy with Capistrano, please.", "We no longer deploy with Capistrano.", "Capistrano"),
    (
        "The port of the metrics server is 9100.",
        "Correction: the metrics server listens on 9200.",
        "metrics server port",
    ),
    ("Never use an ORM here.", "Forget what I said about the ORM.", "may I use an ORM?"),
    ("Use tabs in the Makefile.", "On second thought, use spaces in the Makefile.", "Makefile indentation tabs"),
    ("We go with gRPC for the gateway.", "Let's go back to REST for the gateway.", "gateway protocol"),
    ("Store sessions in Memcached.", "Switch to Valkey for the sessions, Memcached is gone.", "Memcached sessions"),
    ("Nimm PostgreSQL für die Warteschlange.", "Wir nehmen doch lieber SQLite für die Warteschlange.", "Warteschlange"),
    ("On prend Redis pour le cache partagé.", "J'ai changé d'avis sur le cache partagé.", "cache partagé"),
    ("Usemos Redis para la caché compartida.", "Ya no usamos Redis para la caché compartida.", "caché compartida"),
    ("Vamos usar Redis na fila de mensagens.", "Mudei de ideia sobre a fila de mensagens.", "fila de mensagens"),
    ("Usiamo Redis per la coda dei messaggi.", "Non usiamo più Redis per la coda dei messaggi.", "coda dei messaggi"),
    ("認証にはJWTを使いましょう。", "気が変わりました。認証はセッションにしましょう。", "認証"),
    ("认证采用JWT吧。", "我改主意了，认证不用JWT。", "认证"),
]
FALSE = [
    ("Let's use PostgreSQL for the queue.", "I changed my mind about the logo, make it blue.", "PostgreSQL queue"),
    ("Let's use PostgreSQL for the queue.", "Why does the queue use PostgreSQL and not SQLite instead?", "queue"),
    ("Deploy with Capistrano, please.", "Capistrano no longer prints that warning.", "Capistrano"),
    ("The metrics server listens on 9100.", "Actually the metrics server works fine.", "metrics server"),
    ("Never use an ORM here.", "Forget what I said about the tabs.", "ORM"),
    ("Use tabs in the Makefile.", "Show me the Makefile again.", "Makefile"),
    ("We go with gRPC for the gateway.", "If we go back to REST for the gateway, what breaks?", "gateway"),
    ("Store sessions in Memcached.", "> Switch to Valkey, Memcached is gone\nWhat does this mail mean?", "Memcached"),
    ("The button says Cancel.", 'Rename the button to "I changed my mind".', "button Cancel"),
    ("Nimm PostgreSQL für die Warteschlange.", "Die Warteschlange läuft nicht mehr.", "Warteschlange"),
    ("On prend Redis pour le cache partagé.", "Le cache partagé ne marche plus.", "cache partagé"),
    ("認証にはJWTを使いましょう。", "認証のテストをもう一度実行してください。", "認証"),
    ("Write the parser in Rust.", "Scrap the plan for the landing page.", "parser Rust"),
    ("Use httpx for the client.", "Use a list instead.", "httpx client"),
    ("I changed my mind: SQLite for the queue.", "I changed my mind about the logo, make it blue.", "SQLite queue"),
    ("Use httpx instead for the client.", "Use a list instead.", "httpx client"),
    ("気が変わりました。認証はセッションにしましょう。", "気が変わりました。ロゴは青にしましょう。", "認証"),
]  # fmt: skip
CASES = [Case(*case, taken_back) for cases, taken_back in ((TRUE, True), (FALSE, False)) for case in cases]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ConversationStore]:
    store = await ConversationStore.open(tmp_path / "archive.db")
    yield store
    await store.close()


async def _points_there(store: ConversationStore, case: Case) -> bool:
    session = await store.create_session("/home/ada/src/shop", "offline", "")
    said = await store.append_turn(session, "user", case.said, created_at=WHEN.format(day=1))
    for turn in chatter(60, seed=case.said):
        await store.append_turn(session, turn.role, turn.content, created_at=WHEN.format(day=2))
    later = await store.append_turn(session, "user", case.later, created_at=WHEN.format(day=3))
    hits = await store.search_turns(session, case.query)
    assert said in [hit.turn_number for hit in hits[:5]], case
    found = await store.find_revisions(hits, case.query, READING, session_id=session)
    others = [revision for (_, turn), revision in found.items() if turn != said]
    assert not others, (case, others)
    revision = found.get((session, said))
    assert revision is None or revision.turn_number == later, (case, revision)
    return revision is not None


async def test_few_are_missed_and_none_is_made_up(store: ConversationStore, capsys: pytest.CaptureFixture[str]) -> None:
    found = {case: await _points_there(store, case) for case in CASES}
    right = sum(found[case] for case in CASES if case.taken_back)
    wrong = [case for case in CASES if found[case] and not case.taken_back]
    missed = [case for case in CASES if not found[case] and case.taken_back]
    with capsys.disabled():
        print(f"\nrevisions: {len(CASES)} cases, {right} of {len(TRUE)} found, {len(wrong)} made up")
    assert not wrong
    assert right >= 0.85 * len(TRUE), missed


async def test_the_newest_revision_counts_and_only_later_ones(store: ConversationStore) -> None:
    session = await store.create_session("/home/ada/src/shop", "offline", "")
    texts = [
        "Let's use Redis for the ledger.",
        "I changed my mind, use Kafka for the ledger.",
        "Forget what I said, the ledger stays in Redis.",
    ]
    turns = [await store.append_turn(session, "user", text) for text in texts]
    hits = await store.search_turns(session, "ledger")
    found = await store.find_revisions(hits, "ledger", READING, session_id=session)
    assert {turn: revision.turn_number for (_, turn), revision in found.items()} == {
        turns[0]: turns[2],
        turns[1]: turns[2],
    }
    assert found[session, turns[0]].passage == texts[2]


async def test_where_much_was_said_a_name_and_a_common_word_tell_the_subject(store: ConversationStore) -> None:
    session = await store.create_session("/home/ada/src/shop", "offline", "")
    said = await store.append_turn(session, "user", "Capistrano puts the parser on the tests.")
    await store.append_turns(session, [NewTurn(role=one.role, content=one.content) for one in chatter(2_100)])
    later = await store.append_turn(session, "user", "We no longer need Capistrano for the parser.")
    await store.append_turn(session, "user", "Forget what I said about the tests of the parser.")
    hits = [hit for hit in await store.search_turns(session, "Capistrano") if hit.turn_number == said]
    found = await store.find_revisions(hits, "Capistrano", READING, session_id=session)
    assert [revision.turn_number for revision in found.values()] == [later]


async def test_what_the_model_or_a_tool_says_takes_nothing_back(store: ConversationStore) -> None:
    session = await store.create_session("/home/ada/src/shop", "offline", "")
    await store.append_turn(session, "user", "Let's use Redis for the ledger.")
    await store.append_turn(session, "assistant", "I changed my mind: Kafka for the ledger.")
    await store.append_turn(session, "tool", "Forget what I said about the ledger.", tool_name="read_file")
    hits = await store.search_turns(session, "ledger")
    assert not await store.find_revisions(hits, "ledger", READING, session_id=session)
