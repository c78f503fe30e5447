"""A turn as a person names it: `T57`."""

from __future__ import annotations

import re


def named_turn(text: str) -> int:
    """57 of `T57` or `t57`; 0 when it is something else."""
    named = re.fullmatch(r"[Tt](\d{1,9})", text)
    return int(named[1]) if named else 0
