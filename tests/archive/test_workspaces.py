"""A folder that somebody else filled is asked for its history, and runs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive.workspaces import identify
from tests.support.checkout import git, make_checkout


@pytest.mark.parametrize("setting", ["remote.origin.url", "remote.origin.uploadpack", "core.sshCommand"])
def test_a_history_with_a_part_missing_fetches_nothing_and_runs_no_program(tmp_path: Path, setting: str) -> None:
    checkout, trap, ran = make_checkout(tmp_path / "checkout"), tmp_path / "trap", tmp_path / "ran"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    trap.chmod(0o700)
    git(checkout, "commit", "-q", "--allow-empty", "-m", "The second")
    first = git(checkout, "rev-parse", "HEAD~1").strip()
    (checkout / ".git" / "objects" / first[:2] / first[2:]).unlink()
    settings = {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{trap}",
    }
    match setting:
        case "remote.origin.uploadpack":
            settings |= {"remote.origin.url": str(checkout), "remote.origin.uploadpack": str(trap)}
        case "core.sshCommand":
            settings |= {"remote.origin.url": "ssh://nobody@127.0.0.1/x", "core.sshCommand": str(trap)}
    for name, value in settings.items():
        git(checkout, "config", name, value)
    assert identify(checkout).commit is None
    assert not ran.exists()
