"""A program in a session of its own, from its start to the end of its whole process group.

If loom itself is ended without a chance to tidy up (kill -9), Linux asks the program to end (SIGTERM) in the same
moment, and the warden (`loom.tools.warden`) ends its whole process group, on every system. What left the group
(`setsid`, a daemon) ends with it on Linux, where it is found by a mark in its environment; neither reaches what runs
as somebody else (sudo).
"""

import asyncio
import contextlib
import ctypes
import functools
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loom.tools import warden_process
from loom.tools.offloop import settled
from loom.tools.warden import MARK, new_mark, the_warden

GRACE = 2.0
"""Seconds between the request to end and the end."""

LINGER = 1.0
"""Seconds that what a finished command started may go on writing (`… > >(tee log)`)."""

_PR_SET_PDEATHSIG = 1
_CHUNK = 65_536
_POLL = 0.02


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended."""

    exit_code: int | None
    """None when a signal or the time-out ended it."""
    signal: int | None
    timed_out: bool
    left_behind: bool
    """True when it had left processes running; they were ended."""
    duration_ms: int


async def run_program(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    take: Callable[[bytes], bool],
) -> Ended:
    """Run a program with standard input closed. `take` is given output and errors as they come, in their order, and
    says whether it wants more.

    When the time (`seconds`) is up, when `take` has enough, or when the caller is cancelled, the process group is asked
    to end and after GRACE killed; this returns (or raises CancelledError) after its end. A process that left the group
    (`setsid`) ends too then, if it can be found; one that a finished program left is a daemon, and is let live. Raises
    OSError if the program cannot be started.
    """
    began = time.monotonic()
    read_end, write_end = os.pipe()
    output = _Output(read_end, take)
    mark = new_mark()
    try:
        process = await _start(command, folder, {**environment, MARK: mark}, mark, write_end)
        group = _Group(process, mark)
        try:
            timed_out = not await group.ended_within(seconds, output.enough)
            left_behind = await group.lingers(output.at_end) if group.leader.done() else False
        finally:
            await settled(group.end())
    finally:
        output.close()
    code = process.returncode
    by_signal = -code if code is not None and code < 0 else None
    duration = round((time.monotonic() - began) * 1000)
    exit_code = None if timed_out or by_signal is not None else code
    return Ended(exit_code, by_signal, timed_out, left_behind, duration)


async def _start(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], mark: str, output: int
) -> asyncio.subprocess.Process:
    the_warden.start()
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_ends_with_loom(mark),
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await settled(_end_at_once(starting, mark))
        raise
    finally:
        # After the child has its copy: from here on the end of the output is the end of its writers.
        os.close(output)


def _ends_with_loom(mark: str) -> Callable[[], None]:
    """What a new process does before it becomes the program, so that it ends with loom.

    For Linux "with loom" is in truth: with the thread that starts it. asyncio starts programs in the event loop's own
    thread, which lives as long as they may run; never call this from a worker thread.
    """
    prctl = _prctl()
    parent = os.getpid()
    tell = the_warden.tell_of_itself(mark)

    # Between fork and exec, where a lock of another thread would never be let go: nothing here takes or imports any.
    def ask() -> None:
        tell()
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGTERM.value, 0, 0, 0)
        if os.getppid() != parent:  # loom was gone before it was asked for
            os._exit(1)

    return ask


@functools.cache
def _prctl() -> Callable[..., int] | None:
    try:
        # PyDLL: the call keeps the interpreter's lock, as is right in a process that has but one thread.
        prctl = ctypes.PyDLL(None).prctl
    except (OSError, AttributeError):  # no Linux
        return None
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    prctl.restype = ctypes.c_int
    return prctl


async def _end_at_once(starting: "asyncio.Future[asyncio.subprocess.Process]", mark: str) -> None:
    with contextlib.suppress(OSError):
        await _Group(await starting, mark).end()


class _Group:
    """A running program and all that it started and that stayed in its process group."""

    def __init__(self, process: asyncio.subprocess.Process, mark: str) -> None:
        self._id = process.pid
        self._mark = mark
        self.leader = asyncio.ensure_future(process.wait())

    async def ended_within(self, seconds: float, enough: "asyncio.Future[None]") -> bool:
        """False when the time was up first."""
        either: set[asyncio.Future[Any]] = {self.leader, enough}
        done, _ = await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)

    async def lingers(self, at_end: "asyncio.Future[None]") -> bool:
        """True when, the leader gone, others are still there after they had their time."""
        if not self._alive():
            return False
        await asyncio.wait({at_end}, timeout=LINGER)
        return not await self._gone_within(LINGER / 4)

    async def end(self) -> None:
        """Ask all of them to end, then make them; nothing is watched afterwards."""
        try:
            cut = not self.leader.done()
            if cut or self._alive():
                await self._end_group()
            if cut:
                await asyncio.to_thread(warden_process.end, (), {self._mark})
        finally:
            the_warden.forget(self._id)

    async def _end_group(self) -> None:
        self._send(signal.SIGTERM)
        if not await self._gone_within(GRACE):
            self._send(signal.SIGKILL)
            await self._gone_within(GRACE)
        await self.leader

    async def _gone_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self.leader.done() or self._alive():
            if time.monotonic() > until:
                return False
            await asyncio.wait({self.leader}, timeout=_POLL)
            if self.leader.done():
                await asyncio.sleep(_POLL)
        return True

    def _send(self, which: signal.Signals) -> None:
        # PermissionError: all that is left runs as somebody else (sudo) and is out of our hands.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._id, which)

    def _alive(self) -> bool:
        try:
            os.killpg(self._id, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return not _only_zombies(self._id)


def _only_zombies(group: int) -> bool:
    """True when every process of the group has ended and only waits to be noticed, which in a container without an
    init is for ever. False where there is no /proc to ask."""
    seen = False
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if len(fields) > 2 and int(fields[2]) == group:
            seen = True
            if fields[0] not in "ZX":
                return False
    return seen


class _Output:
    """The read end of a pipe, drained by the event loop without ever waiting for it."""

    def __init__(self, descriptor: int, take: Callable[[bytes], bool]) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._take = take
        self.enough: asyncio.Future[None] = self._loop.create_future()
        self.at_end: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> bool:
        """One piece at a time, so that a flood leaves the loop its turns; False when there is none now."""
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._descriptor)
            if not self.at_end.done():
                self.at_end.set_result(None)
            return False
        if not self.enough.done() and not self._take(data):
            self.enough.set_result(None)
        return True

    def close(self) -> None:
        """Take what is still in the pipe (at most its capacity) and let go of it."""
        for _ in range(32):
            if not self._read():
                break
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self.enough.cancel()
        self.at_end.cancel()
