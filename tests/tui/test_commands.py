"""Slash commands: parsing, completion, one list."""

from __future__ import annotations

import pytest

from loom.tui.commands import COMMANDS, complete, likely, parse
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.chat_help import chat_help


def test_a_command_has_a_name_and_an_argument() -> None:
    call = parse("  /compact keep the API  ")
    assert call is not None
    assert (call.name, call.argument) == ("compact", "keep the API")


@pytest.mark.parametrize("text", ["/etc/hosts is wrong", "/", "// no", "hello /help", "/help\nand more", "/-"])
def test_what_only_looks_like_a_command_is_a_message(text: str) -> None:
    assert parse(text) is None


def test_an_unknown_command_is_no_message() -> None:
    call = parse("/frobnicate")
    assert call is not None
    assert call.command is None


def test_completion_puts_prefixes_first() -> None:
    inner = ["recall", "instructions", "uncompact", "unclear"]
    assert [c.name for c in complete("/c")] == ["context", "compact", "clear", "copy", *inner]
    assert complete("/compact ") == ()
    assert complete("see /c") == ()
    assert len(complete("/")) == len(COMMANDS)


@pytest.mark.parametrize(
    ("typed", "meant"), [("/exit", "quit"), ("/resume", "sessions"), ("/cost", "context"), ("/summ", "compact")]
)
def test_the_name_that_another_program_has_for_it_completes_to_it(typed: str, meant: str) -> None:
    assert [command.name for command in complete(typed)] == [meant]


def test_no_name_of_another_program_is_a_command_here() -> None:
    names = {command.name for command in COMMANDS}
    elsewhere = [name for command in COMMANDS for name in command.elsewhere]
    assert not names & set(elsewhere) and len(elsewhere) == len(set(elsewhere))


@pytest.mark.parametrize(("name", "meant"), [("resume", "sessions"), ("modle", "model"), ("zzz", None), ("", None)])
def test_the_command_that_may_be_meant_is_known(name: str, meant: str | None) -> None:
    found = likely(name)
    assert (found.name if found is not None else None) == meant


def test_every_command_has_a_handler_and_stands_in_the_help() -> None:
    commands = next(group for group in chat_help() if group.title == "Commands")
    assert [name for name, _ in commands.entries] == [command.usage for command in COMMANDS]
    for command in COMMANDS:
        assert callable(getattr(ChatScreen, command.handler))
