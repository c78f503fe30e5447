"""Turns as a person names them: `T57`."""

from __future__ import annotations

import re


def named_turn(text: str) -> int:
    """57 of `T57` or `t57`; 0 when it is something else."""
    named = re.fullmatch(r"[Tt](\d{1,9})", text)
    return int(named[1]) if named else 0


def named_turns(text: str) -> tuple[int, ...]:
    """12 and 57 of `T12 T57` or `t12, t57`, each once; none when anything else is said as well."""
    turns = [named_turn(word) for word in text.replace(",", " ").split()]
    return tuple(dict.fromkeys(turns)) if all(turns) else ()
