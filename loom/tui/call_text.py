"""A tool call in words for a person: the tool, its main argument, the others behind it.

What is stored and what the model is sent is JSON; it stays one key away where a call is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loom.text import MAX_LINE_CHARS, show_line

MAIN_ARGUMENTS = ("command", "pattern", "query", "args", "action", "path")
"""The argument that says what a call is about, drawn bare and first."""

LONG_ARGUMENTS = ("content", "old_text", "new_text")
"""Arguments that are no line; the opened card or a diff shows them."""

Arguments = Mapping[str, Any] | str


def argument_line(arguments: Arguments, limit: int = 300) -> str:
    """The arguments of a call on one safe line, the main one first and bare, the long ones left out."""
    if isinstance(arguments, str):
        return show_line(arguments, limit)
    main = _main(arguments)
    parts = [_short(arguments[name]) for name in main]
    for name, value in arguments.items():
        if name not in (*main, *LONG_ARGUMENTS) and value not in ("", None):
            parts.append(f"{name}={_clipped(value)}")
    return show_line(" ".join(parts), limit)


def call_line(arguments: str) -> str:
    """The same of arguments as a request carries them: JSON in a string."""
    return argument_line(_decoded(arguments), MAX_LINE_CHARS)


def _main(arguments: Mapping[str, Any]) -> list[str]:
    return [name for name in MAIN_ARGUMENTS if name in arguments][:1]


def _short(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return " ".join(item[:300] for item in value[:50])
    return value[:2_000] if isinstance(value, str) else _clipped(value)


def _clipped(value: Any) -> str:
    return json.dumps(value[:200] if isinstance(value, str) else value, ensure_ascii=False, default=str)[:300]


def call_text(name: str, arguments: Arguments) -> str:
    """The whole call, not yet safe to draw: `shell_execute git status`, then each other argument on a line of its own,
    and those of several lines as lines."""
    given = _decoded(arguments)
    if isinstance(given, str):
        return f"{_word(name)} {given}".rstrip()
    main = [each for each in _main(given) if _bare(given[each]) and "\n" not in _bare(given[each])]
    head = " ".join([_word(name), *(_bare(given[each]) for each in main)])
    rest = (line for each, value in given.items() if each not in main for line in _argument(each, value))
    return "\n".join([head, *rest])


def calls_text(calls: Sequence[Mapping[str, Any]]) -> str:
    """The calls of a turn, as the archive has them, one below the other."""
    return "\n".join(call_text(str(call.get("name") or "?"), _given(call.get("arguments"))) for call in calls)


def arguments_text(arguments: Arguments) -> str:
    """All arguments of a call, each on its line or lines."""
    given = _decoded(arguments)
    if isinstance(given, str):
        return given
    return "\n".join(line for name, value in given.items() for line in _argument(name, value, indent=""))


def _given(arguments: object) -> Arguments:
    return arguments if isinstance(arguments, Mapping | str) else "" if arguments is None else _value(arguments)


def _decoded(arguments: Arguments) -> Arguments:
    """Providers send arguments as JSON in a string; what is no JSON is shown as it came."""
    if isinstance(arguments, str):
        try:
            found = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
        return found if isinstance(found, dict) else arguments
    return arguments


def _bare(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    return value if isinstance(value, str) else _value(value)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _word(name: str) -> str:
    # A name with a line break in it could pass for another argument.
    return " ".join(name.split())


def _argument(name: str, value: Any, indent: str = "  ") -> Iterator[str]:
    name = _word(name)
    if isinstance(value, str) and "\n" in value:
        yield f"{indent}{name}:"
        yield from (f"{indent}  {line}" for line in value.split("\n"))
    else:
        yield f"{indent}{name}: {value if isinstance(value, str) and value else _value(value)}"
