"""Settings: one list, from which the file, the environment, the screen and the reference page are made.

Precedence: command line, environment (`LOOM_<NAME>`), settings file (TOML), default.
"""

from __future__ import annotations

import math
import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from loom.errors import LoomError


class ConfigError(LoomError):
    """A setting that cannot be used."""


OFFLINE = "offline"
"""The name of the model that needs no key and no server, in the settings and wherever a model is named."""

PREFIX = "LOOM_"
"""Of a setting's name, in capitals, in the environment."""
_OTHER_VARIABLES = frozenset(("LOOM_HOME", "LOOM_COMMAND"))
"""Where loom's home is; and what loom marks each command with that it runs, another loom among them."""
_NAMED = 5
"""So many unknown variables are named."""

MOST = 1_000_000_000
"""No whole number in the settings means anything beyond this."""


MOST_BYTES = 1_000_000
"""A larger settings file is none."""


def _setting(default: Any, doc: str, *, low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"doc": doc, "low": low, "high": high})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a person can set. Field names are the keys of the settings file."""

    model: str = _setting("auto", "Model string as pydantic-ai spells it, `auto` or `offline`.")
    context_window: int = _setting(
        0, "Context window in tokens, for every model; 0 asks the price list, else assumes 200,000.", low=0
    )
    context_windows: Mapping[str, int] = field(
        default_factory=dict,
        metadata={"doc": "Context window in tokens by model string; goes before `context_window`."},
    )
    output_reserve: int = _setting(8_000, "Tokens kept free for the answer.", low=256)
    high_water: float = _setting(
        0.90, "Share of the usable window at which the oldest exchanges leave it.", low=0.05, high=1.0
    )
    low_water: float = _setting(
        0.50, "Share of the usable window down to which exchanges leave, once they do.", low=0.01, high=0.99
    )
    policy: Literal["archive", "summarise"] = _setting(
        "archive",
        "What happens when the window is full: `archive` (exchanges leave, no summary) or `summarise`.",
    )
    tool_output_preview_tokens: int = _setting(
        4_000,
        "A longer tool output goes into the window as its first and last lines, in a small window already one above a "
        "thirtieth of what `output_reserve` leaves of it; 0 disables.",
        low=0,
    )
    tool_output_trim_chars: int = _setting(
        2_000, "A longer tool output of an older exchange shrinks to this many characters; 0 disables.", low=0
    )
    max_history_messages: int = _setting(
        0, "Beyond this many messages in the window whole exchanges leave, or are summed up; 0 disables.", low=0
    )
    summarization_model: str = _setting("", "Model for summaries, as `model` spells it; empty means the session's own.")
    title_model: str = _setting(
        "",
        "Model that writes a session's title from its first message; empty asks none: that message is it.",
    )
    compress_threshold: float = _setting(
        0.90,
        "Share of the usable window at which the `summarise` policy compacts; 0 leaves that to `max_history_messages`.",
        low=0.0,
        high=1.0,
    )
    keep: int = _setting(
        4,
        "Newest messages that stay beside a summary of the `summarise` policy, as whole exchanges; 0 keeps none.",
        low=0,
    )
    counting: Literal["estimate", "provider"] = _setting(
        "estimate",
        "Who counts the window between exchanges: loom (`estimate`), or the `provider`, asked over the network if it "
        "can (Anthropic, Google, OpenAI Responses); the estimate stands when it does not answer.",
    )
    request_limit: int = _setting(200, "Model requests in one exchange before it stops; 0 disables.", low=0)
    repeat_limit: int = _setting(
        5, "Times in a row that the same calls with the same results may come in one exchange; 0 disables.", low=0
    )
    shell_timeout: int = _setting(120, "Seconds a command may run unless the model asks for longer.", low=1)
    person_command_timeout: int = _setting(
        3_600, "Seconds a command that you run with `!` may take; 0 lets it run until it ends or you stop it.", low=0
    )
    shell_output_limit: int = _setting(
        2_000_000, "Bytes of a command's output that are kept; the rest is counted.", low=1_000
    )
    connect_timeout: float = _setting(15.0, "Seconds to reach a provider.", low=0.1)
    idle_timeout: float = _setting(180.0, "Seconds a provider may stay silent inside an answer.", low=0.1)
    recall_tokens: int = _setting(
        8_000, "Most tokens one recall may answer; never more than an eighth of the window.", low=500, high=100_000
    )
    recall_scope: Literal["session", "workspace", "all"] = _setting(
        "session", "The widest scope that the model may search by itself."
    )
    offline_delay_ms: int = _setting(0, "Milliseconds between the offline model's words, for demos.", low=0)
    theme: str = _setting(
        "loom-dark", "Colour theme of the screen: `loom-dark`, `loom-light`, or one that Textual brings (`nord`)."
    )


def load_settings(path: Path, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """The settings of the file at `path` (absent is fine), the environment and the given overrides (None is
    ignored).

    Raises ConfigError naming the key, the file or variable, and what was expected.
    """
    env = os.environ if environ is None else environ
    settings = Settings()
    for name, value in _read(path).items():
        settings = _with(settings, name, value, str(path))
    for f in fields(Settings):
        raw = env.get(f"{PREFIX}{f.name.upper()}")
        if raw is not None:
            settings = _with(settings, f.name, _parse(f.name, raw), f"{PREFIX}{f.name.upper()}")
    for name, value in overrides.items():
        if value is not None:
            settings = _with(settings, name, value, "the command line")
    if settings.low_water >= settings.high_water:
        raise ConfigError(
            f"low_water ({settings.low_water}) is not below high_water ({settings.high_water}).",
            "Set low_water to a smaller share.",
        )
    return settings


def unknown_variables(environ: Mapping[str, str]) -> str:
    """What is to be said of the variables that are spelled like settings and are none; empty without any. They are no
    error: another program may be called loom as well."""
    known = {f"{PREFIX}{f.name.upper()}" for f in fields(Settings)} | _OTHER_VARIABLES
    unknown = sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
    if not unknown:
        return ""
    from difflib import get_close_matches  # not needed by who has none

    meant = [get_close_matches(name.upper(), known - _OTHER_VARIABLES, 1, 0.8) for name in unknown[:_NAMED]]
    likely = list(dict.fromkeys(name for names in meant for name in names))
    one = len(unknown) == 1
    more = [f"{len(unknown) - _NAMED:,} more"] if len(unknown) > _NAMED else []
    words = f"{_list([*unknown[:_NAMED], *more])} {'is no setting' if one else 'are no settings'} of loom's"
    asked = f" ({'is' if len(likely) == 1 else 'are'} {_list(likely)} meant?)" if likely else ""
    return f"{words} and {'does' if one else 'do'} nothing{asked}."


def _list(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _read(path: Path) -> dict[str, Any]:
    try:
        # A pipe would keep everybody waiting who opens it, and a device never ends.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"The settings file {path} is not a file.", "Put one in its place, or move it away.")
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ConfigError(f"The settings file {path} is larger than a settings file can be.", "Look what it is.")
        text = data.decode()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The settings file {path} cannot be read: {error}.") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The settings file {path} is not valid TOML: {error}.") from error


def _default(name: str) -> Any:
    return getattr(Settings(), name)


def _parse(name: str, raw: str) -> Any:
    if name == "context_windows":
        return _parse_table(raw)
    default = _default(name) if name in Settings.__dataclass_fields__ else ""
    try:
        if isinstance(default, float):
            return float(raw)
        if isinstance(default, int):
            return int(raw)
    except ValueError:
        return raw
    return raw


def _parse_table(raw: str) -> Any:
    """The table of an environment variable, written as TOML writes one in a line; the text as it is if it is none."""
    try:
        read = tomllib.loads(f"table = {raw}")
    except tomllib.TOMLDecodeError:
        return raw
    return read["table"] if len(read) == 1 else raw


def _with(settings: Settings, name: str, value: Any, source: str) -> Settings:
    spec = Settings.__dataclass_fields__.get(name)
    if spec is None:
        known = ", ".join(sorted(Settings.__dataclass_fields__))
        raise ConfigError(f"Unknown setting `{name}` in {source}.", f"Known settings: {known}.")
    if name == "context_windows":
        return replace(settings, context_windows=_window_table(value, source))
    default = _default(name)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default):
        raise ConfigError(f"`{name}` in {source} is {value!r}, not {_kind(default)}.")
    choices = _CHOICES.get(name)
    if choices and value not in choices:
        raise ConfigError(f"`{name}` in {source} is {value!r}.", f"It takes one of: {', '.join(choices)}.")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"`{name}` in {source} is {value}.", "It takes a number.")
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    if isinstance(default, int) and high is None:
        high = MOST
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low}" if high is None or (high == MOST and value < low) else f"from {low} to {high:,}"
        raise ConfigError(f"`{name}` in {source} is {value}.", f"It takes a number {bounds}.")
    return replace(settings, **{name: value})


_CHOICES: dict[str, tuple[str, ...]] = {
    "policy": ("archive", "summarise"),
    "recall_scope": ("session", "workspace", "all"),
    "counting": ("estimate", "provider"),
}


def _window_table(value: Any, source: str) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(v) is int and v > 0 for v in value.values()):
        raise ConfigError(
            f"`context_windows` in {source} is not a table of model = tokens.",
            'Write, for example: [context_windows] then "openai-chat:local" = 32768. In a variable: '
            '{"openai-chat:local" = 32768}.',
        )
    return dict(value)


def _kind(default: Any) -> str:
    return {float: "a number", int: "a whole number", str: "a text in quotes"}[type(default)]
