"""What the offline model says is made of results."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom.models.offline_grammar import parse
from loom.models.offline_plan import Done, make_plan
from loom.models.offline_replies import QUOTE_LINES, RECALLED_TURNS, final_answer, quote, recalled

TOOLS = frozenset({"read_file", "shell_execute", "edit_file", "conversation_recall", "git_command", "write_file"})


def answer(message: str, *done: Done) -> str:
    return final_answer(make_plan(parse(message), done, TOOLS), introduce=False)


def test_a_read_file_is_quoted_in_its_language() -> None:
    said = answer("read a.py", Done("read_file", {"path": "a.py"}, "x = 1\n", "success"))
    assert said == "`a.py`:\n\n```python\nx = 1\n```"


def test_a_no_is_honoured_with_its_reason() -> None:
    text = "The person said no; nothing was changed. They said: not on a Friday"
    said = answer("run rm -rf build", Done("shell_execute", {"command": "rm -rf build"}, text, "denied"))
    assert said == "You said **no** to `rm -rf build`. You said: “not on a Friday”. Nothing was changed."


def test_a_no_without_a_reason_is_honoured_too() -> None:
    text = "The person said no; nothing was changed."
    said = answer("replace 'a' with 'b' in c.py", Done("edit_file", {"path": "c.py", "old_text": "a"}, text, "denied"))
    assert said == "You said **no** to editing `c.py`. Nothing was changed."


def test_a_failure_is_told_in_the_tools_words() -> None:
    said = answer("read nope", Done("read_file", {"path": "nope"}, "There is no file nope.", "failed"))
    assert "**failed**" in said and "There is no file nope." in said


def test_what_was_left_out_is_named() -> None:
    said = answer("read nope then run ls", Done("read_file", {"path": "nope"}, "There is no file nope.", "failed"))
    assert "**Left out:** run `ls`" in said


def test_lines_that_are_no_requests_are_counted_to_the_last_one() -> None:
    said = answer("\n".join(f"number {number}" for number in range(5_000)))
    assert "> number 0\\\n> number 1\\\n> number 2\\\n> … and 4,997 more lines\n" in said, "each is a line of its own"
    assert "> number 3\\\n" not in answer("\n".join(f"number {number}" for number in range(4)))
    assert "… and 1 more line\n" in answer("\n".join(f"number {number}" for number in range(4)))


def test_a_missing_tool_is_named() -> None:
    assert "no tool `list_directory`" in answer("list")


def test_recalled_turns_are_cited() -> None:
    text = (
        '[Turn 12] user:\n  Can you add *JWT*?\n\n[Turn 13] tool:read_file(path="a.py")\n  [245 lines]\n\n'
        "[Turn 14] assistant:\n  Yes."
    )
    said = recalled("Found", text)
    assert "**T12** user:\n> Can you add \\*JWT\\*?" in said
    assert '**T13** tool:read\\_file(path="a.py")' in said
    assert "**T14** assistant:\n> Yes." in said


def test_the_lines_of_a_recalled_turn_stay_lines_and_its_head_has_one_colon() -> None:
    said = recalled("Found", "[Turn 12] user: (2026-11-22 07:10) match 6:\n  one\n  two")
    assert "**T12** user (2026-11-22 07:10) match 6:\n> one\\\n> two" in said


def test_what_stands_below_the_last_recalled_turn_is_none_of_its_words() -> None:
    said = recalled("Found", "Found:\n\n[Turn 2] user: (2026-11-22 07:10)\n  one\n\n[End of what was recalled.]")
    assert said.endswith("> one")
    left_out = "[left out for length: T3–T5]"
    said = recalled("Found", f"[Turn 2] user:\n  one\n\n{left_out}\n\n[End of what was recalled.]")
    assert said.endswith("> one\n\nLeft out for length: T3–T5.")


def test_that_recalled_turns_are_cut_is_said_once() -> None:
    long = "\n".join(f"  line {number}" for number in range(20))
    said = recalled("Found", f"[Turn 1] user:\n{long}\n\n[Turn 2] assistant:\n{long}")
    assert said.count("> …") == 2, "where each is cut can be seen"
    assert "more lines" not in said
    assert said.endswith("Long turns are cut; the whole is in the call above.")


def test_of_many_turns_found_the_best_are_in_view_at_the_end() -> None:
    turns = "\n\n".join(f"[Turn {number}] user: match {number}\n  words {number}" for number in range(1, 21))
    said = answer("what did we say about words", Done("conversation_recall", {"query": "words"}, turns, "success"))
    assert "words 1" in said and f"> words {RECALLED_TURNS}\n" in said and f"words {RECALLED_TURNS + 1}" not in said
    assert said.endswith(f"{20 - RECALLED_TURNS} more turns are left out; the whole is in the call above.")
    last = turns.replace("match 20", "match 99").replace("match 1\n", "\n").replace("match 15", "match 1")
    said = answer("what did we say about words", Done("conversation_recall", {"query": "words"}, last, "success"))
    assert "> words 15\n" in said and "> words 16\n" in said and "words 17" not in said, "the best one in any case"
    long = turns.replace("  words", f"  {'many ' * 70}words").replace("match 20", "match 99")
    long = long.replace("match 1\n", "match 20\n").replace("match 15", "match 1")
    said = answer("what did we say about words", Done("conversation_recall", {"query": "words"}, long, "success"))
    assert "words 15\n" in said, "the best one, however much stands before it"
    asked = answer("turns 1-20", Done("conversation_recall", {"action": "range"}, turns, "success"))
    assert "words 20" in asked


def test_a_long_turn_is_quoted_where_it_has_what_was_asked_for() -> None:
    lines = [f"  line {number}" for number in range(20)]
    lines[12] = "  the Zeppelin lands"
    turn = "\n".join(["[Turn 1] user: match 1", *lines, "", "[End of what was recalled.]"])
    said = answer("what did we say about zeppelin", Done("conversation_recall", {}, turn, "success"))
    assert "> …\\\n> line 9\\\n" in said and "> the Zeppelin lands\\\n" in said and "line 15" not in said
    assert said.count("> …") == 2


def test_a_change_is_said_once() -> None:
    done = Done("edit_file", {"path": "a_b.md"}, "Edited a_b.md (+1 −1 lines).", "success")
    assert answer("replace 'x' with 'y' in a_b.md", done) == r"Edited a\_b.md (+1 −1 lines)."


def test_recall_without_turns_is_quoted_as_it_is() -> None:
    assert "Nothing found for" in recalled("Found", "Nothing found for `x`.")


def test_long_output_is_cut_and_says_so() -> None:
    text = "\n".join(f"line {number}" for number in range(500))
    head, tail = quote(text), quote(text, end=True)
    assert "line 0\n" in head and f"line {QUOTE_LINES}" not in head and "beginning" in head
    assert "line 499" in tail and "line 0\n" not in tail and "end" in tail


def test_nothing_is_said_to_be_nothing() -> None:
    assert quote("") == quote("\n\n") == "(no output)"


@given(st.text(max_size=400))
def test_a_quoted_text_cannot_leave_its_fence(text: str) -> None:
    said = quote(text)
    if said == "(no output)":
        return
    lines = said.split("\n")
    fence = lines[0]
    assert set(fence) == {"`"}
    assert lines[1:].count(fence) == 1


@given(st.text(max_size=300))
def test_no_recalled_text_makes_it_raise(text: str) -> None:
    assert recalled("Found", f"[Turn 1] user:\n{text}\n[Turn 2] tool:x\n{text}").startswith("Found")
