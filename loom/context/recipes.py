"""The recipe of a request: the few numbers from which it is put together again out of the archive's turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from loom.context.edges import Edges
from loom.context.trimming import TrimRules


@dataclass(frozen=True, slots=True)
class Recipe:
    """With a manifest's texts and turns, everything that a request follows from. Tokens as the gauge showed them."""

    last_turn: int
    """The newest turn there was."""
    edges: Edges
    summary: int
    """The turn of the summary that stood in front; 0 without one."""
    rules: TrimRules
    tokens: int
    high: int
    """The high-water mark."""
    factor: float = 0.0
    """The scale of `tokens`: the provider's for one of ours, as far as it was known; 0 from an older loom."""
    memory_chars: int = 0
    project_chars: int = 0
    """How much of the end of the instructions is the memory, and behind it the project's instructions."""
    digest: str = ""
    """See `loom.context.fingerprints`; empty before the request is complete."""

    def as_json(self) -> dict[str, Any]:
        """As a manifest keeps it; what stands at nothing is left out."""
        kept: dict[str, Any] = {
            "last_turn": self.last_turn,
            "edges": asdict(self.edges),
            "summary": self.summary,
            "preview_tokens": self.rules.preview_tokens,
            "trim_chars": self.rules.trim_chars,
            "tokens": self.tokens,
            "high": self.high,
            "factor": self.factor,
            "memory_chars": self.memory_chars,
            "project_chars": self.project_chars,
            "digest": self.digest,
        }
        return {name: value for name, value in kept.items() if value != ""}

    def signed(self, digest: str) -> Recipe:
        """The same, with the digest of the request that came of it."""
        return replace(self, digest=digest)


def recipe_from_json(kept: Mapping[str, Any]) -> Recipe | None:
    """The recipe that a manifest keeps; None if it has none that can be read (an older loom's, damage)."""
    try:
        return Recipe(
            last_turn=int(kept["last_turn"]),
            edges=Edges.of(kept["edges"]),
            summary=int(kept["summary"]),
            rules=TrimRules(int(kept["preview_tokens"]), int(kept["trim_chars"])),
            tokens=int(kept["tokens"]),
            high=int(kept["high"]),
            factor=_factor(float(kept.get("factor", 0.0))),
            memory_chars=max(0, int(kept.get("memory_chars", 0))),
            project_chars=max(0, int(kept.get("project_chars", 0))),
            digest=str(kept.get("digest", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _factor(kept: float) -> float:
    """Damage may have left anything there: what is no scale is none."""
    return kept if 0.0 < kept < 1_000.0 else 0.0
