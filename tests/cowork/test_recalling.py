"""A model that looks things up in a long session, and the hints that it is given, over a real wire."""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive.records import NewTurn
from loom.config import Settings
from loom.context.hint import HINT_TOKENS
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from tests.cowork.conftest import Start, chat
from tests.support.long_talk import PLANTED, tell
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Call, Reasoning, Reply, Text

SMALL = Settings(context_window=24_000, output_reserve=2_000)
"""A window that a session of a thousand turns leaves far behind."""


@pytest.fixture
async def bench(locations: Locations) -> AsyncIterator[Workbench]:
    workbench = await Workbench.open(locations, SMALL)
    yield workbench
    await workbench.close()


async def _long_session(bench: Workbench, workspace: Path) -> tuple[str, dict[str, int]]:
    session = await bench.store.create_session(workspace, "openai-chat:test", "")
    return session, await tell(bench.store, session)


def _newest(request: Request) -> str:
    """The message, and what stands right before it."""
    trailing = itertools.takewhile(lambda message: message["role"] == "user", reversed(request.messages))
    return "\n\n".join(str(message["content"]) for message in reversed(list(trailing)))


async def test_the_model_gets_the_right_turn_among_its_first_five_matches(
    start: Start, bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    session, turns = await _long_session(bench, workspace)
    talk = await start(resume=session, choice=chat(SMALL))
    for plant in PLANTED:
        provider.add(
            Reply(Call("conversation_recall", {"action": "search", "query": plant.asked})), Reply(Text("I see."))
        )
        await talk.say("Look it up.")
        answer = next(m["content"] for m in reversed(provider.requests[-1].messages) if m["role"] == "tool")
        matches = re.findall(r"^\[Turn (\d+)\] .* match ([1-5])\b", answer, re.MULTILINE)
        assert turns[plant.asked] in [int(turn) for turn, _ in matches], (plant, answer)
        assert plant.said.content.splitlines()[0] in answer
        assert bench.counter.count(answer) <= (24_000 - 2_000) // 8, "an eighth of the window"


async def test_the_words_that_ask_do_not_stand_beside_what_they_find(start: Start, provider: ScriptedProvider) -> None:
    provider.add(
        Reply(Text("Bob it is, the zebra.")),
        Reply(Call("conversation_recall", {"action": "search", "query": "zebra"})),
        Reply(Text("I see.")),
    )
    talk = await start(choice=chat(SMALL))
    await talk.say("Call it Bob.")
    await talk.say("What was its name?")
    answer = next(m["content"] for m in reversed(provider.requests[-1].messages) if m["role"] == "tool")
    assert re.findall(r"^\[Turn \d+\] (\w+):", answer, re.MULTILINE) == ["user", "assistant"], answer


async def test_what_the_model_thinks_before_it_asks_is_no_match(start: Start, provider: ScriptedProvider) -> None:
    provider.add(
        Reply(Text("Red it is.")),
        Reply(
            Reasoning("They ask for the colour of the zeppelin. I search for zeppelin and colour."),
            Call("conversation_recall", {"action": "search", "query": "zeppelin colour"}),
        ),
        Reply(Text("I see.")),
    )
    talk = await start(choice=chat(SMALL))
    await talk.say("The zeppelin is painted red.")
    await talk.say("Which was it?")
    answer = next(m["content"] for m in reversed(provider.requests[-1].messages) if m["role"] == "tool")
    matches = re.findall(r"^\[Turn (\d+)\] .* match \d+\n  (.*)", answer, re.MULTILINE)
    assert matches == [("1", "The zeppelin is painted red.")], answer


async def test_an_exchange_full_of_the_words_does_not_hide_what_was_said_before(
    start: Start, bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    session = await bench.store.create_session(workspace, "openai-chat:test", "")
    words = "a zeppelin is seen in the hangar of Oberursel"
    log = await bench.store.append_turn(session, "tool", f"{'nothing at all ' * 200}{words}", tool_name="shell_execute")
    talk = await start(resume=session, choice=chat(SMALL))
    for n in range(60):
        provider.add(Reply(Text(f"Look {n}: {words}."), Call("read_file", {"path": f"{n}.md"})))
    provider.add(
        Reply(Call("conversation_recall", {"action": "search", "query": words, "limit": 3})), Reply(Text("I see."))
    )
    await talk.say("Go on.")
    answer = next(m["content"] for m in reversed(provider.requests[-1].messages) if m["role"] == "tool")
    assert f"[Turn {log}] tool:" in answer and words in answer, answer


async def test_what_the_model_said_in_this_exchange_is_found_once_it_left_the_window(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(
        Reply(
            Reasoning("The hangar is at Oberursel, I see."),
            Text("The zeppelin has the serial number Z-4711."),
            Call("read_file", {"path": "README.md"}),
        )
    )
    for n in range(60):
        provider.add(Reply(Text(f"Step {n}: {'word ' * 600}", pieces=1), Call("read_file", {"path": f"{n}.md"})))
    provider.add(
        Reply(Call("conversation_recall", {"action": "search", "query": "zeppelin serial number"})),
        Reply(Call("conversation_recall", {"action": "search", "query": "hangar Oberursel"})),
        Reply(Text("I see.")),
    )
    talk = await start(choice=chat(SMALL))
    await talk.say("Go on.")
    assert "Z-4711" not in str(provider.requests[-3].messages), "it is to have left"
    answers = [str(m["content"]) for m in provider.requests[-1].messages if m["role"] == "tool"][-2:]
    assert "Z-4711" in answers[0] and "at Oberursel" in answers[1], answers


async def test_a_large_turn_is_read_on_where_it_was_cut(
    start: Start, bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    session = await bench.store.create_session(workspace, "openai-chat:test", "")
    text = "\n".join(f"line {number}" for number in range(20_000))
    turn = await bench.store.append_turn(session, "tool", text, tool_name="shell_execute")
    talk = await start(resume=session, choice=chat(SMALL))
    at = text.index("line 15000")
    provider.add(
        Reply(Call("conversation_recall", {"action": "range", "start_turn": turn, "offset": at, "limit": 40})),
        Reply(Text("I see.")),
    )
    await talk.say("Read on.")
    answer = next(m["content"] for m in reversed(provider.requests[-1].messages) if m["role"] == "tool")
    assert "…line 15000\n  line 15001" in answer and "line 15005" not in answer


async def test_a_message_that_refers_to_what_left_the_window_brings_its_turn(
    start: Start, bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    session, turns = await _long_session(bench, workspace)
    talk = await start(resume=session, choice=chat(SMALL))
    assert talk.session.usage is not None
    for plant, message in zip(
        PLANTED,
        (
            "What did we say about the customer's invoices?",
            "Do you remember the E0433 we had?",
            "Which check did you mention in services/billing/lease_guard.py?",
            "請求書の締め切りについて何を決めましたか?",
        ),
        strict=True,
    ):
        provider.add(Reply(Text("I see.")))
        await talk.say(message)
        sent = _newest(provider.requests[-1])
        assert f"T{turns[plant.asked]} " in sent, sent
        begins = sent.index("[This may refer")
        hint = sent[begins : sent.index("shows them.]", begins) + len("shows them.]")]
        assert bench.counter.count(hint) <= HINT_TOKENS


async def test_a_message_with_which_turns_leave_brings_those_too(
    start: Start, bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    session = await bench.store.create_session(workspace, "openai-chat:test", "")
    for number in range(60):
        question, answer = f"What holds for zq{number}x?", f"It is port {9_000 + number}. {'It was said. ' * 250}"
        await bench.store.append_turns(
            session, [NewTurn(role="user", content=question), NewTurn(role="assistant", content=answer)]
        )
    talk = await start(resume=session, choice=chat(SMALL))
    seen = (await talk.session.window_contents()).exchanges[0]
    asked = f"zq{(seen.first_turn - 1) // 2}x"
    provider.add(Reply(Text("I see.")))
    await talk.say(f"What did we say about {asked}?")
    sent = str(provider.requests[-1].messages)
    assert sent.count(f"What holds for {asked}?") == 1, "it has left, and stands in the hint alone"
    hint = _newest(provider.requests[-1])
    assert f"T{seen.first_turn} user" in hint, hint
    last_left = int(re.findall(r"T1–T(\d+) left the window", sent)[0])
    assert f"(up to T{last_left})" in hint


@pytest.mark.parametrize("message", ["Run the tests.", "Rename the limits of the parser.", "写一个过滤偶数的函数。"])
async def test_other_messages_go_out_as_they_are(
    start: Start, bench: Workbench, workspace: Path, provider: ScriptedProvider, message: str
) -> None:
    session = await bench.store.create_session(workspace, "openai-chat:test", "")
    await tell(bench.store, session, count=1_700)
    talk = await start(resume=session, choice=chat(SMALL))
    provider.add(Reply(Text("I see.")))
    await talk.say(message)
    assert "This may refer" not in _newest(provider.requests[-1])


async def test_in_a_short_session_nothing_is_hinted(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Fine.")), Reply(Text("I see.")))
    talk = await start(choice=chat(SMALL))
    await talk.say("Let's use Redis.")
    await talk.say("What did we say about Redis? Fix that error, open that file, as we discussed.")
    assert "This may refer" not in _newest(provider.requests[-1])
