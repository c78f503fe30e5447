"""How many tokens a model takes: the person's word, else the price list's, else an assumption that is shown."""

from __future__ import annotations

from dataclasses import replace

from loom.config import OFFLINE, Settings
from loom.models.choice import ASSUMED_WINDOW, ModelChoice


def set_window(name: str, settings: Settings, otherwise: int = ASSUMED_WINDOW) -> tuple[int, bool]:
    """The context window in tokens as far as settings tell, and whether it is assumed. Fast.

    `context_windows[name]` goes before `context_window`, and that before `otherwise`.
    """
    window = settings.context_windows.get(name) or settings.context_window
    return (window, False) if window else (otherwise, True)


def refine(choice: ModelChoice) -> ModelChoice:
    """The choice with its window from pydantic-ai's profile or the price list that comes with it, if they know it.

    Slow the first time (imports pydantic-ai and the price list, 0.5 s; no network, no background update): call it in
    the thread that builds the model. A window that a setting gave stays.
    """
    if not choice.window_assumed or choice.name == OFFLINE:
        return choice
    from pydantic_ai.models import infer_model_profile  # 0.5 s

    try:
        window = infer_model_profile(choice.name).get("context_window")
    except (ImportError, ValueError):
        # A provider whose package is missing has no profile; building the model says so in words.
        return choice
    return replace(choice, window=window, window_assumed=False) if window else choice
