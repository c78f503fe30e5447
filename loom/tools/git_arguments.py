"""A git command line taken apart."""

from collections.abc import Sequence
from dataclasses import dataclass

_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})


@dataclass(frozen=True, slots=True)
class GitArguments:
    """`git <options> <sub> <rest>`."""

    options: tuple[str, ...]
    """What stands before the subcommand, with values."""
    sub: str
    """The subcommand; empty if there is none."""
    rest: tuple[str, ...]

    @property
    def flags(self) -> frozenset[str]:
        """Options of the subcommand up to `--`, without their `=value`."""
        return frozenset(word.split("=")[0] for word in self.before_paths if word.startswith("-"))

    @property
    def letters(self) -> str:
        """The letters of its short options, together."""
        return "".join(word[1:] for word in self.before_paths if word[:1] == "-" and word[1:].isalpha())

    @property
    def words(self) -> tuple[str, ...]:
        """What is no option."""
        return tuple(word for word in self.rest if not word.startswith("-"))

    @property
    def before_paths(self) -> tuple[str, ...]:
        return self.rest[: self.rest.index("--")] if "--" in self.rest else self.rest


def parse_git(args: Sequence[str]) -> GitArguments:
    """The parts of git's arguments (without the word git)."""
    at = 0
    while at < len(args) and args[at].startswith("-"):
        at += 2 if args[at] in _WITH_VALUE else 1
    at = min(at, len(args))
    sub = args[at] if at < len(args) else ""
    return GitArguments(tuple(args[:at]), sub, tuple(args[at + 1 :]))
