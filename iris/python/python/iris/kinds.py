"""What classes of actors look like to a type checker: `System.spawn` tells from them what a reference takes and answers. Owns no behaviour."""

from __future__ import annotations

from typing import Any, Coroutine, Protocol, TypeVar

Takes = TypeVar("Takes", contravariant=True)
Gives = TypeVar("Gives", covariant=True)


class Receiving(Protocol[Takes, Gives]):
    """Gets one message per call."""

    def receive(self, message: Takes, /) -> Gives:
        """The result is the reply."""
        ...


class ReceivingAsync(Protocol[Takes, Gives]):
    """The same on an event loop."""

    def receive(self, message: Takes, /) -> Coroutine[Any, Any, Gives]:
        """The result is the reply."""
        ...


class Running(Protocol):
    """Gets its mailbox and pulls."""

    def run(self, mailbox: Any, /) -> Any:
        """The actor ends when it returns."""
        ...
