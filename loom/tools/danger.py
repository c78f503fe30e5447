"""Words for what is dangerous about a command. Advice for the person who is asked, nothing more: a command without a
warning is not thereby safe, and every command asks."""

import os
import re
import shlex
from pathlib import Path

from loom.tools.git_danger import danger_of_git

_NAME = r"(?<![\w./-])(?:[\w./-]{0,200}/)?"
"""Before a program's name: not inside another word; a path to it is fine."""
_REST = r"[^;&|\n]{0,300}"
"""What else stands in the same simple command; bounded, as nothing here may take long on any command."""
_INTO = r"[^;&\n]{0,300}\|\s*(?:sudo\s+)?(?:\S{0,200}/)?"
"""A pipe, right into what follows."""

_SIGNS: tuple[tuple[str, str], ...] = (
    (rf"{_NAME}rm\b{_REST}\s(?:-\w*[rR]|--recursive)", "deletes files recursively"),
    (rf"{_NAME}rm\b{_REST}\s(?:-\w*f|--force)", "deletes files without asking"),
    (rf"{_NAME}find\b{_REST}\s-delete\b", "deletes what it finds"),
    (rf"{_NAME}(?:find\b{_REST}\s-exec|xargs\b){_REST}\brm\b", "deletes what it finds"),
    (rf"{_NAME}(?:shred|wipefs)\b", "destroys data"),
    (rf"{_NAME}truncate\b{_REST}\s-", "cuts files short"),
    (rf"{_NAME}(?:mkfs(?:\.\w+)?|mkswap|fdisk|sfdisk|parted)\b", "changes or formats disks"),
    (rf"{_NAME}dd\b{_REST}\sof=", "writes raw data with dd"),
    (r">\s*/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper)", "writes to a disk device"),
    (rf"{_NAME}ch(?:mod|own|grp)\b{_REST}\s(?:-\w*R|--recursive)", "changes rights or owners recursively"),
    (rf"{_NAME}chmod\b{_REST}\s(?:0?777\b|a\+w|o\+w|[ugo]*\+s|[24]7[0-7]{{2}}\b)", "opens rights to everybody"),
    (rf"{_NAME}(?:sudo|doas|pkexec|su)\b", "runs as another user"),
    (
        rf"{_NAME}(?:curl|wget|fetch)\b{_INTO}(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|perl|ruby|node)\b"
        rf"|(?:ba|z|da|k)?sh\b{_REST}(?:<\(|\$\(|`)\s*(?:curl|wget)\b|\beval\b{_REST}(?:curl|wget)\b",
        "runs what it downloads",
    ),
    (rf"{_NAME}(?:base64|xxd)\b{_REST}\|\s*(?:ba|z|da)?sh\b", "runs a hidden command"),
    (r":\s*\(\s*\)\s*\{[^}]*:\s*\|\s*:", "is a fork bomb"),
    (rf"{_NAME}(?:shutdown|reboot|poweroff|halt)\b", "stops the machine"),
    (rf"{_NAME}(?:killall|pkill)\b|{_NAME}kill\b{_REST}\s-1\b(?!\d)", "ends processes by name or all at once"),
    (rf"{_NAME}crontab\b{_REST}\s-\w*r", "removes the crontab"),
    (rf"{_NAME}(?:iptables|nft|ufw)\b", "changes the firewall"),
    (rf"{_NAME}systemctl\b{_REST}\s(?:stop|disable|mask|isolate)\b", "stops services"),
    (rf"{_NAME}docker\b{_REST}\b(?:system|volume|image|container)\s+(?:prune|rm)\b", "removes containers or volumes"),
    (rf"{_NAME}(?:kubectl|helm|terraform)\b{_REST}\b(?:delete|destroy|uninstall)\b", "destroys deployed things"),
    (rf"{_NAME}(?:npm|yarn|pnpm|cargo|twine|poetry|uv)\b{_REST}\s(?:publish|upload)\b", "publishes a package"),
    (r"(?i)\bdrop\s+(?:table|database|schema)\b|\btruncate\s+table\b|\bdelete\s+from\b", "deletes from a database"),
    (r"/dev/tcp/", "opens a network connection by itself"),
    (r"(?:^|[\s=])~?/?(?:\S{0,200}/)?\.(?:ssh|aws|gnupg|kube)/", "touches keys or credentials"),
)
_COMPILED = tuple((re.compile(pattern, re.MULTILINE), words) for pattern, words in _SIGNS)

MAX_LOOKED_AT = 20_000
"""Characters of a command that are looked at."""

_WRITERS = frozenset({"chmod", "chown", "cp", "install", "ln", "mkdir", "mv", "rm", "rmdir", "rsync", "tee", "touch"})
"""Programs whose arguments are looked at for paths outside the workspace."""


def danger_of_command(command: str, root: Path) -> str:
    """What may go wrong, in a few words; empty when nothing is known to."""
    looked_at = command[:MAX_LOOKED_AT]
    found = [words for pattern, words in _COMPILED if pattern.search(looked_at)]
    if "deletes files recursively" in found:
        found = [words for words in found if words != "deletes files without asking"]
    for arguments in re.findall(rf"{_NAME}git\b([^;&|\n]*)", looked_at):
        if words := danger_of_git(_words(arguments)):
            found.append(words)
    if outside := _outside(looked_at, root):
        found.append(f"writes outside the workspace ({outside})")
    if len(command) > MAX_LOOKED_AT:
        found.append("is very long")
    return "; ".join(dict.fromkeys(found))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _outside(command: str, root: Path) -> str:
    """The first path outside the workspace that the command seems to write to."""
    for target in re.findall(r"(?<![<>&])(?:\d|&)?>>?\|?\s*([^\s;&|<>()]+)", command):
        if _leaves(target.strip("\"'"), root):
            return _named(target)
    for simple in re.split(r"[;&|\n]+", command):
        words = _words(simple)
        while words and (words[0] in ("sudo", "env", "time", "nohup") or re.fullmatch(r"\w+=.*", words[0])):
            words = words[1:]
        if words and words[0] == "cd" and len(words) > 1 and _leaves(words[1], root):
            return _named(words[1])
        if words and os.path.basename(words[0]) in _WRITERS:  # noqa: PTH119 - a word, not a path of ours
            # Sources are only read; the last word is where cp, mv and ln write to.
            targets = words[-1:] if words[0] in ("cp", "mv", "ln", "install", "rsync") else words[1:]
            for target in targets:
                if not target.startswith("-") and _leaves(target, root):
                    return _named(target)
    return ""


def _leaves(target: str, root: Path) -> bool:
    if target.startswith("/dev/") and not re.match(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper)", target):
        return False
    if target.startswith(("~", "$HOME", "${HOME}")):
        return True
    if not target.startswith(("/", "..")) and "/../" not in target:
        return False
    return not Path(os.path.normpath(root / target)).is_relative_to(root)


def _named(target: str) -> str:
    return target if len(target) <= 80 else target[:79] + "…"
