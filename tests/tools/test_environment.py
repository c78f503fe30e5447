"""Commands get no keys and no colours."""

from __future__ import annotations

import pytest

from loom.tools.environment import environment_for_commands, is_secret


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN",
     "GITHUBTOKEN",
     "GH_TOKEN", "PGPASSWORD", "MYSQL_PWD", "openai_api_key", "NPM_CONFIG__AUTH", "GOOGLE_APPLICATION_CREDENTIALS",
     "DJANGO_SECRET", "SSH_PASSPHRASE", "AZURE_PAT", "STRIPE_APIKEY", "LOOM_API_KEY", "DB_PASS", "SSHPASS", "smtp_pass",
     "API_BEARER", "BEARER"],
)  # fmt: skip
def test_a_name_that_looks_like_a_key_is_a_secret(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "MAX_TOKENS", "TOKENIZERS_PARALLELISM", "KEYBOARD", "MONKEYS",
     "AUTHOR", "GIT_AUTHOR_NAME", "XAUTHORITY", "DATABASE_URL", "PATIENCE", "LOOM_HOME", "AWS_PROFILE",
     "GIT_ASKPASS", "SSH_ASKPASS", "PROXY_BYPASS", "COMPASS", "PASS_COUNT", "PGPASSFILE", "BEARERS"],
)  # fmt: skip
def test_an_ordinary_name_is_not(name: str) -> None:
    assert not is_secret(name, "value")


@pytest.mark.parametrize(
    "value",
    ["sk-proj-abcdefghijklmnopqrst", "ghp_abcdefghijklmnopqrstuvwx", "github_pat_11ABC", "xoxb-123",
     "AKIAIOSFODNN7EXAMPLE",
     "-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "gsk_abcdefghijklmnopqrst", "xai-abcdefghijklmnopqrst",
     "hf_abcdefghijklmnopqrst",
     "glpat-abcdefghijklmnopqrst", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
     "Bearer gsk_abcdefghijklmnopqrst"],
)  # fmt: skip
def test_a_value_that_looks_like_a_key_is_a_secret(value: str) -> None:
    assert is_secret("HARMLESS", value)


@pytest.mark.parametrize("value", ["gsk_short", "xai-docs", "eyJhIjoxfQ==", "eyJ.txt", "Bearer of news", "hf_hub"])
def test_a_value_that_only_begins_alike_is_not(value: str) -> None:
    assert not is_secret("HARMLESS", value)


def test_colours_are_off_and_the_rest_stays() -> None:
    given = {"PATH": "/bin", "FORCE_COLOR": "1", "TERM": "xterm-256color", "PAGER": "less", "A_TOKEN": "x"}
    environment = environment_for_commands(given)
    assert environment["PATH"] == "/bin"
    assert environment["TERM"] == "dumb"
    assert environment["PAGER"] == environment["GIT_PAGER"] == "cat"
    assert "FORCE_COLOR" not in environment
    assert "A_TOKEN" not in environment
    assert given["TERM"] == "xterm-256color"
