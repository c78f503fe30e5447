"""A session that is read here while another loom writes it: what is on its way is seen, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loom.archive import NewTurn
from loom.archive.records import Draft, TurnKind
from loom.config import Settings
from loom.cowork import elsewhere
from loom.cowork.events import (
    CommandOutput,
    Event,
    ExchangeEnded,
    Outcome,
    TextDelta,
    ThinkingDelta,
    ToolRunning,
    TurnStored,
)
from loom.cowork.following import GrowingDraft
from loom.cowork.live_output import CUT_OFF
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.models.choosing import choose_model
from tests.cowork.conftest import Start
from tests.support.listening import Listening
from tests.support.provider import Gate, Reply, ScriptedProvider, Text
from tests.support.turns import call_turn, result_turn


async def test_an_answer_is_seen_while_it_streams(
    start: Start, bench: Workbench, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_SECONDS", 0.01)
    gate = Gate()
    provider.add(Reply(Text("The first half "), gate, Text("and the other.")))
    talk = await start(choice=choose_model("openai-chat:test", Settings()))
    talk.session.submit("tell me")
    await talk.heard.until(TextDelta)
    session_id = talk.session.session_id
    assert session_id is not None
    heard = Listening()
    other = await Workbench.open(bench.locations, Settings())
    reader = CoworkSession(other, bench.locations.home, talk.session.choice, listener=heard.take)
    await reader.read(session_id)
    try:
        assert (await heard.until(TextDelta)).text == "The first half "
        gate.open()
        await talk.heard.ended()
        stored = await heard.until(TurnStored, lambda event: event.turn.role == "assistant")
        assert stored.turn.content == "The first half and the other."
        assert "".join(event.text for event in heard.of(TextDelta)) in (
            "The first half ",
            "The first half and the other.",
        )
    finally:
        await reader.close()
        await other.close()


def draft(saved: str, *turns: NewTurn) -> Draft:
    return Draft(session_id="s", exchange=3, turns=turns, updated_at=saved)


def words(text: str, kind: TurnKind = TurnKind.TEXT) -> NewTurn:
    return NewTurn(role="assistant", content=text, kind=kind)


def output(text: str) -> NewTurn:
    return NewTurn(role="tool", content=text, kind=TurnKind.TOOL_RESULT, tool_call_id="c1")


def told(growing: GrowingDraft, *drafts: Draft | None) -> list[Event]:
    return [event for each in drafts for event in growing.events(each)]


def test_only_what_is_new_is_told() -> None:
    thought = words("Hm.", TurnKind.THINKING)
    first = draft("1", thought, words("One "))
    assert told(GrowingDraft(), first, first, draft("2", thought, words("One two"))) == [
        ThinkingDelta("Hm."),
        TextDelta("One "),
        TextDelta("two"),
    ]


def test_the_output_of_a_command_is_told_without_the_note_for_a_crash() -> None:
    drafts = (draft("1", output(CUT_OFF)), draft("2", output(f"10%\r20%\n{CUT_OFF}")))
    assert told(GrowingDraft(), *drafts) == [
        ToolRunning("c1", begun=False),
        CommandOutput("c1", ""),
        CommandOutput("c1", "…␍20%"),
    ]


def test_a_command_that_is_seen_to_begin_is_told_also_if_it_writes_nothing_more() -> None:
    growing = GrowingDraft()
    assert told(growing, None) == []
    silent = draft("1", words("Run it."), output(CUT_OFF))
    called = call_turn(7, "c1", "shell_execute", {})
    assert growing.stored([called], silent) == [ToolRunning("c1"), CommandOutput("c1", "")]
    assert told(growing, silent) == []


def test_the_draft_of_a_command_whose_result_is_stored_is_told_no_more() -> None:
    growing = GrowingDraft()
    last = draft("2", output("done"))
    told(growing, draft("1", output("do")))
    assert growing.stored([result_turn(8, "c1", "shell_execute", "done")], last) == []
    assert told(growing, replace(last, updated_at="3")) == []
    # Some local servers give ids of calls again.
    assert growing.stored([call_turn(9, "c1", "shell_execute", {})], None) == []
    assert told(growing, draft("4", output(""))) == [ToolRunning("c1"), CommandOutput("c1", "")]


def test_a_draft_that_became_turns_is_not_told_again() -> None:
    growing = GrowingDraft()
    one = draft("1", words("One"))
    told(growing, one)
    assert growing.stored((), one) == []
    assert told(growing, one, draft("2", words("Next"))) == [TextDelta("Next")]


def test_what_was_given_up_ends() -> None:
    growing = GrowingDraft()
    one = draft("1", words("One"))
    assert told(growing, one, None) == [TextDelta("One")]
    assert told(growing, None, None, None) == [ExchangeEnded(3, Outcome.FAILED)]
    assert told(growing, replace(one, updated_at="2")) == [TextDelta("One")]


def test_what_became_a_turn_in_time_was_not_given_up() -> None:
    growing = GrowingDraft()
    told(growing, draft("1", words("One")), None)
    assert growing.stored((), None) == []
    assert told(growing, None, None) == []
