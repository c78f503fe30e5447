"""Calls in words for a person."""

from __future__ import annotations

import pytest

from loom.tools.recall_text import call_text as written
from loom.tools.recall_text import read_call, recalled
from loom.tui.call_text import argument_line, arguments_text, call_line, call_text, calls_text
from loom.tui.recall_words import recall_words
from tests.support.turns import call_turn, result_turn, turn


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"path": "a.py", "offset": 3}, "a.py offset=3"),
        ({"path": "src", "pattern": "x y"}, 'x y path="src"'),
        ({"args": ["commit", "-m", "fix it"]}, "commit -m fix it"),
        ({"path": "a.py", "old_text": "x", "new_text": "y"}, "a.py"),
        ({"command": "a\nb\x1b[2J"}, "a b␛[2J"),
        ("not json", "not json"),
        ({"odd": {"deep": [1, None]}}, 'odd={"deep": [1, null]}'),
    ],
)
def test_arguments_stand_on_one_safe_line(arguments: dict[str, object] | str, line: str) -> None:
    assert argument_line(arguments) == line


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"path": "a.py", "offset": 3}, "read_file a.py\n  offset: 3"),
        ({"command": 'say "hi"', "timeout": None}, 'read_file say "hi"\n  timeout: null'),
        ({"command": "cd x\nmake"}, "read_file\n  command:\n    cd x\n    make"),
        ({"path": "a", "new_text": "", "old_text": "x\ny"}, 'read_file a\n  new_text: ""\n  old_text:\n    x\n    y'),
        ('{"path": "a.py"}', "read_file a.py"),
        ('{"path": "a.p', 'read_file {"path": "a.p'),
        ("[1, 2]", "read_file [1, 2]"),
        ("", "read_file"),
        ({}, "read_file"),
        ({"path": "a", "b\nc": [1]}, "read_file a\n  b c: [1]"),
    ],
)
def test_a_call_is_its_tool_its_main_argument_and_the_others_below(
    arguments: dict[str, object] | str, text: str
) -> None:
    assert call_text("read_file", arguments) == text


def test_deeply_nested_arguments_are_shown_as_they_came() -> None:
    assert call_text("t", "[" * 200_000).startswith("t [[[")


def test_calls_of_a_turn_stand_below_each_other() -> None:
    calls = [{"name": "a", "arguments": {"path": "x"}}, {"name": "b", "arguments": None}, {"arguments": 3}]
    assert calls_text(calls) == "a x\nb\n? 3"
    assert arguments_text({"path": "x", "content": "1\n2"}) == "path: x\ncontent:\n  1\n  2"
    assert call_line('{"path": "x", "limit": 2}') == "x limit=2"


def test_a_written_call_is_read_again() -> None:
    arguments = {"path": 'a "b".py', "lines": [1, {"x": ")"}], "text": "one\ntwo, three=(4)"}
    line = f"  {written({'name': 'edit_file', 'arguments': arguments})} and more"
    call = read_call(line, 2)
    assert call is not None and (call.name, call.arguments, line[call.end :]) == ("edit_file", arguments, " and more")
    assert read_call("edit_file(path=x)") is None and read_call("no call") is None
    assert read_call('edit_file(path="x"') is None and read_call('edit_file(path="x" y=1)') is None


def test_recalled_calls_are_in_words_and_everything_else_is_as_it_was() -> None:
    asked = call_turn(2, "c", "edit_file", {"path": "a.py", "new_text": "x\ny"})
    answer = turn(4, "assistant", 'Use it so:\nedit_file(path="a.py")')
    file = result_turn(3, "c", "read_file", 'print(x="1")\n[Turn 9] assistant: (not a head)')
    text = "\n\n".join(
        [
            "Recalled from the archive.",
            recalled(asked).written(),
            recalled(file, {"path": "b.py"}).written(),
            recalled(answer).written(),
            "End.",
        ]
    )
    said = recall_words(text)
    assert "  edit_file a.py\n    new_text:\n      x\n      y" in said
    assert "] tool: read_file b.py (2026-03-04 10:00)" in said
    assert '  print(x="1")' in said and '  Use it so:\n  edit_file(path="a.py")' in said
    assert said.endswith("\n\nEnd.") and said.startswith("Recalled from the archive.\n\n[Turn 2] assistant:")


def test_a_recalled_call_that_is_cut_stays_as_it_is() -> None:
    cut = recalled(call_turn(2, "c", "edit_file", {"path": "a.py", "new_text": "x" * 500})).around_match(60)
    assert recall_words(cut.written()) == cut.written()
