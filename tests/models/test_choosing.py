"""Which model answers, by name and by what is set."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.config import Settings
from loom.models.choice import ASSUMED_WINDOW, OFFLINE_WINDOW, ModelChoice, ModelUnavailable
from loom.models.choosing import choose_model
from tests.support.provider import ScriptedProvider

SETTINGS = Settings()


def nobody() -> str:
    """An address where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def choose(wanted: str, **environ: str) -> ModelChoice:
    return choose_model(wanted, SETTINGS, {"OLLAMA_BASE_URL": nobody(), **environ})


def refusal(wanted: str, **environ: str) -> str:
    with pytest.raises(ModelUnavailable) as refused:
        choose(wanted, **environ)
    return str(refused.value)


class TestAuto:
    @pytest.mark.parametrize(
        ("environ", "prefix", "key"),
        [
            ({"ANTHROPIC_API_KEY": "x"}, "anthropic:claude-sonnet", "ANTHROPIC_API_KEY"),
            ({"OPENAI_API_KEY": "x"}, "openai:gpt", "OPENAI_API_KEY"),
            ({"GEMINI_API_KEY": "x"}, "google:gemini", "GEMINI_API_KEY"),
            ({"GOOGLE_API_KEY": "x"}, "google:gemini", "GOOGLE_API_KEY"),
            ({"DEEPSEEK_API_KEY": "x"}, "deepseek:", "DEEPSEEK_API_KEY"),
            ({"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y"}, "anthropic:", "ANTHROPIC_API_KEY"),
            ({"ANTHROPIC_API_KEY": "  ", "OPENAI_API_KEY": "y"}, "openai:", "OPENAI_API_KEY"),
        ],
    )
    def test_a_key_that_is_set_decides(self, environ: dict[str, str], prefix: str, key: str) -> None:
        choice = choose("auto", **environ)
        assert choice.name.startswith(prefix)
        assert choice.reason == f"{key} is set"
        assert (choice.window, choice.window_assumed) == (ASSUMED_WINDOW, True)

    def test_a_key_whose_package_is_missing_is_passed_over_and_told(self) -> None:
        choice = choose("auto", GROQ_API_KEY="x")
        assert choice.name == "offline"
        assert "GROQ_API_KEY is set, but the package `groq` is not installed" in choice.note

    def test_a_server_of_ones_own_is_asked_for_its_models(self) -> None:
        with ScriptedProvider(models=["qwen-coder", "other"]) as provider:
            choice = choose("auto", OPENAI_BASE_URL=provider.base_url)
        assert choice.name == "openai-chat:qwen-coder"
        assert choice.reason == "OPENAI_BASE_URL is set"

    def test_with_a_key_too_the_server_of_ones_own_is_the_one_meant(self) -> None:
        with ScriptedProvider(models=["qwen-coder"]) as provider:
            choice = choose("auto", OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="local-key")
            assert provider.asked[0].headers["authorization"] == "Bearer local-key"
        assert choice.name == "openai-chat:qwen-coder"

    def test_a_server_that_does_not_answer_is_told(self) -> None:
        choice = choose("auto", OPENAI_BASE_URL=f"{nobody()}/v1")
        assert choice.name == "offline"
        assert "OPENAI_BASE_URL is set, but http://127.0.0.1:" in choice.note

    @pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
    def test_a_local_ollama_is_found(self, path: str) -> None:
        with ScriptedProvider(models=["llama3.2:3b", "qwen"]) as provider:
            choice = choose("auto", OLLAMA_BASE_URL=provider.root_url + path)
        assert choice.name == "ollama:llama3.2:3b"

    def test_an_ollama_without_models_is_told(self) -> None:
        with ScriptedProvider(models=[]) as provider:
            choice = choose("auto", OLLAMA_BASE_URL=provider.root_url)
        assert choice.name == "offline" and "ollama pull" in choice.note

    def test_with_nothing_it_is_offline_and_says_what_to_set(self) -> None:
        for wanted in ("auto", "AUTO", "", "  "):
            choice = choose(wanted)
            assert choice.name == "offline"
            assert choice.reason == "no key and no local server"
            assert "ANTHROPIC_API_KEY" in choice.note and "no key is set" in choice.note

    def test_a_server_that_never_answers_does_not_hold_it_up(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            choice = choose("auto", OLLAMA_BASE_URL=f"http://127.0.0.1:{port}")
        assert choice.name == "offline"


class TestNames:
    def test_offline_needs_nothing(self) -> None:
        choice = choose("offline")
        assert (choice.name, choice.window, choice.window_assumed) == ("offline", OFFLINE_WINDOW, False)
        assert choice.note == ""

    def test_a_full_name_with_its_key_is_taken_as_it_is(self) -> None:
        choice = choose("anthropic:claude-opus-5-5", ANTHROPIC_API_KEY="x")
        assert (choice.name, choice.reason, choice.note) == ("anthropic:claude-opus-5-5", "asked for", "")

    def test_a_missing_key_is_named(self) -> None:
        said = refusal("anthropic:claude-opus-5-5")
        assert "ANTHROPIC_API_KEY is not set" in said and "before loom starts (export ANTHROPIC_API_KEY" in said

    def test_either_of_two_keys_will_do(self) -> None:
        assert "GOOGLE_API_KEY or GEMINI_API_KEY is not set" in refusal("google:gemini-4-argon")
        assert choose("google:gemini-4-argon", GEMINI_API_KEY="x").name == "google:gemini-4-argon"

    def test_what_would_work_instead_is_said(self) -> None:
        assert "`openai:gpt-" in refusal("anthropic:claude-opus-5-5", OPENAI_API_KEY="x")

    def test_several_missing_variables_are_named(self) -> None:
        said = refusal("azure:gpt")
        assert "AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT and OPENAI_API_VERSION are not set" in said

    def test_a_server_of_ones_own_needs_no_key(self) -> None:
        choice = choose("openai-chat:my-model", OPENAI_BASE_URL="http://127.0.0.1:1/v1")
        assert choice.name == "openai-chat:my-model"
        assert "OPENAI_BASE_URL" in refusal("openai-chat:my-model")

    def test_ollama_needs_no_key(self) -> None:
        assert choose("ollama:llama3.2:3b").name == "ollama:llama3.2:3b"

    def test_a_missing_package_is_named_with_the_way_to_install_it(self) -> None:
        said = refusal("groq:openai/gpt-oss-120b", GROQ_API_KEY="x")
        assert "`groq`" in said and 'pip install "pydantic-ai-slim[groq]"' in said

    @pytest.mark.parametrize(
        ("wanted", "suggested"),
        [
            ("antropic:claude-opus-5-5", "`anthropic:claude-opus-5-5`"),
            ("claude:claude-opus-5-5", "`anthropic:claude-opus-5-5`"),
            ("gemini:gemini-4-argon", "`google:gemini-4-argon`"),
            ("google-gla:gemini-4-argon", "`google:gemini-4-argon`"),
            ("lmstudio:qwen", "`openai-chat:qwen`"),
            ("gateway/antropic:x", "`anthropic:x`"),
            ("llama3:8b", "`ollama:llama3:8b`"),
        ],
    )
    def test_an_unknown_provider_gets_a_suggestion(self, wanted: str, suggested: str) -> None:
        assert suggested in refusal(wanted)

    def test_a_provider_like_no_other_gets_the_list(self) -> None:
        said = refusal("zzzzqqq:whatever-model")
        assert "no provider" in said and "anthropic" in said

    @pytest.mark.parametrize(
        ("wanted", "suggested"),
        [
            ("claude-opus-5-5", "`anthropic:claude-opus-5-5`"),
            ("claude-opus-55", "`anthropic:claude-opus-5-5`"),
            ("gpt-6.1-sol", "Did you mean `openai:gpt-6.1-sol`"),
            ("Opus", "Did you mean `anthropic:claude-opus-5-5`"),
            ("gpt-6", "Did you mean `openai:gpt-6"),
            ("claude-sonnet-5", "Did you mean `anthropic:claude-sonnet-5-5`"),
            ("anthropic", "`anthropic:claude-sonnet-5-5`"),
            ("claude", "`anthropic:claude-sonnet-5-5`"),
        ],
    )
    def test_a_name_without_a_provider_gets_a_suggestion(self, wanted: str, suggested: str) -> None:
        said = refusal(wanted)
        assert "write `provider:model`" in said and suggested in said

    def test_a_provider_without_a_name_gets_a_suggestion(self) -> None:
        assert "`anthropic:claude-sonnet-5-5`" in refusal("anthropic:")

    def test_a_slip_of_the_pen_is_taken_with_a_word(self) -> None:
        choice = choose("anthropic:claude-sonet-5-5", ANTHROPIC_API_KEY="x")
        assert "Did you mean `anthropic:claude-sonnet-5-5`?" in choice.note

    @pytest.mark.parametrize("name", ["claude-sonnet-4-5", "claude-opus-5-5-20261001", "something-else"])
    def test_another_version_or_name_is_taken_without_a_word(self, name: str) -> None:
        assert choose(f"anthropic:{name}", ANTHROPIC_API_KEY="x").note == ""

    def test_a_wild_name_is_shown_tamely(self) -> None:
        said = refusal("\x1b[31mred:\u202ename" + "x" * 5_000)
        assert "\x1b" not in said and "\u202e" not in said and len(said) < 2_000


class TestWindows:
    def test_a_setting_for_the_model_goes_first(self) -> None:
        settings = Settings(context_window=50_000, context_windows={"ollama:a": 8_192})
        for name, window in (("ollama:a", 8_192), ("ollama:b", 50_000), ("offline", 50_000)):
            choice = choose_model(name, settings, {})
            assert (choice.window, choice.window_assumed) == (window, False)


@given(st.text(max_size=60))
def test_no_name_raises_anything_but_words(wanted: str) -> None:
    environ = {"OLLAMA_BASE_URL": "not an address", "ANTHROPIC_API_KEY": "x"}
    try:
        choose_model(wanted, SETTINGS, environ)
    except ModelUnavailable as refused:
        assert refused.what


def test_choosing_imports_no_provider() -> None:
    code = (
        "import sys\n"
        "from loom.config import Settings\n"
        "from loom.models.choosing import choose_model\n"
        "from loom.models.choice import ModelUnavailable\n"
        "for name in ('auto', 'anthropic:claude-opus-5-5', 'nope', 'nope:nope', 'groq:x'):\n"
        "    try:\n"
        "        choose_model(name, Settings(), {'ANTHROPIC_API_KEY': 'x', 'GROQ_API_KEY': 'x'})\n"
        "    except ModelUnavailable:\n"
        "        pass\n"
        "heavy = {'pydantic_ai', 'pydantic', 'openai', 'anthropic', 'google.genai', 'httpx2', 'genai_prices'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
