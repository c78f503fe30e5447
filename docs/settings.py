"""Make docs/settings.md from the one list of settings: `python docs/settings.py`."""

from dataclasses import MISSING, fields
from pathlib import Path

from loom.config import Settings

HEAD = """\
# Settings

Made by `docs/settings.py` from `loom/config.py`; do not edit by hand.

In `~/.config/loom/config.toml` (`$LOOM_HOME/config.toml` if LOOM_HOME is set), or as an environment variable
`LOOM_<NAME>` in capitals (`context_windows` as TOML writes a table in a line: `{"openai-chat:local" = 32768}`); one
that is no setting is named at the start. The command line goes before the environment, the environment before the file.

| setting | default | meaning |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    rows = []
    for setting in fields(Settings):
        default = setting.default if setting.default is not MISSING else "empty"
        shown = f'`"{default}"`' if isinstance(default, str) and default != "empty" else f"`{default}`"
        rows.append(f"| `{setting.name}` | {shown} | {setting.metadata['doc']} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
