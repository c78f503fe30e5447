"""What was wrong with the arguments of a call, in words for a person.

The model is told in pydantic's JSON, and can call again; that is what is stored, and it stays one key away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from loom.text import plural

_FENCED = re.compile(r"\d+ validation errors?:\s*```json\n(.*?)\n```", re.DOTALL)
"""As older versions of pydantic-ai told it; newer ones tell the bare JSON."""


def argument_errors(told: str) -> str:
    """The same in words, an argument a line; what is no list of errors as it is."""
    fenced = _FENCED.match(told)
    errors = _errors(fenced[1] if fenced is not None else told)
    if not errors:
        return told
    return "\n".join([f"The model called it with {plural(len(errors), 'wrong argument')}:", *map(_line, errors)])


def _errors(text: str) -> list[Mapping[str, Any]]:
    """The errors as pydantic gives them; empty if these are none."""
    if not text.startswith("["):
        return []
    try:
        errors = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(errors, list):
        return []
    good: list[Mapping[str, Any]] = [
        each for each in errors if isinstance(each, dict) and {"type", "loc", "msg"} <= each.keys()
    ]
    return good if len(good) == len(errors) else []


def _line(error: Mapping[str, Any]) -> str:
    name = _name(error.get("loc"))
    match error.get("type"):
        case "missing":
            return f"  {name}: is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"  {name}: there is no such argument"
        case "json_invalid":
            return f"  {name}: no JSON ({error['msg']})"
    wanted = str(error["msg"])
    # What was given says more than a rule alone; a whole object would be the JSON again.
    given = error.get("input")
    shown = "" if isinstance(given, Mapping | list) else f"; it was {json.dumps(given, ensure_ascii=False)}"
    return f"  {name}: {wanted[:1].lower()}{wanted[1:]}{shown}"


def _name(where: object) -> str:
    """`args[1]`, `edits[0].path`; `the arguments` where no one of them is meant."""
    if not isinstance(where, Sequence) or isinstance(where, str) or not where:
        return "the arguments"
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return name.removeprefix(".")
