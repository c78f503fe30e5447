"""What counts as reading is known by name; everything else asks."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.tools.git_reading import only_reads, reading_command


@pytest.mark.parametrize(
    "line",
    [
        "status", "status -sb", "status --porcelain=v2 -uno", "diff", "diff --cached --stat",
        "diff HEAD~2..HEAD -- src",
        "diff -U10 -w", "diff main...topic -M50%", "log", "log --oneline -n 5", "log -5", "log -n5 --graph --all",
        "log --since='2 weeks ago' --author=Ann", "log -S needle -p", "log -Sneedle", "log -L1,5:src/a.py",
        "log -- src",
        "log --format=%H%x00%s", "show", "show HEAD:src/a.py", "show --stat HEAD~3", "blame -L 1,20 src/a.py",
        "ls-files -o --exclude-standard", "rev-parse --abbrev-ref HEAD", "branch", "branch -a", "branch -vv",
        "branch --list 'feature/*'", "branch --show-current", "branch --contains HEAD", "tag", "tag -l 'v*'",
        "tag -n3",
        "remote", "remote -v", "remote get-url origin", "stash list", "reflog", "reflog show -n 5", "worktree list",
        "cat-file -p HEAD", "grep -n -i needle src", "shortlog -sn HEAD", "describe --tags", "--no-pager log",
        "merge-base main HEAD", "for-each-ref --format='%(refname)'", "rev-list --count HEAD", "ls-tree -r HEAD",
    ],
)  # fmt: skip
def test_reading_is_known(line: str) -> None:
    assert only_reads(shlex.split(line))


@pytest.mark.parametrize(
    "line",
    [
        "", "commit", "add -A", "push", "fetch", "pull", "checkout x", "reset", "stash", "stash pop", "stash drop",
        "config -l",
        "branch new", "branch -d x", "branch -D x", "branch -m x", "branch --set-upstream-to=x", "branch -f x",
        "branch -a x",
        "tag v1", "tag -d v1", "tag -a v1 -m x", "tag -n x", "remote add x y", "remote update", "remote show origin",
        "reflog expire --all", "reflog delete HEAD@{1}", "worktree add x", "worktree prune", "unknown", "st", "gc",
        "clone x",
        "log --output=f", "log --outp=f", "diff --output f", "diff --output=f", "show --output=f",
        "diff --no-index a b",
        "diff --no-ind /etc/passwd b", "log --ext-diff -p", "log --ext -p", "diff --textconv",
        "show --textconv HEAD:x",
        "diff -Oorder", "log -O order", "diff -pOx", "grep -O needle", "grep -Oless x",
        "grep --open-files-in-pager x",
        "grep --no-index x", "grep -f file", "grep --textconv x", "-c core.pager=x log", "-ccore.pager=x log",
        "-p log",
        "--paginate log", "-C .. log", "--git-dir=x log", "--exec-path=x log", "--config-env=a=b log",
        "log --show-signature",
        "log --format=%G?", "log --pretty=format:%GG", "log -S -- --output=x", "log -- --output=x", "log -1 -- -x",
        "blame --contents=/etc/passwd a", "blame --contents /etc/passwd a", "blame -S file a",
        "blame --ignore-revs-file=x a",
        "diff ../x", "show HEAD:../x", "log -- ../x", "diff /etc/passwd", "show HEAD:/etc", "log -- ~/x",
        "ls-files --exclude-from=/etc/passwd", "ls-files -X /etc/passwd", "cat-file --batch",
        "cat-file --filters HEAD:x",
        "cat-file --textconv HEAD:x", "status -v", "describe --dirty", "rev-parse --parseopt", "log --stdin",
        "log --mailmap=x",
        "show-ref --exclude-existing", "shortlog --output=x HEAD", "--version log", "log --end-of-options --output=x",
        "stash show -p", "rev-list --use-bitmap-index HEAD", "log --remerge-diff", "ls-remote", "archive HEAD",
        "bisect start", "diff --ignore-submodules=none", "diff --ignore-submodules", "status --ignore-submodules=none",
    ],
)  # fmt: skip
def test_everything_else_asks(line: str) -> None:
    assert not only_reads(shlex.split(line))


@given(
    st.lists(st.sampled_from(["--output=x", "--outp=x", "-c", "a=b", "--ext-diff", "-Ox", "--", "-S", "HEAD", "src"]))
)
def test_a_forbidden_option_asks_wherever_it_stands(rest: list[str]) -> None:
    for sub in ("log", "diff", "show"):
        if {"--output=x", "--outp=x", "--ext-diff", "-Ox"} & set(rest):
            assert not only_reads([sub, *rest])


def test_the_command_line_of_a_reading_call_switches_programs_off() -> None:
    command = reading_command(["--no-pager", "log", "-p", "--", "src"])
    assert command[:2] == ["git", "--no-pager"]
    assert "core.fsmonitor=false" in command
    assert "core.hooksPath=/dev/null" in command
    assert command[command.index("log") :] == ["log", "--no-ext-diff", "--no-textconv", "-p", "--", "src"]


def test_status_and_diff_never_enter_a_submodule() -> None:
    for sub in ("status", "diff"):
        command = reading_command([sub, "--", "src"])
        assert "--ignore-submodules=dirty" in command[command.index(sub) : command.index("--")]
