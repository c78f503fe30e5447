"""Words for what is dangerous about a git command. Advice, as in `danger`."""

from collections.abc import Callable, Sequence

from loom.tools.git_arguments import GitArguments, parse_git

_RUNNERS = ("--exec", "--upload-pack", "--receive-pack", "--ext-diff", "--open-files-in-pager", "--tool", "--extcmd")
_READS_CONFIG = frozenset({"--get", "--list", "-l", "--get-all", "--get-regexp"})


def danger_of_git(args: Sequence[str]) -> str:
    """What may go wrong, in a few words; empty when nothing is known to."""
    call = parse_git(args)
    found = [words for applies, words in _RULES if applies(call)]
    return "; ".join(dict.fromkeys(found))


def _force_pushes(call: GitArguments) -> bool:
    forced = "f" in call.letters or any(flag.startswith("--force") for flag in call.flags)
    return call.sub == "push" and (forced or any(word.startswith("+") for word in call.words))


def _deletes_remote_branches(call: GitArguments) -> bool:
    asked = "d" in call.letters or bool(call.flags & {"--delete", "--mirror", "--prune"})
    return call.sub == "push" and (asked or any(word.startswith(":") for word in call.words))


def _throws_away_changes(call: GitArguments) -> bool:
    match call.sub:
        case "reset":
            return bool(call.flags & {"--hard", "--merge", "--keep"})
        case "checkout" | "switch":
            forced = "f" in call.letters or bool(call.flags & {"--force", "--discard-changes"})
            return forced or "--" in call.rest or "." in call.words
        case "restore":
            return "--staged" not in call.flags or "--worktree" in call.flags
        case "read-tree" | "checkout-index":
            return True
    return False


def _deletes_branch(call: GitArguments) -> bool:
    forced = "D" in call.letters or ("d" in call.letters and "f" in call.letters)
    return call.sub == "branch" and (forced or {"--delete", "--force"} <= call.flags)


def _rewrites_history(call: GitArguments) -> bool:
    return (
        call.sub in ("filter-branch", "filter-repo", "replace", "update-ref", "rebase")
        or (call.sub == "reflog" and "expire" in call.words)
        or (call.sub == "commit" and "--amend" in call.flags)
    )


def _runs_programs(call: GitArguments) -> bool:
    if any(word.startswith(("-c", "--config-env", "--exec-path=")) for word in call.options):
        return True
    # Git takes any unique beginning of a long option.
    if any(len(flag) > 4 and any(runner.startswith(flag) for runner in _RUNNERS) for flag in call.flags):
        return True
    return (
        (call.sub == "config" and not call.flags & _READS_CONFIG)
        or (call.sub == "submodule" and "foreach" in call.words)
        or (call.sub == "bisect" and "run" in call.words)
        or (call.sub == "rebase" and "x" in call.letters)
        or (call.sub == "grep" and any(word.startswith("-O") for word in call.rest))
        or any(word.startswith("ext::") for word in call.words)
    )


def _leaves(call: GitArguments) -> bool:
    named = [word.partition("=")[2] if word.startswith("--") else word for word in (*call.options, *call.rest)]
    return any(word.startswith(("/", "~")) or ".." in word.split("/") for word in named)


def _skips_hooks(call: GitArguments) -> bool:
    return "--no-verify" in call.flags or (call.sub == "commit" and "n" in call.letters and "m" not in call.letters)


_RULES: tuple[tuple[Callable[[GitArguments], bool], str], ...] = (
    (_force_pushes, "force-pushes: replaces history on the server"),
    (_deletes_remote_branches, "deletes branches on the server"),
    (_throws_away_changes, "throws away uncommitted changes"),
    (lambda call: call.sub == "clean" and ("f" in call.letters or "--force" in call.flags), "deletes untracked files"),
    (_deletes_branch, "deletes a branch even if it is not merged"),
    (lambda call: call.sub == "stash" and bool({"drop", "clear"} & set(call.words)), "deletes stashed changes"),
    (_rewrites_history, "rewrites history"),
    (lambda call: call.sub in ("gc", "prune"), "deletes objects that nothing refers to"),
    (lambda call: call.sub == "rm" and "--cached" not in call.flags, "deletes files"),
    (_runs_programs, "can run other programs"),
    (_skips_hooks, "skips the hooks"),
    (_leaves, "names a path that may be outside the workspace"),
)
