"""The watch over threads that serve actors in Python: hubs, event loops, actors with a thread of their own. Owns one thread that looks at
them, reports who keeps one of them busy, and ends actors that were killed: first by an exception in their code, then by giving them up.

Invariant: an actor that was killed ends, whatever its code does. Nobody else is ended: the look and the interruption are one step with
the GIL, and a thread takes back what came too late before it goes on to the next actor. Nobody else is harmed: only an actor's own code
is interrupted, never asyncio's or iris's that it calls.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Optional

from iris._iris import note_stuck

# Seconds between two looks.
LOOK_S = 0.05
# Seconds that one actor may keep a thread that serves many before others are given another thread, and before that is reported.
STUCK_S = 0.2
SLOW_S = 0.5
# Seconds that a killed actor's code has to end, and between two interruptions; and so many may it outlive.
INTERRUPT_S = 0.1
INTERRUPTS_MAX = 8
# Looks at code that is to be interrupted, until one finds it to be the actor's own, and the seconds between two.
LOOKS = 40
LOOKS_S = 0.0005


class Served:
    """A thread that runs actors. `turn` is odd while it runs one, and changes with each."""

    kind = "pull"
    # Whether one actor is to be reported that keeps it.
    shared = True

    def __init__(self) -> None:
        self.turn = 0
        self.interrupted = False
        self.stuck = False
        self.ident = 0
        self.thread: Optional[threading.Thread] = None
        self._seen = -1
        self._since = 0.0
        self._reported = False
        self._interrupts = 0
        self._last = 0.0

    def inbox(self) -> Any:
        """The inbox of the actor that runs, or None."""
        raise NotImplementedError

    def interrupt(self, turn: int) -> bool:
        """Raises `Killed` in the actor of this turn. False if that is over, or if it is not the actor's own code that runs."""
        raise NotImplementedError

    def close(self) -> None:
        """Lets the thread end when it has nothing left to do."""

    def busy_turn(self) -> Optional[int]:
        """The number of the turn that runs, or None."""
        turn = self.turn
        return turn if turn & 1 else None

    def look(self, now: float) -> None:
        """Compares with the last look."""
        turn = self.busy_turn()
        if turn is None or turn != self._seen:
            self._seen, self._since = -1 if turn is None else turn, now
            self.stuck = self._reported = False
            self._interrupts = 0
            return
        lasted, inbox = now - self._since, self.inbox()
        if inbox is None:
            return
        if self.shared:
            self.stuck = lasted >= STUCK_S
            if lasted >= SLOW_S and not self._reported:
                self._reported = True
                inbox.note_slow(self.kind, int(lasted * 1000))
        if lasted >= INTERRUPT_S and inbox.killed():
            self._end(inbox, turn, now)

    def _end(self, inbox: Any, turn: int, now: float) -> None:
        if self._interrupts > INTERRUPTS_MAX or (self._interrupts and now - self._last < INTERRUPT_S):
            return
        self._interrupts += 1
        self._last = now
        if self._interrupts > INTERRUPTS_MAX:
            inbox.give_up()
            return
        for _ in range(LOOKS):
            if self.interrupt(turn) or self.turn != turn:
                return
            time.sleep(LOOKS_S)


_served: set[Served] = set()
_changed = threading.Condition()
_thread: Optional[threading.Thread] = None


def begin(served: Served) -> None:
    """Called before a thread that serves actors starts."""
    global _thread
    with _changed:
        _served.add(served)
        if _thread is None:
            _thread = threading.Thread(target=_watch, name="iris-watch", daemon=True)
            _thread.start()
        else:
            _changed.notify()


def end(served: Served) -> None:
    """Called by the thread when it ends."""
    served.turn = 0
    with _changed:
        _served.discard(served)


def _watch() -> None:
    while True:
        with _changed:
            while not _served:
                note_stuck(False)
                _changed.wait()
            all_served = list(_served)
        now = time.monotonic()
        for served in all_served:
            served.look(now)
        note_stuck(any(served.stuck for served in all_served))
        all_served = served = None  # type: ignore[assignment]
        time.sleep(LOOK_S)


def end_all(timeout: float) -> None:
    """At interpreter exit: the threads that can end do, whoever owns them; those that cannot are stopped where they stand by the
    interpreter's end."""
    with _changed:
        all_served = list(_served)
    for served in all_served:
        served.close()
    for attempt in range(2):
        until = time.monotonic() + timeout
        for served in all_served:
            if served.thread is not None and served.thread is not threading.current_thread():
                served.thread.join(max(0.0, until - time.monotonic()))
        all_served = [served for served in all_served if served.thread is not None and served.thread.is_alive()]
        if not all_served:
            return
        for served in all_served:
            turn = served.busy_turn()
            if attempt == 0 and turn is not None:
                served.interrupt(turn)


def renew_after_fork() -> None:
    """None of the parent's threads exist in the child."""
    global _thread, _changed
    _served.clear()
    _thread, _changed = None, threading.Condition()
