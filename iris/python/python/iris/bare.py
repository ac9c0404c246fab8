"""Pull actors of a `PyRuntime` that is used without `Runtime` around it. Owns its hub, which ends with it."""

from __future__ import annotations

import weakref
from typing import Any, Callable

from iris._iris import PyRuntime
from iris.hub import Hub


class _Bare:
    """What a mailbox asks for its references: it does not keep the runtime."""

    __slots__ = ("__weakref__", "_weak", "hub")

    def __init__(self, inner: PyRuntime):
        self._weak = weakref.ref(inner)
        self.hub = Hub()

    @property
    def _inner(self) -> Any:
        return self._weak()


_hubs: "weakref.WeakKeyDictionary[PyRuntime, _Bare]" = weakref.WeakKeyDictionary()


def spawn_with_mailbox(inner: PyRuntime, handler: Callable[[Any], Any]) -> int:
    """See `Runtime.spawn_with_mailbox`."""
    bare = _hubs.get(inner)
    if bare is None:
        bare = _hubs[inner] = _Bare(inner)
        weakref.finalize(inner, bare.hub.close)
    elif bare.hub.stuck:
        bare.hub = Hub()
        weakref.finalize(inner, bare.hub.close)
    _, inbox = inner._spawn_inbox(bare.hub.queue, None, None, True)
    bare.hub.spawn(inbox, handler, bare, prints=True)
    return inbox.pid
