"""Keys are kept out of what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.models.secrets import HIDDEN, scrub


@pytest.mark.parametrize(
    "secret",
    [
        "sk-abcdefghijklmnop",
        "sk-ant-api03-AbC_dEf-123456",
        "sk-proj-****************wxyz",
        "AIzaSyA1234567890abcdefghijklmnopqrstu",
        "gsk_abcdefghijklmnop",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "hf_abcdefghijklmnop",
        "xai-abcdefghijklmnop",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
        "Bearer abc123def456",
        "api_key=abc123def456",
        '"x-api-key": "abc123def456"',
    ],
)
def test_what_looks_like_a_key_is_hidden(secret: str) -> None:
    text = scrub(f"before {secret} after", {})
    assert secret not in text and HIDDEN in text
    assert text.startswith("before ") and text.endswith(" after")


def test_the_user_and_password_of_an_address_are_hidden() -> None:
    assert scrub("http://me:hunter2@box:80/v1", {}) == f"http://{HIDDEN}@box:80/v1"


@pytest.mark.parametrize("name", ["MY_API_KEY", "HF_TOKEN", "AWS_SECRET", "DB_PASSWORD", "KEY"])
def test_the_value_of_a_secret_variable_is_hidden(name: str) -> None:
    assert scrub("it is plain-words here", {name: "plain-words"}) == f"it is {HIDDEN} here"


def test_other_values_and_short_ones_stay() -> None:
    assert scrub("home is /root, key is abc", {"HOME": "/root", "MY_KEY": "abc"}) == "home is /root, key is abc"


def test_the_longer_of_two_keys_is_hidden_whole() -> None:
    assert scrub("secret-long", {"A_KEY": "secret", "B_KEY": "secret-long"}) == HIDDEN


def test_plain_words_stay() -> None:
    text = "The model gpt-6.1-sol is not available at http://127.0.0.1:8080/v1 (sk, hf, task-list)."
    assert scrub(text, {}) == text


@given(st.text(min_size=6).filter(lambda text: text.strip() == text), st.text())
def test_no_value_survives(secret: str, around: str) -> None:
    assert secret not in scrub(f"{around}{secret}{around}", {"ANY_KEY": secret}).replace(HIDDEN, "\x00")
