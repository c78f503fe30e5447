"""The state as the YAML that stands in every window."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from loom.state.commands import looks_only
from loom.state.entries import clip
from loom.state.model import Constraint, ErrorResolved, SessionState

if TYPE_CHECKING:
    import yaml

MAX_TOKENS = 1_000

# What is shown of one entry; the cited turn has the rest.
_COMMAND_CHARS = 240
_PATH_CHARS = 160
_TEXT_CHARS = 300
_SHORT_CHARS = 100

_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Beside the usual ones, as YAML 1.1 has it."""

_Value = str | dict[str, object]
_Document = dict[str, list[_Value]]

# What leaves when there is too much, in this order: oldest entries first, down to this many of each section.
_LEAVES: tuple[tuple[str, int], ...] = (
    ("commands", 4),
    ("files_touched", 10),
    ("errors_resolved", 2),
    ("key_decisions", 5),
    ("commands", 1),
    ("files_touched", 4),
    ("errors_resolved", 0),
    ("key_decisions", 2),
    ("commands", 0),
    ("files_touched", 0),
    ("key_decisions", 0),
)
_LEAVES_LAST: tuple[tuple[str, int], ...] = (("constraints", 0), ("pins", 0))


_BEGUN = "instructions and earlier turns may name paths there; tools work in the workspace"


@dataclass(frozen=True, slots=True)
class SessionLine:
    """What the state says about the session itself."""

    reference: str
    workspace: str
    model: str
    turn_count: int
    total_tokens: int
    begun_in: str = ""
    """Another folder, in which the session was begun; empty when it is the workspace."""


def estimate(text: str) -> int:
    """Tokens, estimated on the high side: a third of the UTF-8 bytes."""
    return (len(text.encode("utf-8", "surrogatepass")) + 2) // 3


def to_yaml(
    state: SessionState,
    session: SessionLine,
    *,
    max_tokens: int = MAX_TOKENS,
    count: Callable[[str], int] = estimate,
) -> str:
    """The state as YAML of at most `max_tokens`, every entry with its turn; the same for the same state,
    always.

    Too much leaves by rule: old commands (those that only looked first), files, errors and decisions, a few
    of each before more of any; then long constraints are shown by their first 100 characters (pins always are);
    then the oldest constraints leave, and the oldest pins last; then the focus and the session's own line are
    cut. Only a limit under about 120 tokens cannot be kept.
    """
    document = _document(state)
    focus, line = clip(state.current_focus, _SHORT_CHARS), _shown(session, _PATH_CHARS)
    text = _text(document, focus, line)
    if (size := count(text)) <= max_tokens:
        return text
    for section, floor in _LEAVES:
        size, text = _shrink(document, section, floor, focus, line, max_tokens, count, size, text)
    if size > max_tokens:
        document["constraints"] = _document(state, _SHORT_CHARS)["constraints"]
        text = _text(document, focus, line)
        size = count(text)
    for section, floor in _LEAVES_LAST:
        size, text = _shrink(document, section, floor, focus, line, max_tokens, count, size, text)
    for chars in (60, 30, 10, 0):
        if size > max_tokens:
            focus, line = clip(focus, chars) if chars else "", _shown(session, max(chars, 10))
            text = _text(document, focus, line)
            size = count(text)
    return text


def _shrink(
    document: _Document,
    section: str,
    floor: int,
    focus: str,
    line: SessionLine,
    max_tokens: int,
    count: Callable[[str], int],
    size: int,
    text: str,
) -> tuple[int, str]:
    """Take entries out of one section until the whole fits or the floor is reached: (tokens, text)."""
    entries = document[section]
    while size > max_tokens and len(entries) > floor:
        # As many as must leave by the entries' own counts, one at least; counting the whole each
        # time would be slow.
        while len(entries) > floor:
            gone = entries.pop(0)
            size -= count(_item(_frozen(gone)))
            if size <= max_tokens:
                break
        text = _text(document, focus, line)
        size = count(text)
    return size, text


def _document(state: SessionState, chars: int = _TEXT_CHARS) -> _Document:
    commands = sorted(state.commands, key=lambda c: not looks_only(c))
    return {
        "files_touched": [
            {"path": _middle(f.path, _PATH_CHARS), "action": f.action, "turn": f.turn} for f in state.files_touched
        ],
        "key_decisions": [f"{clip(d.text, _TEXT_CHARS)} (turn {d.turn})" for d in state.key_decisions],
        "errors_resolved": [_resolved(e) for e in state.errors_resolved],
        "constraints": [_constraint(c, chars) for c in state.constraints],
        "commands": [
            {"command": clip(c.command, _COMMAND_CHARS), "exit_code": c.exit_code, "turn": c.turn} for c in commands
        ],
        # Their words stand in the window; this says that they are pinned.
        "pins": [f"{clip(p.text, _SHORT_CHARS)} (turn {p.turn})" for p in state.pins],
    }


def _resolved(error: ErrorResolved) -> str:
    fixed = f"fixed by changes to {_middle(error.fixed_by, _PATH_CHARS)}" if error.fixed_by else "no longer happens"
    command = clip(error.command, _SHORT_CHARS)
    return f"{error.message} — {fixed}; `{command}` passes (turn {error.failed_turn}, turn {error.turn})"


def _constraint(constraint: Constraint, chars: int) -> str:
    replaced = f", replaces turn {constraint.replaces}" if constraint.replaces is not None else ""
    return f"{clip(constraint.text, chars)} (turn {constraint.turn}{replaced})"


def _shown(session: SessionLine, chars: int) -> SessionLine:
    return replace(
        session,
        reference=clip(session.reference, chars),
        workspace=_middle(session.workspace, chars),
        model=clip(session.model, chars),
        begun_in=_middle(session.begun_in, chars),
    )


def _middle(text: str, limit: int) -> str:
    """At most `limit` characters, cut in the middle: the ends of a path say most."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 3
    return f"{text[:head]}…{text[head + 1 - limit :]}"


def _text(document: _Document, focus: str, session: SessionLine) -> str:
    about = {
        "session": {
            "id": session.reference,
            "workspace": session.workspace,
            **({"begun_in": f"{session.begun_in} ({_BEGUN})"} if session.begun_in else {}),
            "model": session.model,
            "turn_count": session.turn_count,
            "total_tokens": session.total_tokens,
        }
    }
    return "".join(
        (
            _dump(about),
            _section(document, "files_touched"),
            _section(document, "key_decisions"),
            _dump({"current_focus": focus}),
            *(_section(document, name) for name in ("errors_resolved", "constraints", "commands", "pins")),
        )
    )


def _section(document: _Document, name: str) -> str:
    entries = document[name]
    return f"{name}:\n{''.join(_item(_frozen(entry)) for entry in entries)}" if entries else f"{name}: []\n"


def _frozen(entry: _Value) -> str | tuple[tuple[str, object], ...]:
    return entry if isinstance(entry, str) else tuple(entry.items())


@lru_cache(maxsize=512)
def _item(entry: str | tuple[tuple[str, object], ...]) -> str:
    """One list item. Kept, because the same entries are rendered again at every reading of the gauge."""
    return _dump([entry if isinstance(entry, str) else dict(entry)])


def _dump(value: object) -> str:
    import yaml  # 30 ms that the first paint does not wait for

    # No line folding: PyYAML's own loses nothing, but it would cost tokens.
    return yaml.dump(
        value, Dumper=_dumper(), allow_unicode=True, sort_keys=False, default_flow_style=False, width=1_000_000
    )


@cache
def _dumper() -> type[yaml.SafeDumper]:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes what PyYAML writes as a line break and reads back as a blank."""

    def represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        style = '"' if _LINE_BREAKS.search(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    return Dumper
