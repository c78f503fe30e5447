"""Make docs/tour-wire.md: the tour with a model behind a wire. `python docs/tour_wire.py`.

A loopback server speaks streaming Chat Completions from a script; everything else is loom as anybody runs it.
"""

from __future__ import annotations

import sys

from tour import ROOT, Terminal, Tour, leave, record, say, send

sys.path.insert(0, str(ROOT))
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Gate, Reasoning, Reply, Text

START = "loom cowork -w checkout --model openai-chat:scripted"

SCRIPT = (
    Reply(
        Reasoning("A search will find it."), Text("I search for it."), Call("search_text", {"pattern": "def show_line"})
    ),
    Reply(Text("`show_line` is in `loom/text.py`.")),
    Reply(Text("I read it."), Call("read_file", {"path": "loom/text.py", "offset": 40, "limit": 20})),
    Reply(Text("It folds white space, makes the line safe and cuts it with an ellipsis.")),
    Reply(
        Text("One line to change."),
        Call(
            "edit_file",
            {"path": "README.md", "old_text": "that never forgets", "new_text": "that forgets nothing"},
        ),
    ),
    Reply(Text("Done: the README says *forgets nothing* now.")),
    Reply(Text("I run them."), Call("shell_execute", {"command": "python -m pytest -q tests/test_text.py"})),
    Reply(Text("All of them pass.")),
    Reply(Text("I would remove the docs."), Call("shell_execute", {"command": "rm -rf docs"})),
    Reply(Text("Understood: the docs stay.")),
    Reply(Text("Once upon a time there was a coworker that forgot"), Gate(), Text(" nothing.")),
    Reply(Text("I look it up."), Call("conversation_recall", {"action": "search", "query": "docs stay"})),
    Reply(Text("You said no to removing them: *the docs stay* (T26).")),
)


def walk(terminal: Terminal, tour: Tour) -> None:
    send(terminal, START)
    terminal.wait("Workspace")
    say(terminal, "Where is show_line?")
    terminal.wait("in loom/text.py")
    tour.step("Find", "Thinking is folded, the call is a card.", terminal.settle())
    say(terminal, "What does it do?")
    terminal.wait("It folds white space")
    tour.step("Read", "The next answer, after a read.", terminal.settle())
    say(terminal, "Say `forgets nothing` in the README.")
    terminal.wait("always")
    tour.step("Edit", "The diff, and the question.", terminal.settle())
    terminal.press("End")
    terminal.settle()
    terminal.press("y")
    terminal.wait("the README says")
    say(terminal, "Run the text tests.")
    terminal.wait("always")
    terminal.settle()
    terminal.press("y")
    terminal.wait("All of them pass")
    tour.step("Test", "A command, allowed once.", terminal.settle())
    say(terminal, "Clean up.")
    terminal.wait("always")
    terminal.settle()
    terminal.press("n")
    terminal.type("the docs stay")
    terminal.press("Enter")
    terminal.wait("Understood")
    tour.step("Refuse", "A command, refused with a reason.", terminal.settle())
    say(terminal, "Tell me a story.", rest=False)
    terminal.wait("that forgot")
    terminal.press("Escape")
    terminal.wait("interrupted")
    tour.step("Interrupt", "Esc closed the connection; the words that had come are kept.", terminal.settle())
    leave(terminal)
    send(terminal, START)
    terminal.wait("New session")
    terminal.press("Down")
    terminal.press("Enter")
    terminal.wait("Tell me a story")
    say(terminal, "What did we say about the docs?")
    terminal.wait("You said no")
    tour.step("Resume and recall", "The next day, in the same session.", terminal.settle())
    terminal.press("C-q")


if __name__ == "__main__":
    with ScriptedProvider(SCRIPT, models=("scripted",)) as provider:
        record(
            "tour-wire.md",
            "The tour over a wire",
            "docs/tour_wire.py",
            walk,
            OPENAI_BASE_URL=provider.base_url,
            OPENAI_API_KEY="",
        )
