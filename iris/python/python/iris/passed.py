"""What selective receive passed over. Owns the messages, each with the right to answer it if it is a request, until they are received in their
order or buried with their actor. Invariant: looking at a message neither loses it nor answers it: `reply` belongs to what was received.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, Optional

from iris._iris import EMPTY, Inbox, Request


class Passed(deque[tuple[Any, Optional[Request]]]):
    """The messages that were passed over, in the order of their arrival."""

    def add(self, inbox: Inbox, message: Any) -> None:
        """Passes over the message that was received last."""
        self.append((message, inbox.set_aside()))

    def take(self, inbox: Inbox) -> Any:
        """Receives the first of them."""
        message, request = self.popleft()
        inbox.take_up(request)
        return message

    def begin(self, inbox: Inbox) -> None:
        """Makes the first of them the one to answer, where it lies."""
        inbox.take_up(self[0][1])

    def select(self, inbox: Inbox, matcher: Callable[[Any], Any]) -> Any:
        """Receives the first that `matcher` accepts; `EMPTY` if there is none."""
        for at, (message, request) in enumerate(self):
            if matcher(message):
                del self[at]
                inbox.take_up(request)
                return message
        return EMPTY

    def bury(self, inbox: Inbox) -> None:
        """They will not be handled: dead letters, and no reply."""
        inbox.bury([message for message, _ in self])
        self.clear()


class Looking:
    """A selective receive that takes messages out of the mailbox. Until it has found one, the request before it is still the one to answer."""

    __slots__ = ("_found", "_mailbox", "_request")

    def __init__(self, mailbox: Any):
        self._mailbox = mailbox
        self._request: Optional[Request] = mailbox._inbox.set_aside()
        self._found = False

    def __enter__(self) -> Looking:
        return self

    def accepts(self, message: Any, matcher: Callable[[Any], Any]) -> bool:
        """Whether this is the one; if not (or if the matcher raises), it is passed over."""
        try:
            self._found = bool(matcher(message))
        finally:
            if not self._found:
                self._mailbox._pass(message)
        return self._found

    def __exit__(self, *_: Any) -> None:
        if not self._found:
            self._mailbox._inbox.take_up(self._request)
        self._request = None
