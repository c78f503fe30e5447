"""git runs by itself when it only reads, and then nothing else runs with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loom.config import Settings
from loom.tools.outcome import Preview, ToolFailure, ToolOutcome
from loom.tools.toolbox import Toolbox, build_toolbox
from tests.support.checkout import git
from tests.tools.nothing_said import NothingSaid


async def run(tools: Toolbox, *args: str) -> ToolOutcome:
    return await tools["git_command"].function(list(args))


async def preview(tools: Toolbox, *args: str) -> Preview | None:
    ask = tools["git_command"].preview
    assert ask is not None
    return await ask({"args": list(args)})


async def shown(tools: Toolbox, *args: str) -> Preview:
    found = await preview(tools, *args)
    assert found is not None
    return found


async def test_reading_runs_by_itself(git_tools: Toolbox, checkout: Path) -> None:
    (checkout / "README.md").write_text("changed\n")
    assert await preview(git_tools, "status", "--short") is None
    outcome = await run(git_tools, "status", "--short")
    assert outcome.content == " M README.md"
    assert outcome.facts["command"] == "git status --short"
    assert outcome.facts["exit_code"] == 0
    assert "commit" not in outcome.facts
    assert "+changed" in (await run(git_tools, "diff")).content
    assert "Begin" in (await run(git_tools, "log", "--oneline", "-5")).content
    assert "Ann" in (await run(git_tools, "blame", "src/auth.py")).content


async def test_reading_takes_no_locks_and_writes_nothing(git_tools: Toolbox, checkout: Path) -> None:
    index = checkout / ".git/index"
    os.utime(checkout / "README.md", (1, 1))  # another second: git compares no finer in some builds
    before = index.read_bytes()
    await run(git_tools, "status")
    assert (await run(git_tools, "diff", "--name-only")).content == "(no output)"
    assert index.read_bytes() == before


async def test_a_diff_in_a_work_tree_and_in_a_folder_of_it_reads_its_own_index(checkout: Path) -> None:
    elsewhere = checkout.parent / "elsewhere"
    git(checkout, "worktree", "add", "-q", str(elsewhere))
    (elsewhere / "src/auth.py").write_text("staged\n")
    git(elsewhere, "add", "src/auth.py")
    (elsewhere / "src/auth.py").write_text("changed\n")
    tools = build_toolbox(elsewhere / "src", Settings(), NothingSaid(), len)
    lines = (await run(tools, "diff")).content.splitlines()
    assert "-staged" in lines
    assert "+changed" in lines


async def test_a_change_in_the_second_of_the_index_is_seen(git_tools: Toolbox, checkout: Path) -> None:
    """git knows it by the time of the index, which is older than that of its copy."""
    changed, then = checkout / "README.md", 1_700_000_000
    git(checkout, "config", "core.trustctime", "false")  # which cannot be set, and is that second's as well
    os.utime(changed, (then, then))
    git(checkout, "add", "README.md")
    changed.write_bytes(changed.read_bytes().swapcase())
    for path in (changed, checkout / ".git/index"):
        os.utime(path, (then, then))
    assert (await run(git_tools, "diff", "--name-only")).content == "README.md"


async def test_a_diff_with_a_split_index_writes_nothing_either(git_tools: Toolbox, checkout: Path) -> None:
    git(checkout, "config", "splitIndex.maxPercentChange", "0")
    git(checkout, "update-index", "--split-index")
    os.utime(checkout / ".gitignore", (1, 1))
    (checkout / "README.md").write_text("changed\n")
    before = sorted(path.name for path in (checkout / ".git").iterdir())
    assert (await run(git_tools, "diff", "--name-only")).content == "README.md"
    assert sorted(path.name for path in (checkout / ".git").iterdir()) == before


async def test_git_says_itself_what_is_wrong_with_an_index(git_tools: Toolbox, checkout: Path) -> None:
    (checkout / ".git/index").unlink()
    assert (await run(git_tools, "diff", "--name-only")).content == "(no output)"
    (checkout / ".git/index").symlink_to("/dev/null")
    assert (await run(git_tools, "diff", "--name-only")).facts["exit_code"] is not None
    (checkout / ".git/index").unlink()
    (checkout / ".git/index").mkdir()
    assert "fatal" in (await run(git_tools, "diff", "--name-only")).content


async def test_a_commit_is_a_fact(git_tools: Toolbox, checkout: Path) -> None:
    (checkout / "new.txt").write_text("new\n")
    question = await shown(git_tools, "commit", "-m", "Add new: it's here")
    assert question.body == """git commit -m 'Add new: it'"'"'s here'"""
    assert f"in {checkout}" in question.title
    await run(git_tools, "add", "-A")
    outcome = await run(git_tools, "commit", "-m", "Add new: it's here")
    assert outcome.facts["commit"] == git(checkout, "rev-parse", "HEAD").strip()
    assert outcome.facts["subject"] == "Add new: it's here"


async def test_a_commit_that_failed_is_none(git_tools: Toolbox, checkout: Path) -> None:
    outcome = await run(git_tools, "commit", "-m", "Nothing")
    assert outcome.facts["exit_code"] == 1
    assert "commit" not in outcome.facts
    assert "[exit code 1]" in outcome.content
    outcome = await run(git_tools, "commit", "--allow-empty", "--dry-run", "-m", "Nothing")
    assert "commit" not in outcome.facts


async def test_a_commit_without_a_message_does_not_wait_for_an_editor(git_tools: Toolbox, checkout: Path) -> None:
    outcome = await run(git_tools, "commit", "--allow-empty")
    assert outcome.facts["exit_code"] == 1
    assert "empty commit message" in outcome.content


async def test_the_first_commit_of_all_is_a_fact(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = build_toolbox(root, Settings(), NothingSaid(), len)
    await run(tools, "init", "-q")
    git(root, "config", "user.name", "Ann")
    git(root, "config", "user.email", "ann@example.org")
    outcome = await run(tools, "commit", "--allow-empty", "-m", "First")
    assert outcome.facts["subject"] == "First"


async def test_previews_change_nothing(git_tools: Toolbox, checkout: Path) -> None:
    before = git(checkout, "for-each-ref"), git(checkout, "status", "--porcelain")
    for args in (["commit", "--allow-empty", "-m", "x"], ["branch", "x"], ["checkout", "-b", "y"], ["reset", "--hard"]):
        await shown(git_tools, *args)
    assert (git(checkout, "for-each-ref"), git(checkout, "status", "--porcelain")) == before


async def test_always_is_for_one_subcommand_and_never_for_a_dangerous_form_of_it(git_tools: Toolbox) -> None:
    add, add_more = await shown(git_tools, "add", "a"), await shown(git_tools, "add", "b")
    commit, push = await shown(git_tools, "commit", "-m", "x"), await shown(git_tools, "push")
    forced = await shown(git_tools, "push", "--force")
    configured = await shown(git_tools, "-c", "core.hooksPath=x", "commit", "-m", "x")
    alias = await shown(git_tools, "shiny", "a")
    assert add.scope_key == add_more.scope_key
    assert len({p.scope_key for p in (add, commit, push, forced, configured, alias)}) == 6
    assert alias.scope_key != (await shown(git_tools, "shiny", "b")).scope_key
    assert "force" in forced.warning
    assert not add.warning


async def test_outside_a_repository_reading_says_so(tools: Toolbox, root: Path) -> None:
    with pytest.raises(ToolFailure, match="not in a git repository"):
        await run(tools, "status")
    (root / "a").write_text("a")
    with pytest.raises(ToolFailure, match="not in a git repository"):
        await run(tools, "diff", "a", ".gitignore")


async def test_no_program_of_the_repository_runs_while_reading(git_tools: Toolbox, checkout: Path) -> None:
    trap = checkout / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {checkout}/SPRUNG\ncat\n")
    trap.chmod(0o755)
    settings = {
        "core.fsmonitor": str(trap), "core.pager": str(trap), "core.editor": str(trap), "core.hooksPath": str(checkout),
        "diff.external": str(trap), "diff.x.textconv": str(trap), "diff.x.command": str(trap), "pager.log": str(trap),
        "gpg.program": str(trap), "log.showSignature": "true", "alias.status": f"!{trap}", "alias.st": f"!{trap}",
        "core.sshCommand": str(trap), "interactive.diffFilter": str(trap), "pretty.mine": "%GG",
        "format.pretty": "%GG",
    }  # fmt: skip
    for name, value in settings.items():
        git(checkout, "config", name, value)
    (checkout / ".gitattributes").write_text("* diff=x\n")
    (checkout / "README.md").write_text("changed\n")
    (checkout / "post-index-change").symlink_to(trap)
    for args in (
        ["status"], ["diff"], ["diff", "--cached"], ["log", "-p"], ["log", "--oneline"], ["show"], ["blame",
        "README.md"],
        ["grep", "-n", "return"], ["ls-files", "-m"], ["log", "--pretty=mine"], ["branch", "-a"], ["stash", "list"],
        ["show", "HEAD:README.md"], ["rev-parse", "HEAD"], ["cat-file", "-p", "HEAD:README.md"], ["diff", "HEAD"],
        ["shortlog", "-s", "HEAD"], ["for-each-ref"], ["describe", "--always"], ["log", "--stat"], ["tag"],
        ["remote", "-v"],
    ):  # fmt: skip
        assert await preview(git_tools, *args) is None, args
        await run(git_tools, *args)
        assert not (checkout / "SPRUNG").exists(), args


async def test_no_program_of_a_submodule_runs_while_reading(git_tools: Toolbox, checkout: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    (inner / "a.txt").write_text("a\n")
    (inner / ".gitattributes").write_text("* filter=x\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "Inner")
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(checkout, "config", "-f", ".gitmodules", "submodule.sub.ignore", "none")
    git(checkout, "config", "submodule.sub.ignore", "none")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "Outer")
    sprung = tmp_path / "SPRUNG"
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\ncat\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "filter.x.clean", "core.pager", "diff.external"):
        git(checkout / "sub", "config", name, str(trap))
    (checkout / "sub/a.txt").write_text("b\n")
    for committed in (False, True):
        if committed:
            git(checkout / "sub", "-c", "core.fsmonitor=", "-c", "filter.x.clean=", "commit", "-aqm", "Inner 2")
            sprung.unlink(missing_ok=True)
            (checkout / "sub/a.txt").write_text("c\n")
        for args in (
            ["status"], ["status", "--short", "--", "sub"], ["status", "--porcelain=v2"], ["status", "--ignored"],
            ["diff"],
            ["diff", "-p", "--", "sub"], ["diff", "HEAD"], ["diff", "--cached", "HEAD~1"], ["diff", "HEAD~1"],
            ["log", "-p"], ["show"], ["ls-files", "-m"],
            ["ls-files", "-o"], ["ls-files", "-s"], ["grep", "a"], ["describe", "--always"], ["stash", "list"],
            ["branch", "-vv"], ["worktree", "list"], ["rev-parse", "HEAD:sub"], ["check-ignore", "-v", "sub/a.txt"],
            ["blame", ".gitmodules"],
        ):  # fmt: skip
            assert await preview(git_tools, *args) is None, args
            await run(git_tools, *args)
            assert not sprung.exists(), args
    assert (await run(git_tools, "status", "--short")).content == " M sub"  # a new commit in it is still seen
    assert await preview(git_tools, "status", "--ignore-submodules=none") is not None


async def test_filters_of_the_repository_make_reading_the_work_tree_ask(git_tools: Toolbox, checkout: Path) -> None:
    assert await preview(git_tools, "status") is None
    git(checkout, "config", "filter.x.clean", "touch SPRUNG; cat")
    question = await shown(git_tools, "status")
    assert "own settings" in question.warning
    assert await preview(git_tools, "log") is None
    git(checkout, "config", "--unset", "filter.x.clean")
    git(checkout, "config", "core.worktree", "/")
    assert await preview(git_tools, "diff") is not None
    assert not (checkout / "SPRUNG").exists()


async def test_variables_that_point_git_elsewhere_do_not_count(
    git_tools: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    assert "Begin" in (await run(git_tools, "log", "--oneline")).content
    assert not (tmp_path / "trace").exists()
    assert (await run(git_tools, "commit", "--allow-empty", "-m", "x")).facts["exit_code"] == 0


async def test_words_that_are_no_arguments_are_refused(git_tools: Toolbox) -> None:
    for args in ([], ["git"], ["log", "a\0b"]):
        with pytest.raises(ToolFailure):
            await run(git_tools, *args)
    assert "Begin" in (await run(git_tools, "git", "log")).content


async def test_nothing_is_interpreted_by_a_shell(git_tools: Toolbox, checkout: Path) -> None:
    await run(git_tools, "log", "--grep=$(touch SPRUNG); touch SPRUNG")
    assert not (checkout / "SPRUNG").exists()
