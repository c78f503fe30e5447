"""The manifest of a request: which turns were in it, the tokens of each segment, the words that are no turn."""

from __future__ import annotations

from datetime import UTC, datetime

from loom.archive.records import Manifest
from loom.context.assembly import Assembly


def manifest_of(
    assembly: Assembly,
    *,
    session_id: str,
    request: int,
    exchange: int,
    model_name: str,
    window: int,
    instructions: str = "",
    tools: str = "",
    digest: str = "",
    created_at: str | None = None,
) -> Manifest:
    """The manifest to store before the request is sent; what the provider reports is filled in later.

    `request` counts the session's requests from 1; `window` is the model's window in tokens; `instructions` and `tools`
    are what goes with the messages; `digest` is that of the whole
    (`loom.context.fingerprints`); `created_at` is now unless given.
    """
    return Manifest(
        session_id=session_id,
        request=request,
        exchange=exchange,
        created_at=created_at or datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        model_name=model_name,
        window_tokens=window,
        segments={str(segment): tokens for segment, tokens in assembly.counted_segments.items()},
        turns=assembly.turns,
        texts={name: text for name, text in (("tools", tools), ("instructions", instructions)) if text}
        | assembly.texts,
        estimated_tokens=assembly.counted,
        reported_tokens=None,
        recipe=assembly.recipe.signed(digest).as_json(),
    )
