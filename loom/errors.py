"""The root of loom's own errors: what happened, and what the person can do about it.

Each layer raises its own subclasses where the fact is known; a front end shows them once.
"""


class LoomError(Exception):
    """Something that a person can be told in words.

    `what` says what happened in one sentence; `remedy` says what to do about it (may be empty).
    `str(error)` is both. Neither ever holds a key, a header or a request body.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(f"{what} {remedy}".strip())


class Stopped(LoomError):
    """The person stopped what they had asked for: no failure, and nothing to do about it."""
