"""The tools are those that a model is told of, and their schemas are small."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from loom.tools.outcome import Effect, ToolFailure
from loom.tools.toolbox import Toolbox

EFFECTS = {
    "list_directory": Effect.READ,
    "read_file": Effect.READ,
    "find_files": Effect.READ,
    "search_text": Effect.READ,
    "write_file": Effect.WRITE,
    "edit_file": Effect.WRITE,
    "shell_execute": Effect.EXECUTE,
    "git_command": Effect.EXECUTE,
    "conversation_recall": Effect.READ,
    "pin": Effect.KEEP,
    "read_memory": Effect.READ,
    "write_memory": Effect.KEEP,
    "update_memory": Effect.KEEP,
    "window_usage": Effect.READ,
}


def test_every_tool_is_there_with_its_effect(tools: Toolbox) -> None:
    assert {spec.name: spec.effect for spec in tools} == EFFECTS
    assert list(tools.by_name) == list(EFFECTS)


def test_what_changes_something_can_be_previewed(tools: Toolbox) -> None:
    assert all((spec.preview is None) == (spec.effect in (Effect.READ, Effect.KEEP)) for spec in tools)


def test_a_model_is_told_of_every_argument_in_few_words(tools: Toolbox) -> None:
    from pydantic_ai import Tool

    size = 0
    for spec in tools:
        tool = Tool(
            spec.function,
            name=spec.name,
            takes_ctx=False,
            docstring_format="google",
            require_parameter_descriptions=True,
        )
        schema = tool.function_schema.json_schema
        assert tool.description
        assert all(field["description"] for field in schema.get("properties", {}).values())
        size += len(json.dumps(schema)) + len(tool.description)
    assert size < 5_650


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_directory", {}),
        ("read_file", {"path": "a.py"}),
        ("find_files", {"pattern": "*.py"}),
        ("search_text", {"pattern": "word"}),
        ("write_file", {"path": "a.py", "content": "x"}),
        ("edit_file", {"path": "a.py", "old_text": "x", "new_text": "y"}),
        ("shell_execute", {"command": "true"}),
        ("git_command", {"args": ["status"]}),
    ],
)
async def test_a_workspace_that_was_moved_away_is_said_to_be_gone(
    tools: Toolbox, root: Path, name: str, arguments: dict[str, object]
) -> None:
    root.rename(root.with_name("moved"))
    with pytest.raises(ToolFailure, match="not there any more: it was moved or deleted"):
        await tools[name].function(**arguments)


def test_the_room_is_imported_without_anything_heavy() -> None:
    script = (
        "import sys, loom.tools.toolbox\n"
        "heavy = ('pydantic_ai', 'tiktoken', 'textual', 'pydantic', 'pathspec')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
