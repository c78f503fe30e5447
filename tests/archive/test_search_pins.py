"""Words that a person pinned are a note, and are found: once, and as what they are."""

from __future__ import annotations

from contextlib import closing

import pytest

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.purge import purge
from loom.archive.records import TurnKind
from loom.archive.search.index import is_sound
from loom.state.model import Pin
from loom.state.pins import pin_meta, unpin_meta
from tests.archive.searching import found, index_all, tell


async def note(store: ConversationStore, session: str, words: str, meta: str | None) -> int:
    return await store.append_turn(session, "system", words, kind=TurnKind.NOTE, message_meta=meta)


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_pinned_words_are_found_once_and_told_from_turns(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    pin = await note(store, session, "Pinned: heron units", pin_meta("heron units", None, "person"))
    await note(store, session, f"Unpinned T{pin}: heron units", unpin_meta(Pin("heron units", pin)))
    if indexed:
        await index_all(store)
    (hit,) = await store.search_turns(session, "heron")
    assert (hit.turn_number, hit.is_pin, hit.role) == (pin, True, "system")
    assert await found(store, session, '"heron units"') == [pin]
    assert await found(store, session, "heron role:user") == []
    turn = await store.get_turn(session, pin)
    assert turn is not None and turn.is_pin


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_a_pinned_turn_is_found_and_the_note_that_pins_it_is_not(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    (said,) = await tell(store, session, "we breed the egret")
    pin = await note(
        store, session, f"Pinned T{said}: we breed the egret", pin_meta("we breed the egret", said, "person")
    )
    if indexed:
        await index_all(store)
    assert await found(store, session, "egret") == [said]
    turn = await store.get_turn(session, pin)
    assert turn is not None and not turn.is_pin


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_what_the_model_pinned_is_found_as_its_call(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    call = {"id": "c1", "name": "pin", "arguments": {"text": "bittern units"}}
    called = await store.append_turn(session, "assistant", None, tool_calls=[call], kind=TurnKind.TOOL_CALL)
    await note(store, session, "Pinned by the model: bittern units", pin_meta("bittern units", None, "model"))
    if indexed:
        await index_all(store)
    assert await found(store, session, "bittern") == [called]


@pytest.mark.parametrize("meta", ["{", "[]", '{"pin": 1}', '{"pin": {"text": 1}}', '{"other": {"text": "x"}}', None])
async def test_no_other_note_is_found(store: ConversationStore, session: str, meta: str | None) -> None:
    number = await note(store, session, "ibis", meta)
    assert await found(store, session, "ibis") == []
    await index_all(store)
    assert await found(store, session, "ibis") == []
    turn = await store.get_turn(session, number)
    assert turn is not None and not turn.is_pin


async def test_a_pin_that_an_earlier_loom_left_out_of_the_index_goes_in_a_purge(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = "SELECT id FROM conversation_turns WHERE id IN (SELECT value FROM json_each(?)) AND kind <> 'note'"
    monkeypatch.setattr("loom.archive.search.index._FINDABLE_IDS", earlier)
    await tell(store, session, "the stork nests here")
    await note(store, session, "Pinned: stork units", pin_meta("stork units", None, "person"))
    other = await store.create_session("/home/ada", "offline", "")
    kept = await tell(store, other, "a stork elsewhere")
    await index_all(store)
    await store.close()
    purge(store.path, session, store.path.parent)
    with closing(connect(store.path)) as connection:
        assert is_sound(connection)
    again = await ConversationStore.open(store.path)
    assert [hit.turn_number for hit in (await again.search("stork")).hits] == kept
    await again.close()
