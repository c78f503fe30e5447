"""JSON that could be read, and should not be: what somebody made to fill the memory or the stack."""

from __future__ import annotations

_MOST_OPENED = 5_000_000


def is_deep(value: object, most: int = 100) -> bool:
    """Whether lists and objects are nested in it deeper than anybody nests them: they could be read, and not be
    written."""
    level = [value]
    while level:
        if most < 0:
            return True
        most -= 1
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    return False


def is_swollen(text: str) -> bool:
    """Whether a JSON text opens more lists and objects than anybody writes: `[],` is 3 bytes, and 50 in memory."""
    return len(text) > _MOST_OPENED and text.count("[") + text.count("{") > _MOST_OPENED
