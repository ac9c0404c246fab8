"""Virtual pull and async actors. Owns when one is idle and what wakes it; the green thread or task that runs its code exists only while it
is used. Invariant: it falls asleep by a receive that found nothing, which leaves its waker in the mailbox under the same lock, so a message
either is found or wakes it. What a selective receive passed over keeps it awake.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Awaitable, Callable, Optional

from iris._iris import EMPTY, ENDED, Down, Exit, Inbox

# Gives the code of a fresh instance, and the instance (or the function).
Make = Callable[[], "tuple[Callable[[Any], Any], Any]"]


class Idle(BaseException):
    """Raised where a virtual actor receives when it has had no message for its idle time-out: it is put away. Not to be caught."""


class Asleep(BaseException):
    """Ends the green thread or task of a virtual actor, whose mailbox stays."""


class Idleness:
    """How long an actor has been without messages."""

    __slots__ = ("_inbox", "_processed", "_seconds", "_since")

    def __init__(self, inbox: Inbox, seconds: Optional[float]):
        self._inbox = inbox
        self._seconds = seconds
        self._processed = -1
        self._since = 0.0

    def left(self, now: float) -> Optional[float]:
        """Seconds until it is put away, for one that begins to wait; None if it never is."""
        if self._seconds is None:
            return None
        processed = self._inbox.processed()
        if processed != self._processed:
            self._processed, self._since = processed, now
        return max(0.0, self._since + self._seconds - now)


def _called(mailbox: Any) -> bool:
    """Whether a message waits (it is received first then). False if the actor is to end; signals do not wake it."""
    inbox = mailbox._inbox
    inbox.set_dormant(True)
    while not mailbox._passed:
        message = inbox.try_recv()
        if message is ENDED:
            return False
        if message is EMPTY:
            raise Asleep
        if not isinstance(message, (Down, Exit)):
            mailbox._pass(message)
    inbox.set_dormant(False)
    return True


def _fresh(mailbox: Any, make: Make, idle: Optional[float]) -> Callable[[Any], Any]:
    try:
        main, subject = make()
    except BaseException:
        # Whoever woke it hears why there is no actor to answer.
        if mailbox._passed:
            mailbox._passed.begin(mailbox._inbox)
        raise
    _note(mailbox, subject)
    mailbox._idleness = Idleness(mailbox._inbox, idle)
    return main


def _note(mailbox: Any, subject: Any) -> None:
    """Whose state the next version may take over: nobody's while the actor sleeps."""
    history = mailbox._history
    history.current = dataclasses.replace(history.current, subject=subject)


def pulled(make: Make, idle: Optional[float]) -> Callable[[Any], None]:
    """The life of a virtual pull actor."""

    def main(mailbox: Any) -> None:
        while _called(mailbox):
            try:
                _fresh(mailbox, make, idle)(mailbox)
                return
            except Idle:
                _note(mailbox, None)
            finally:
                mailbox._idleness = None

    return main


def awaited(make: Make, idle: Optional[float]) -> Callable[[Any], Awaitable[None]]:
    """The life of a virtual async actor."""

    async def main(mailbox: Any) -> None:
        while _called(mailbox):
            try:
                await _fresh(mailbox, make, idle)(mailbox)
                return
            except Idle:
                _note(mailbox, None)
            finally:
                mailbox._idleness = None

    return main
