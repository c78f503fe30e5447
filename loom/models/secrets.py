"""Keys, kept out of everything that is shown or stored."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

HIDDEN = "‹key›"

_SECRET_NAME = re.compile(r"(?:_|^)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 6
"""Shorter values are words of the language as well (`dummy`), and hiding them would garble the text."""

_LOOKS_SECRET = re.compile(
    r"""
      \b(?:sk|pk|rk|xai|gsk|hf|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|AKIA|ASIA|pylf|paig|nvapi|r8|tgp)
        [-_]?[A-Za-z0-9_*.-]{8,}
    | \bAIza[A-Za-z0-9_-]{20,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?
    | (?<=//)[^/\s:@]+:[^/\s@]+(?=@)
    | (?i:\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=*-]{6,}
    | (?i:\b(?:x-)?(?:api[-_]?key|access[-_]?token|auth[-_]?token|authorization)["']?\s*[:=]\s*["']?)
        [A-Za-z0-9._~+/=*-]{6,}
    """,
    re.VERBOSE,
)


def scrub(text: str, environ: Mapping[str, str] | None = None) -> str:
    """The text without anything that looks like a key, or equals one that the environment holds.

    A variable counts as a key when its name ends in KEY, TOKEN, SECRET, PASSWORD or CREDENTIALS.
    """
    env = os.environ if environ is None else environ
    values = {
        value.strip() for name, value in env.items() if _SECRET_NAME.search(name) and len(value.strip()) >= _SHORTEST
    }
    # The longest first: one key may be the beginning of another.
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return _LOOKS_SECRET.sub(HIDDEN, text)
