"""Children that hear signals, however the tests themselves were started."""

from __future__ import annotations

import signal

HEARD = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)


def hear_signals() -> None:
    """For `preexec_fn`: what runs in the background or under `nohup` ignores some signals, and hands that on."""
    for each in HEARD:
        signal.signal(each, signal.SIG_DFL)
