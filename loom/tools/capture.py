"""Output of any length in bounded memory: its beginning, its end, and how much was between."""

from collections import deque


class Capture:
    """Takes bytes; keeps at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.dropped = 0
        """Bytes that are not kept."""

    def take(self, data: bytes) -> bool:
        """Always True: wants more."""
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            self._shorten()
        return True

    def end(self, size: int) -> str:
        """The last `size` bytes of what is kept, as text."""
        held = b""
        for data in reversed([bytes(self._head), *self._tail] if not self.dropped else self._tail):
            held = data + held
            if len(held) >= size:
                break
        return _without_cut_start(held[-size:]).decode("utf-8", "replace")

    def _shorten(self) -> None:
        while (over := self._tail_size - self._tail_limit) > 0:
            first = self._tail.popleft()
            if len(first) > over:
                self._tail.appendleft(first[over:])
            gone = min(over, len(first))
            self._tail_size -= gone
            self.dropped += gone

    def text(self) -> str:
        """What was kept as text, with a line about what was left out; U+FFFD for bytes that are not UTF-8."""
        tail = b"".join(self._tail)
        if not self.dropped:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        head = _without_cut_end(bytes(self._head)).decode("utf-8", "replace")
        end = _without_cut_start(tail).decode("utf-8", "replace")
        return f"{head}\n[… {self.dropped:,} bytes left out here …]\n{end}"


def _without_cut_start(data: bytes) -> bytes:
    """The bytes less the end of a UTF-8 character whose beginning was left out."""
    return data[next((at for at in range(min(4, len(data))) if data[at] & 0xC0 != 0x80), 0) :]


def _without_cut_end(data: bytes) -> bytes:
    """The bytes less a UTF-8 character that is cut off at their end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if length > back else data
    return data
