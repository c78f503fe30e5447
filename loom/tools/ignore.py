"""What `.gitignore` files leave out, read as git reads them."""

from dataclasses import dataclass
from pathlib import Path

from loom.tools.ignore_pattern import IgnorePattern, parse_ignore_line

MAX_BYTES = 1_000_000
"""What of a .gitignore is read."""

NAME = ".gitignore"


@dataclass(frozen=True, slots=True)
class Ignoring:
    """The rules that hold in one folder: its own and those of the folders above."""

    rules: tuple[tuple[int, tuple[IgnorePattern, ...]], ...] = ()
    """Of each file, the nearest first: the depth of its folder, and its patterns, the last line first."""

    def below(self, text: str, depth: int) -> "Ignoring":
        """These rules and those of a file in a folder at `depth` (the number of names above its entries)."""
        lines = text.removeprefix("\ufeff").split("\n")
        patterns = tuple(pattern for line in reversed(lines) if (pattern := parse_ignore_line(line)) is not None)
        return Ignoring(((depth, patterns), *self.rules)) if patterns else self

    def ignores(self, parts: tuple[str, ...], *, folder: bool) -> bool:
        """Whether git leaves out this path itself; one in a folder that is left out is never asked about. `parts` are
        names from where depth 0 is."""
        for depth, patterns in self.rules:
            for pattern in patterns:
                if pattern.matches(parts[depth:], folder=folder):
                    return pattern.ignores
        return False


def rules_above(root: Path) -> tuple[Ignoring, tuple[str, ...]]:
    """The rules of the folders above `root`, up to the repository's top, with the names that lead from where they
    count (their depth 0) to `root`; outside a repository those of every folder above, as ripgrep does."""
    above: list[Path] = []
    for folder in (root, *root.parents):
        if folder != root:
            above.append(folder)
        if (folder / ".git").exists():
            break
    top = above[-1] if above else root
    ignoring = Ignoring().below(_read(top / ".git" / "info" / "exclude"), 0)
    for folder in reversed(above):
        ignoring = ignoring.below(_read(folder / NAME), len(folder.relative_to(top).parts))
    return ignoring, root.relative_to(top).parts


def _read(path: Path) -> str:
    """The text of an ignore file above the workspace; empty if there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
