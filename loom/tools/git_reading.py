"""Which git calls only read, and how they are run so that they do nothing else.

Git can be made to run programs by options and by a repository's configuration. So only options that are known to be
harmless let a call run by itself; any other, abbreviated ones too, makes it ask. What the repository's own
configuration may set is switched off for these calls; filters, which cannot be switched off by a common name, make the
calls ask that would run them. In a submodule git forgets what was switched off, so status and diff never look into one:
they show that it has another commit, not that files in it changed.
"""

import re
from collections.abc import Mapping, Sequence

from loom.tools.git_arguments import GitArguments, parse_git

_OUTPUT = """
--abbrev --abbrev-commit --oneline --pretty --format --date --graph --decorate --no-decorate --color --no-color
--name-only --name-status --stat --shortstat --numstat --dirstat --summary --patch --no-patch --raw --unified
--compact-summary --patch-with-stat --minimal --patience --histogram --diff-algorithm --word-diff --color-words
--ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-space-at-eol --find-renames --find-copies
--no-renames --full-index --binary --relative --diff-filter --inter-hunk-context --function-context --exit-code
--quiet --text --reverse-diff --cc --no-prefix --src-prefix --dst-prefix --merge-base --pickaxe-regex --pickaxe-all
--no-ext-diff --no-textconv -S -G -U
"""
_HISTORY = """
--all --branches --tags --remotes --max-count --skip --since --after --until --before --author --committer --grep
--all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --merges --no-merges
--first-parent --reverse --date-order --topo-order --author-date-order --follow --full-history --simplify-merges
--ancestry-path --left-right --cherry --cherry-pick --cherry-mark --left-only --right-only --boundary --source
--parents --children --walk-reflogs --full-diff --no-walk --log-size --count --no-notes --show-pulls --not -L
"""
_READERS: dict[str, tuple[str, str]] = {
    # subcommand: its harmless short letters, its harmless long options (a short one with a value glued on: -S, -L)
    "status": ("sbz", "--short --branch --porcelain --long --untracked-files --ignored --show-stash --ahead-behind -u"),
    "diff": ("pusbwzarRMCBDW", f"--cached --staged {_OUTPUT}"),
    "log": ("pusbwzaricgEFPRMCBDWm", _OUTPUT + _HISTORY),
    "show": ("pusbwzaricgEFPRMCBDWm", _OUTPUT + _HISTORY),
    "rev-list": ("icEFP", _OUTPUT + _HISTORY),
    "shortlog": ("sneciEFP", "--summary --numbered --email --group --committer " + _HISTORY),
    "blame": ("lteswcfnMCpb", "--porcelain --line-porcelain --show-email --date --abbrev --root --show-name -L"),
    "ls-files": (
        "cdmosuktvfz",
        "--cached --deleted --modified --others --stage --unmerged --killed --exclude-standard --full-name --abbrev "
        "--error-unmatch --directory --no-empty-directory --eol --ignored",
    ),
    "ls-tree": ("drtlz", "--name-only --name-status --long --full-name --full-tree --abbrev --object-only"),
    "rev-parse": (
        "q",
        "--abbrev-ref --short --verify --quiet --symbolic --symbolic-full-name --all --branches --tags --remotes "
        "--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --git-path "
        "--is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-object-format",
    ),
    "describe": ("", "--tags --all --long --always --abbrev --match --exclude --exact-match --first-parent --contains"),
    "merge-base": ("a", "--all --is-ancestor --octopus --independent --fork-point"),
    "name-rev": ("", "--tags --name-only --always --refs --exclude"),
    "show-ref": ("qds", "--head --heads --tags --branches --verify --hash --abbrev --dereference --quiet --exists"),
    "for-each-ref": ("", "--count --sort --format --points-at --contains --no-contains --merged --no-merged"),
    "cat-file": ("ptse", ""),
    "count-objects": ("vH", "--verbose --human-readable"),
    "check-ignore": ("vqn", "--verbose --quiet --non-matching --no-index"),
    "grep": (
        "aiIwvhHEGPFnlLcoqpWz",
        "--text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp "
        "--fixed-strings --line-number --column --files-with-matches --files-without-match --count --only-matching "
        "--show-function --function-context --and --or --not --all-match --cached --max-depth --heading --break "
        "--color --no-color --context --after-context --before-context --max-count -A -B -C -m -e",
    ),
    "reflog": ("", "--oneline --date --format --pretty --max-count --all"),
    "branch": ("arvq", "--list --all --remotes --verbose --show-current --sort --format --column --no-column --color "
               "--no-color --abbrev --contains --no-contains --merged --no-merged --points-at"),
    "tag": ("lni", "--list --sort --format --column --no-column --contains --no-contains --merged --no-merged "
            "--points-at --color --no-color"),
    "remote": ("v", "--verbose"),
    "stash": ("", "--oneline --date --format --pretty --max-count"),
    "worktree": ("v", "--porcelain --verbose"),
    "version": ("", "--build-options"),
}  # fmt: skip
_LISTS_REFS = frozenset(
    {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "--show-current"}
)
_TAKES_WORK_TREE = frozenset({"status", "diff", "blame", "ls-files"})
"""Subcommands that may run the filters of files in the work tree."""

_NEUTRAL = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "diff.submodule=short",
    "status.submoduleSummary=false",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.x509.program=false",
    "gpg.ssh.program=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "splitIndex.maxPercentChange=100",
    "color.ui=false",
)
# Only the option overrules `ignore` in .gitmodules; dirty: git compares commits, and runs nothing in the submodule.
_QUIET = {
    "status": ("--ignore-submodules=dirty",),
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"),
    "log": ("--no-ext-diff", "--no-textconv"),
    "show": ("--no-ext-diff", "--no-textconv"),
    "blame": ("--no-textconv",),
    "grep": ("--no-textconv",),
}
_KEPT_VARIABLES = frozenset(
    {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_PAGER"}
)


def only_reads(args: Sequence[str]) -> bool:
    """Whether these arguments are known to change nothing and to run nothing."""
    call = parse_git(args)
    if any(option not in ("--no-pager", "-P") for option in call.options):
        return False
    known = _READERS.get(call.sub)
    if known is None or not _harmless_form(call):
        return False
    letters, options = known
    allowed = frozenset(options.split())
    before = call.before_paths
    after = call.rest[len(before) :]
    return (
        all(_harmless(word, letters, allowed) for word in before)
        # `--` could be the value of the option before it, and what follows an option all the same.
        and not any(word.startswith("-") for word in after[1:])
        and all(_inside(word) for word in call.words)
    )


def takes_work_tree(args: Sequence[str]) -> bool:
    return parse_git(args).sub in _TAKES_WORK_TREE


def refreshes_index(args: Sequence[str]) -> bool:
    """Whether git would write into the index although the call only reads; the others heed GIT_OPTIONAL_LOCKS."""
    return parse_git(args).sub == "diff"


def _harmless(word: str, letters: str, options: frozenset[str]) -> bool:
    if not word.startswith("-"):
        return True
    if "%G" in word:
        return False  # a signature in the format: gpg would run
    if word.startswith("--"):
        return word.partition("=")[0] in options
    glued = word[:2] in options
    return glued or re.fullmatch(rf"-[{letters}n]*\d*%?", word) is not None


def _inside(word: str) -> bool:
    """False for what may name a file outside the workspace."""
    path = word.split(":", 1)[-1]
    return not (word.startswith(("/", "~")) or path.startswith("/") or ".." in path.split("/")) and "%G" not in word


def _harmless_form(call: GitArguments) -> bool:
    """Subcommands that also change things only read in these forms."""
    match call.sub:
        case "branch" | "tag":
            return not call.words or bool(call.flags & _LISTS_REFS) or "l" in call.letters
        case "remote":
            return not call.words or (call.words[0] == "get-url" and len(call.words) == 2)
        case "stash":
            return call.words == ("list",)
        case "reflog":
            return call.words[:1] in ((), ("show",))
        case "worktree":
            return call.words == ("list",)
    return True


def reading_command(args: Sequence[str]) -> list[str]:
    """The command line, with everything switched off that a repository's configuration could make it do."""
    call = parse_git(args)
    command = ["git", "--no-pager"]
    for setting in _NEUTRAL:
        command += ["-c", setting]
    command.append(call.sub)
    return [*command, *_QUIET.get(call.sub, ()), *call.rest]


def reading_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for it: nothing that points git elsewhere, traces into files or asks for locks."""
    kept = {
        name: value for name, value in environment.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
    }
