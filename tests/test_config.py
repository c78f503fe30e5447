"""Settings come from the file, the environment and the command line, and a wrong one is named."""

import os
from pathlib import Path

import pytest

from loom.config import ConfigError, Settings, load_settings, unknown_variables


def write(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.toml", {}) == Settings()


def test_the_environment_goes_before_the_file_and_the_command_line_before_both(tmp_path: Path) -> None:
    path = write(tmp_path, 'model = "file"\noutput_reserve = 500\nhigh_water = 0.8\n')
    env = {"LOOM_MODEL": "env", "LOOM_OUTPUT_RESERVE": "600"}
    assert load_settings(path, env).model == "env"
    assert load_settings(path, env).output_reserve == 600
    assert load_settings(path, env).high_water == 0.8
    assert load_settings(path, env, model="line").model == "line"
    assert load_settings(path, env, model=None).model == "env"


def test_windows_can_be_set_by_model(tmp_path: Path) -> None:
    path = write(tmp_path, '[context_windows]\n"openai-chat:local" = 32768\n')
    assert load_settings(path, {}).context_windows == {"openai-chat:local": 32768}


def test_the_environment_has_windows_by_model_too(tmp_path: Path) -> None:
    path = write(tmp_path, '[context_windows]\n"openai-chat:local" = 32768\n')
    env = {"LOOM_CONTEXT_WINDOWS": '{"openai-chat:local" = 16384, "ollama:x" = 8192}'}
    assert load_settings(path, env).context_windows == {"openai-chat:local": 16384, "ollama:x": 8192}


@pytest.mark.parametrize("raw", ["32768", "", '{"x" = -1}', '{"x": 1}', "{}\nmodel = 'x'"])
def test_windows_of_the_environment_that_are_no_table_are_named(tmp_path: Path, raw: str) -> None:
    with pytest.raises(ConfigError, match="LOOM_CONTEXT_WINDOWS"):
        load_settings(tmp_path / "none.toml", {"LOOM_CONTEXT_WINDOWS": raw})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("modle = 'x'", "Unknown setting `modle`"),
        ("model = 3", "`model`"),
        ("output_reserve = 'many'", "not a whole number"),
        ("output_reserve = 1.5", "not a whole number"),
        ("output_reserve = true", "not a whole number"),
        ("output_reserve = 1", "at least 256"),
        ("high_water = 7", "from 0.05 to 1.0"),
        ("policy = 'forget'", "archive, summarise"),
        ("low_water = 0.95", "not below high_water"),
        ("low_water = nan", "takes a number"),
        ("idle_timeout = inf", "takes a number"),
        ("offline_delay_ms = 99999999999999999999", "from 0 to 1,000,000,000"),
        ("[context_windows]\nx = -1", "table of model = tokens"),
        ("not toml", "not valid TOML"),
    ],
)
def test_a_wrong_setting_is_named_with_what_was_expected(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(write(tmp_path, text), {})
    assert words in str(caught.value)


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="LOOM_OUTPUT_RESERVE"):
        load_settings(tmp_path / "none.toml", {"LOOM_OUTPUT_RESERVE": "lots"})


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ((), ""),
        (("LOOM_HOME", "LOOM_MODEL", "LOOM_COMMAND", "LOOM", "HOME", "OPENAI_API_KEY"), ""),
        (("LOOM_MODLE",), "LOOM_MODLE is no setting of loom's and does nothing (is LOOM_MODEL meant?)."),
        (("LOOM_XYZ",), "LOOM_XYZ is no setting of loom's and does nothing."),
        (
            ("LOOM_XYZ", "LOOM_TEHME", "LOOM_model"),
            "LOOM_TEHME, LOOM_XYZ and LOOM_model are no settings of loom's and do nothing "
            "(are LOOM_THEME and LOOM_MODEL meant?).",
        ),
    ],
)
def test_variables_that_look_like_settings_and_are_none_are_named(names: tuple[str, ...], words: str) -> None:
    assert unknown_variables(dict.fromkeys(names, "1")) == words


def test_of_very_many_such_variables_a_few_are_named() -> None:
    words = unknown_variables({f"LOOM_{n:04}": "" for n in range(1_000)})
    assert len(words) < 200 and "995 more" in words


def test_every_setting_says_what_it_is() -> None:
    assert all(field.metadata.get("doc") for field in Settings.__dataclass_fields__.values())


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "huge"])
def test_what_cannot_be_a_settings_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "config.toml"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case "huge":
            path.touch()
            os.truncate(path, 3_000_000_000)
    with pytest.raises(ConfigError, match="settings file"):
        load_settings(path, {})
