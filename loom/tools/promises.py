"""What a person was shown of a file before saying yes, so that nothing else is written."""

import hashlib

from loom.tools.outcome import ToolFailure
from loom.tools.paths import Place

Digest = bytes | None
"""Of a file's bytes; None: there was no file."""


def digest_of(content: bytes | None) -> Digest:
    return None if content is None else hashlib.sha256(content).digest()


def call_of(tool: str, *arguments: str) -> bytes:
    """Names a call by what it was given, in a few bytes."""
    name = hashlib.sha256(tool.encode())
    for argument in arguments:
        encoded = argument.encode("utf-8", "surrogatepass")
        name.update(b"%d:" % len(encoded) + encoded)
    return name.digest()


class Promises:
    """Remembers, for each previewed call, the file that its diff was made from.

    Edits that were asked about together are shown against the same file and run one after another: the later ones
    accept what the earlier ones, approved as well, have made of it, and nothing else.
    """

    def __init__(self) -> None:
        self._shown: dict[bytes, Digest] = {}
        self._written: dict[tuple[Place, Digest], Digest] = {}

    def shown(self, call: bytes, found: Digest) -> None:
        """The call was previewed on a file of this digest."""
        self._shown[call] = found

    def written(self, place: Place, before: Digest, after: Digest) -> None:
        """A call that was allowed turned one digest into the other."""
        if before != after:
            self._written[place, before] = after

    def check(self, call: bytes, place: Place, found: Digest, *, follow: bool) -> None:
        """Raises ToolFailure unless the file is as it was shown; `follow` accepts our own writes since. A call that
        was never previewed was promised nothing."""
        if call not in self._shown:
            return
        expected = self._shown[call]
        seen = {expected}
        while expected != found and follow and (place, expected) in self._written:
            expected = self._written[place, expected]
            if expected in seen:
                break
            seen.add(expected)
        self.unchanged(place, expected, found)

    @staticmethod
    def unchanged(place: Place, expected: Digest, found: Digest) -> None:
        """Raises ToolFailure when the file is not the expected one."""
        if expected != found:
            raise ToolFailure(
                f"{place.shown} has changed since this change was made for it; nothing was written.",
                "Read it again, then repeat the call.",
            )
