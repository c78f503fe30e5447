"""A title that a model writes: only for who asked for it, once, and never in the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.archive.records import TurnKind
from loom.cowork.events import Notice, TitleChanged
from loom.cowork.titling import TITLE_CHARS, cleaned
from loom.cowork.workbench import Workbench
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Failure, Gate, Reply, Text, server_error


class Both:
    """Answers conversations, and gives titles; keeps what it was asked for each."""

    def __init__(self, title: Reply | Failure) -> None:
        self.title = title
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Reply | Failure:
        if request.body["model"] != "small":
            return Reply(Text("Answered."))
        self.asked.append(request)
        return self.title


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[Both]:
    script = Both(Reply(Text('"Fix the Login Page."'), usage=(40, 6)))
    with ScriptedProvider(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield script


def titled(bench: Workbench) -> Workbench:
    return replace(bench, settings=replace(bench.settings, title_model="openai-chat:small"))


def title(talk: Talk) -> str:
    assert talk.session.session is not None
    return talk.session.session.title


async def test_it_is_written_once_from_the_first_message(start: Start, bench: Workbench, both: Both) -> None:
    talk = await start(choice=chat(), on=titled(bench))
    await talk.say("The login page is broken, see @README.md")
    await talk.session.titled()
    await talk.say("And now something else.")
    assert title(talk) == "Fix the Login Page"
    assert [event.title for event in talk.heard.of(TitleChanged)] == ["Fix the Login Page"]
    (asked,) = both.asked
    assert "The login page is broken" in str(asked.messages)
    assert not asked.body.get("tools")
    note = next(t for t in await talk.session.transcript() if t.kind is TurnKind.NOTE)
    assert note.usage == {"input_tokens": 40, "output_tokens": 6}
    assert "openai-chat:small" in (note.content or "")


async def test_files_that_the_message_names_stay_with_the_conversation_s_model(
    start: Start, bench: Workbench, workspace: Path, both: Both
) -> None:
    (workspace / "keys.txt").write_text("the secret is 4711")
    talk = await start(choice=chat(), on=titled(bench))
    await talk.say("Read @keys.txt")
    await talk.session.titled()
    (asked,) = both.asked
    assert "Read @keys.txt" in str(asked.messages)
    assert "4711" not in str(asked.messages)
    assert "4711" in ((await talk.session.transcript())[0].content or "")


async def test_a_command_before_the_first_message_does_not_cost_the_title(
    start: Start, bench: Workbench, both: Both
) -> None:
    talk = await start(choice=chat(), on=titled(bench))
    talk.session.run_command("true")
    await talk.heard.ended()
    await talk.say("The login page is broken")
    await talk.session.titled()
    await talk.say("And now something else.")
    await talk.session.titled()
    assert title(talk) == "Fix the Login Page"
    assert len(both.asked) == 1


async def test_who_named_the_session_first_is_not_asked_about(start: Start, bench: Workbench, both: Both) -> None:
    talk = await start(choice=chat(), on=titled(bench))
    talk.session.run_command("true")
    await talk.heard.ended()
    await talk.session.rename("Mine")
    await talk.say("The login page is broken")
    await talk.session.titled()
    assert title(talk) == "Mine"
    assert both.asked == []


async def test_without_the_setting_no_model_is_asked(start: Start, both: Both) -> None:
    talk = await start(choice=chat())
    await talk.say("The login page is broken")
    await talk.session.titled()
    assert both.asked == []
    assert title(talk) == "The login page is broken"


async def test_a_resumed_session_keeps_its_title(start: Start, bench: Workbench, both: Both) -> None:
    first = await start(choice=chat())
    await first.say("The login page is broken")
    await first.session.close()
    again = await start(choice=chat(), on=titled(bench), resume=first.session.session_id)
    await again.say("Go on.")
    await again.session.titled()
    assert both.asked == []


async def test_a_failure_is_said_once_and_costs_nothing(start: Start, bench: Workbench, both: Both) -> None:
    both.title = server_error()
    talk = await start(choice=chat(), on=titled(bench))
    await talk.say("The login page is broken")
    await talk.session.titled()
    await talk.say("Go on.")
    assert len(both.asked) == 1
    assert title(talk) == "The login page is broken"
    (notice,) = [n for n in talk.heard.of(Notice) if "title" in n.text]
    assert notice.severity == "warning"


@pytest.mark.parametrize("words", ["", "***", "\n\n"])
async def test_an_answer_without_words_is_no_title(start: Start, bench: Workbench, both: Both, words: str) -> None:
    both.title = Reply(Text(words))
    talk = await start(choice=chat(), on=titled(bench))
    await talk.say("The login page is broken")
    await talk.session.titled()
    assert title(talk) == "The login page is broken"


async def test_the_person_s_title_stands(start: Start, bench: Workbench, both: Both) -> None:
    gate = Gate()
    both.title = Reply(gate, Text("Another One"))
    talk = await start(choice=chat(), on=titled(bench))
    await talk.say("The login page is broken")
    await talk.session.rename("Mine")
    gate.open()
    await talk.session.titled()
    assert title(talk) == "Mine"


async def test_to_leave_does_not_wait_for_it(start: Start, bench: Workbench, both: Both) -> None:
    gate = Gate()
    both.title = Reply(gate, Text("Too Late"))
    talk = await start(choice=chat(), on=titled(bench))
    await talk.say("The login page is broken")
    await talk.session.close()
    assert not gate.opened.is_set()
    assert title(talk) == "The login page is broken"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Fix the Login Page", "Fix the Login Page"),
        ('Title: "Fix it"\n\nIs that good?', "Fix it"),
        ("**Fix it!**", "Fix it"),
        ("修复登录页面。", "修复登录页面"),
        ("word " * 40, " ".join(["word"] * 12)),
        ("x" * 200, "x" * TITLE_CHARS),
        ("\ud800 broken", "\ufffd broken"),
        ("", ""),
    ],
)
def test_only_the_title_is_taken_of_an_answer(answer: str, expected: str) -> None:
    assert cleaned(answer) == expected


@given(st.text())
def test_any_answer_gives_a_short_line_or_nothing(answer: str) -> None:
    line = cleaned(answer)
    assert len(line) <= TITLE_CHARS
    assert len(line.splitlines()) <= 1


async def test_a_command_lends_its_words_until_there_is_a_message(start: Start) -> None:
    talk = await start()
    for command in ("printf  'one\n'", "echo two"):
        talk.session.run_command(command)
        await talk.heard.ended()
    assert title(talk) == "!printf 'one '", "the first one's, in one line"
    assert [event.title for event in talk.heard.of(TitleChanged)] == ["!printf 'one '"]
    await talk.session.close()
    again = await start(resume=talk.session.session_id)
    await again.say("What did we say about one?")
    assert title(again) == "What did we say about one?"


async def test_a_title_that_was_given_stays_whatever_is_run_and_said(start: Start) -> None:
    talk = await start()
    talk.session.run_command("echo one")
    await talk.heard.ended()
    await talk.session.rename("!mine")
    talk.session.run_command("echo two")
    await talk.heard.ended()
    await talk.say("read README.md")
    assert title(talk) == "!mine"


async def test_a_model_titles_what_a_command_began(start: Start, bench: Workbench, both: Both) -> None:
    talk = await start(choice=chat(), on=titled(bench))
    talk.session.run_command("echo one")
    await talk.heard.ended()
    await talk.say("The login page is broken.")
    await talk.session.titled()
    assert title(talk) == "Fix the Login Page"
