"""The tool git_command."""

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from loom.config import Settings
from loom.text import storable
from loom.tools.capture import Capture
from loom.tools.environment import environment_for_commands
from loom.tools.git_arguments import parse_git
from loom.tools.git_danger import danger_of_git
from loom.tools.git_index import copy_of_index
from loom.tools.git_reading import (
    only_reads,
    reading_command,
    reading_environment,
    refreshes_index,
    takes_work_tree,
)
from loom.tools.outcome import Preview, ToolFailure, ToolOutcome
from loom.tools.paths import Workspace, in_words
from loom.tools.process import Ended, run_program
from loom.tools.shell import facts_of, told
from loom.tools.watching import capture_of_call

_ASKED_TOGETHER = frozenset(
    {
        "add", "am", "apply", "bisect", "branch", "checkout", "cherry-pick", "clean", "clone", "commit", "fetch",
        "init", "merge", "mv", "notes", "pull", "push", "reset", "restore", "revert", "rm", "stash", "switch", "tag",
        "worktree",
    }
)  # fmt: skip
"""Git's own subcommands that may be allowed as such. Anything else may be an alias, which says nothing of itself."""

_MAKES_COMMITS = frozenset({"commit", "cherry-pick", "revert"})

_POINTERS = frozenset(
    {
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
    }
)  # fmt: skip
"""Variables that would make git work elsewhere than in the workspace (loom may run inside a hook)."""

# What a repository may set that a reading call would obey all the same: programs for file contents, another folder.
_TELLING = r"^(filter\..*\.(clean|smudge|process)|core\.worktree)$"


class Git:
    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._workspace = workspace
        self._seconds = settings.shell_timeout
        self._limit = settings.shell_output_limit

    async def git_command(self, args: list[str]) -> ToolOutcome:
        """Run git in the workspace. status, diff, log, show, blame and the like run at once; the rest is asked about.

        Args:
            args: Arguments without "git", one word each: ["log", "--oneline", "-5"].
        """
        words = _checked(args)
        if only_reads(words):
            return await self._read(words)
        before = await self._head() if parse_git(words).sub in _MAKES_COMMITS else None
        environment = environment_for_commands(os.environ)
        environment = {name: value for name, value in environment.items() if name not in _POINTERS}
        capture = capture_of_call(self._limit)
        ended = await self._run(["git", *words], environment, capture)
        facts = facts_of(_as_typed(words), capture, ended)
        if ended.exit_code == 0 and parse_git(words).sub in _MAKES_COMMITS:
            facts |= await self._commit_made(before)
        return ToolOutcome(told(capture, ended, self._seconds, always=False), facts)

    async def preview(self, arguments: Mapping[str, Any]) -> Preview | None:
        """The command line; None when it only reads."""
        words = _checked(arguments["args"])
        if only_reads(words) and not (takes_work_tree(words) and await self._obeys_repository()):
            return None
        call = parse_git(words)
        command, warning = _as_typed(words), danger_of_git(words)
        if only_reads(words):
            warning = "this repository's own settings name programs or folders that git would use"
        together = call.sub in _ASKED_TOGETHER and not call.options and not warning
        return Preview(
            title=f"Run git {call.sub} (at most {self._seconds:,} s, in {self._workspace.root})",
            body=command,
            kind="command",
            scope=f"git {call.sub}, unless it is dangerous" if together else "exactly this git command",
            scope_key=f"git:{self._workspace.root}\0{call.sub if together else command}",
            warning=warning,
        )

    async def _read(self, words: Sequence[str]) -> ToolOutcome:
        index = await self._index()
        if index is None:
            raise ToolFailure("The workspace is not in a git repository.", "`git init` makes one.")
        capture = capture_of_call(self._limit)
        if refreshes_index(words):
            ended = await self._run_with_copy(words, index, capture)
        else:
            ended = await self._run_reading(words, capture)
        content = told(capture, ended, self._seconds, always=False)
        return ToolOutcome(content, facts_of(_as_typed(words), capture, ended))

    async def _index(self) -> Path | None:
        """Where the repository keeps its index; None outside of a repository."""
        said, ended = await self._asked(["rev-parse", "--git-path", "index"])
        return self._workspace.root / said.removesuffix("\n") if ended.exit_code == 0 else None

    async def _obeys_repository(self) -> bool:
        """Whether the repository's own configuration names what would run or be read in a reading call."""
        said, ended = await self._asked(["config", "--show-scope", "--name-only", "--get-regexp", _TELLING])
        if ended.exit_code == 1:
            return False
        scopes = {line.split("\t")[0] for line in said.splitlines()}
        return ended.exit_code != 0 or bool(scopes & {"local", "worktree"})

    async def _head(self) -> str:
        said, ended = await self._asked(["rev-parse", "--verify", "--quiet", "HEAD"])
        return said.strip() if ended.exit_code == 0 else ""

    async def _commit_made(self, before: str | None) -> dict[str, str]:
        head = await self._head()
        if not head or head == before:
            return {}
        said, ended = await self._asked(["log", "-1", "--format=%s", head])
        subject = said.strip() if ended.exit_code == 0 else ""
        return {"commit": head, "subject": subject}

    async def _asked(self, words: Sequence[str]) -> tuple[str, Ended]:
        """What git answers to a question of our own, which nobody watches."""
        capture = Capture(self._limit)
        ended = await self._run_reading(words, capture)
        return capture.text(), ended

    async def _run_with_copy(self, words: Sequence[str], index: Path, capture: Capture) -> Ended:
        async with copy_of_index(index) as copy:
            return await self._run_reading(words, capture, {} if copy is None else {"GIT_INDEX_FILE": str(copy)})

    async def _run_reading(
        self, words: Sequence[str], capture: Capture, more: Mapping[str, str] = MappingProxyType({})
    ) -> Ended:
        environment = reading_environment(environment_for_commands(os.environ))
        return await self._run(reading_command(words), {**environment, **more}, capture)

    async def _run(self, command: Sequence[str], environment: Mapping[str, str], capture: Capture) -> Ended:
        try:
            return await run_program(
                command,
                folder=self._workspace.root,
                environment=environment,
                seconds=self._seconds,
                take=capture.take,
            )
        except OSError as error:
            if shutil.which("git") is None:
                raise ToolFailure("git is not installed here.", "Do without it.") from error
            started = ToolFailure(f"git cannot be started: {in_words(error)}.")
            raise self._workspace.gone() or started from error


def _checked(args: Sequence[str]) -> list[str]:
    words = [storable(word) for word in args]
    if words[:1] == ["git"]:
        del words[0]
    if not words or any("\0" in word for word in words):
        raise ToolFailure("args is empty or holds a NUL character.", 'Give words such as ["status", "--short"].')
    return words


def _as_typed(words: Sequence[str]) -> str:
    return shlex.join(["git", *words])
