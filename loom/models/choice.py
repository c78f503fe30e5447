"""Which model answers: what a front end may know about it without importing pydantic-ai."""

from __future__ import annotations

from dataclasses import dataclass

from loom.errors import LoomError

ASSUMED_WINDOW = 200_000
"""Context window in tokens when nobody can tell; always shown as assumed."""

OFFLINE_WINDOW = 200_000
"""The offline model's context window in tokens. It has no limit of its own; this one makes it behave as others do."""


class ModelUnavailable(LoomError):
    """A model that cannot be used: unknown name, missing key, missing package."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that has been chosen but not built; building it imports the provider's library."""

    name: str
    """The pydantic-ai model string, or `offline`."""
    reason: str
    """Why this one: `asked for`, `ANTHROPIC_API_KEY is set`, `no key and no local server`."""
    window: int
    """Context window in tokens."""
    window_assumed: bool
    """True when `window` is ASSUMED_WINDOW for want of a better source."""
    note: str = ""
    """Something to tell the person about the choice, in words (a key that is missing); empty if nothing."""
    usable: bool = True
    """False when it is known beforehand that it cannot answer; `note` then says why."""
