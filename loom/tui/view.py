"""How the person likes the screen, remembered from one start to the next."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class View:
    """What a person chose with a key, and would choose again."""

    state_panel: bool | None = None
    """Whether the session state stands beside the conversation; None leaves it to the width of the terminal."""


def load_view(path: Path) -> View:
    """The view as it was kept; the usual one if there is none, or none that can be read. Blocking."""
    try:
        kept = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        # A preference: nothing is lost with it, and nobody is helped by a start that fails for it.
        return View()
    panel = kept.get("state_panel") if isinstance(kept, dict) else None
    return View(state_panel=panel if isinstance(panel, bool) else None)


def keep_view(path: Path, view: View) -> None:
    """Keep it for the next start. Blocking. Raises OSError."""
    new = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(view), file)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
