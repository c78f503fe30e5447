"""When Python looks for garbage: a little at a time while somebody is there, and for the rest when nobody is.

Everything stands still meanwhile. With a long conversation on the screen there are 700,000 objects, and to go through
all of them takes half a second and more: no key is to wait for that.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

NEW, YOUNG, OLD = 5_000, 4, 40
"""New objects after which Python goes through these, how often it does so until it goes through those that were left
(some 25,000: 20 ms), and how often that until it goes through everything. A picture of the screen makes thousands:
with Python's own 700 a third of the processor time of forty exchanges went into looking."""
SHORT_PAUSE = 1.0
"""Seconds without a key or a click; then what is old is set aside, which costs no more than a look at the young."""
LONG_PAUSE = 60.0
"""Then everything is gone through, once, and again each OFTEN seconds while nobody comes back."""
OFTEN = 300.0
MOST_ASIDE = 1_500_000
"""Objects that were set aside since everything was gone through, after which a short pause has to do for that: some
150 MB, if all of them were garbage."""


class Garbage:
    """Sets aside what is old, of which most stays for long, so that Python does not go through it while somebody is
    there; looks through it in long pauses."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._touched = self._all_seen = clock()
        self._kept = self._aside = 0
        """Objects that were set aside when everything was gone through, and now."""

    def begin(self) -> None:
        """Let Python itself go through little at a time. For the whole process."""
        gc.set_threshold(NEW, YOUNG, OLD)

    def touch(self) -> None:
        """Somebody is there: they pressed a key, clicked, or moved the mouse."""
        self._touched = self._clock()

    def rest(self) -> None:
        """Look for garbage if this is a pause and there may be some. To be called each second or so."""
        now = self._clock()
        pause = now - self._touched
        if pause < SHORT_PAUSE:
            return
        untended = self._all_seen < self._touched or now - self._all_seen >= OFTEN
        if (pause >= LONG_PAUSE and untended) or self._aside - self._kept >= MOST_ASIDE:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._all_seen = now
            self._kept = self._aside = gc.get_freeze_count()
        elif gc.get_count()[2]:
            gc.collect(1)
            gc.freeze()
            # Counted one by one: a few ms.
            self._aside = gc.get_freeze_count()
