"""What a person allowed for the rest of a session."""

from loom.tools.outcome import Effect, Preview, ToolSpec


class Permissions:
    """Lives as long as the session is open; never stored, so that nobody is bound by a yes they forgot."""

    def __init__(self) -> None:
        self._allowed: dict[str, str] = {}

    def needs_asking(self, spec: ToolSpec, preview: Preview | None) -> bool:
        """Whether a person must say yes to this call first. A call that changes nothing (no preview) never asks."""
        if spec.effect in (Effect.READ, Effect.KEEP) or preview is None:
            return False
        return preview.scope_key not in self._allowed and preview.wider_key not in self._allowed

    def allow(self, preview: Preview, *, wider: bool = False) -> None:
        """Let everything in the preview's scope run from now on, or in its wider one where it has one."""
        if wider and preview.wider_key:
            self._allowed[preview.wider_key] = preview.wider_scope
        else:
            self._allowed[preview.scope_key] = preview.scope

    @property
    def allowed(self) -> tuple[str, ...]:
        """What runs by itself now, in words, in the order in which it was allowed."""
        return tuple(self._allowed.values())

    def forget(self) -> None:
        """Ask about everything again."""
        self._allowed.clear()
