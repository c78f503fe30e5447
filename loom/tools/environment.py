"""The environment that commands get: the person's, without their keys and without anything that waits or colours.

The rule for what is a secret, by name and by value:

- a name is split at `_`; it is secret when one of its words is KEY, KEYS, PAT, CREDENTIAL, CREDENTIALS, PWD or AUTH, or
  ends in TOKEN, SECRET, SECRETS, PASSWORD, PASSWD, PASSPHRASE, APIKEY or BEARER (`OPENAI_API_KEY`, `PGPASSWORD`);
- it is secret too when its last word ends in PASS (`DB_PASS`, `SSHPASS`), but not in ASKPASS, BYPASS or COMPASS, which
  are a program and plain words;
- a value is secret when it begins, after `Bearer ` perhaps, as the keys of well-known services do (`sk-`, `ghp_`, …),
  or is a signed token (JWT: parts with dots between, the first one `eyJ…`) or a private key;
- PWD, OLDPWD and SSH_AUTH_SOCK are no secrets: two are paths, the third is an agent that shows no key.

An address with a password in it (`DATABASE_URL`) stays: tests that the person runs themselves need it.
"""

import re
from collections.abc import Mapping

_KEPT = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK"})
_WORDS = frozenset({"KEY", "KEYS", "PAT", "CREDENTIAL", "CREDENTIALS", "PWD", "AUTH"})
_ENDINGS = ("TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "BEARER")
_NO_PASS = ("ASKPASS", "BYPASS", "COMPASS")
_VALUES = re.compile(
    r"(?:[Bb]earer )?"
    r"(?:(?:sk|rk|pk|xai)-[\w-]{16}|gh[opsur]_\w{16}|github_pat_|glpat-|xox[abeoprs]-|AKIA[0-9A-Z]{12}|AIza[\w-]{20}"
    r"|(?:hf|gsk)_\w{16}|npm_\w{16}|pypi-\w{16}|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|eyJ[\w-]{8,}\.[\w-]*\.[\w-]+)"
)

_QUIET = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "CLICOLOR": "0",
    # A command that asks would wait until its time is up: standard input is closed and nobody sees the question.
    "GIT_TERMINAL_PROMPT": "0",
    # Takes the message that git proposes, and gives up where there is none.
    "GIT_EDITOR": "true",
}
_COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM", "PY_COLORS", "LS_COLORS")


def is_secret(name: str, value: str = "") -> bool:
    """Whether a variable is kept from commands; the rule stands above."""
    if name in _KEPT:
        return False
    words = name.upper().split("_")
    if words[-1].endswith("PASS") and not words[-1].endswith(_NO_PASS):
        return True
    return any(word in _WORDS or word.endswith(_ENDINGS) for word in words) or _VALUES.match(value) is not None


def environment_for_commands(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command."""
    kept = {name: value for name, value in environ.items() if name not in _COLOURS and not is_secret(name, value)}
    return kept | _QUIET
