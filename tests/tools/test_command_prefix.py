"""A prefix is offered where the rest of a line cannot make something else of it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.tools.command_prefix import prefix_of

ROOT = Path("/work space")


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("git status -sb", "git status"),
        ("git  status", "git status"),
        ("git diff --stat main..topic -- src", "git diff"),
        ("git log --oneline -n 5 --max-count=9", "git log"),
        ("git show HEAD:src/login.py", "git show"),
        ("pytest -q tests/test_login.py::test_twice --tb=short", "pytest"),
        ("pytest -k login -x", "pytest"),
        ("python -m pytest -x", "python -m pytest"),
        ("uv run pytest -x", "uv run pytest"),
        ("uv run python -m mypy .", "uv run python -m mypy"),
        ("mypy --strict src", "mypy"),
        ("ruff check 'src/a.py' \"tests\"", "ruff check"),
        ("npm test src/login.test.js", "npm test"),
        ("cargo test --release login", "cargo test"),
        ("go test -count=1 ./...", "go test"),
        ("go vet .", "go vet"),
        ("ls -la src", "ls"),
        ("ls ./src/größe.txt", "ls"),
    ],
)
def test_what_looks_or_tests_has_one(command: str, prefix: str) -> None:
    assert prefix_of(command, ROOT) == prefix


@pytest.mark.parametrize(
    "command",
    [
        # operators and expansions, in quotes too
        "git status; rm x",
        "git status && make",
        "ls | sh",
        "ls > out",
        "ls $(touch x)",
        'ls "`id`"',
        "ls $HOME",
        "ls ~",
        "git status\nrm x",
        "ls \\\nx",
        "ls {a,b}",
        # patterns, which the shell may turn into an option
        "git diff -*",
        "git diff *",
        "ls s?c",
        "ls [a-z]",
        "pytest 'tests/test_a.py::test_b[c]'",
        # what runs its arguments
        "python script.py",
        "python -c pass",
        "python -m http.server",
        "bash x.sh",
        "env ls",
        "xargs ls",
        "find . -name x",
        "sudo ls",
        "uv run python x.py",
        "uv run",
        "uv run --with evil pytest",
        "npm install x",
        "npm run lint",
        "yarn run rimraf src",
        "npx cowsay",
        "make test",
        "make test deploy",
        "git",
        "git push",
        "git -c core.pager=x status",
        "git -C .. status",
        "git config a b",
        "FOO=bar git status",
        "./pytest",
        "/tmp/git status",
        "ruff",
        "go list all",
        # what changes something
        'git commit -m "Say why"',
        "git add .",
        "git branch -f main HEAD",
        "git branch -D main",
        "git stash drop",
        "git switch -f main",
        "git fetch origin main",
        "git fetch origin +main:main",
        "ruff format .",
        "ruff check --fix",
        "black .",
        "prettier --write x",
        "cargo fmt",
        # what reads anything, for which there are tools
        "cat /etc/shadow",
        "cat notes",
        "grep -r x .",
        "rg --pre ./x word",
        # options that start something else, or write
        "git diff --ext-diff",
        "git diff --textco",
        "git diff --outp=x",
        "git diff --no-index /dev/null x",
        "git log --output=x",
        "git log -o x",
        "git show --ext-di",
        "go test -exec ./x ./...",
        "go build --toolexec=./evil ./...",
        "go build -o x ./...",
        "go vet --vettool=./evil ./...",
        "mypy --conf evil.ini x.py",
        "mypy --config-file=evil.ini x.py",
        "mypy --python-executable ./evil x.py",
        "mypy --junit-xml x",
        "ruff check -o x",
        "ruff check --config evil.toml",
        "ruff check --output-file=x x.py",
        "pytest -q --basetemp=src",
        "pytest --rootdir=/ x",
        "pytest -c evil.ini",
        "pytest -p evil",
        "pytest -pevil",
        "pytest -o addopts=x",
        "pytest --junitxml=x",
        "pytest --tb=$x",
        "pytest --tb=/x",
        "pytest -qpevil",
        "pytest @arguments",
        "mypy @arguments",
        "npm test --script-shell=./evil",
        "npm test -- --config evil.js",
        "eslint -c evil.js .",
        "eslint -f ./evil.js",
        "jest -c evil.js",
        "cargo test --manifest-path /tmp/evil/Cargo.toml",
        "cargo test --config evil.toml",
        "cargo build --target-dir x",
        "cargo +evil test",
        # outside of the workspace
        "pytest /tmp/evil",
        "pytest ../evil",
        "pytest src/../../evil",
        "pytest src/..",
        "mypy ..",
        "git show HEAD:../x",
        "ls /root",
        "pytest ''",
        "go test all",
        "go test net/http",
        "go test ./../evil",
        "ls \x0b",
        # danger, and nonsense
        "ls .ssh/keys",
        "ls 'open",
        "",
        "ls " + "x" * 2_000,
    ],
)
def test_everything_else_has_none(command: str) -> None:
    assert prefix_of(command, ROOT) == ""


@pytest.mark.parametrize(
    "command",
    [
        "ls out",
        "ls -la ./out/below",
        "ls src/chain",
        "ls src out",
        "pytest -q out/test_x.py",
        "pytest out/test_x.py::test_y",
        "uv run pytest secret.py",
        "mypy secret.py",
        "git diff HEAD:out",
        "ls up/x",
        "go test ./out",
    ],
)
def test_a_link_that_leads_out_of_the_workspace_has_none(tmp_path: Path, command: str) -> None:
    root = tmp_path / "workspace"
    (root / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "src" / "chain").symlink_to("../out")
    (root / "secret.py").symlink_to(tmp_path / "outside" / "secret.py")
    (root / "up").symlink_to("../workspace/../outside")
    assert prefix_of(command, root) == ""


def test_a_link_that_stays_inside_has_one_also_in_a_workspace_named_by_a_link(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    (root / "src").mkdir(parents=True)
    (root / "inside").symlink_to("src")
    (tmp_path / "named").symlink_to(root)
    assert prefix_of("ls inside", root) == "ls"
    assert prefix_of("ls inside", tmp_path / "named") == "ls"
