"""`Runtime`: the compatible surface. Owns the lazily made hub and loop of one actor system, its life at interpreter exit and after
a fork; every other method is `PyRuntime`'s. Invariant: after a fork the child gets an empty runtime under the same object, because none of
the parent's threads (and so none of its actors) exist there.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import threading
import weakref
from typing import Any, Callable, Optional

from iris._iris import PyRuntime, Ref, count_fork
from iris import watch
from iris.hub import Hub, run_in_thread

# Seconds that a drain may take unless told otherwise, and that actors have to end at interpreter exit.
DRAIN_S = 30.0
EXIT_S = 1.0
# Hubs and loops of one runtime that actors may keep for themselves before no further one is made.
THREADS_MAX = 8

_alive: "weakref.WeakSet[Runtime]" = weakref.WeakSet()
# What is closed at interpreter exit when the actors have ended: other nodes hear of their ends then, and not of a lost connection.
_at_exit: list[Callable[[], Any]] = []
# Runtimes of the parent process: never dropped, because their threads are not here to be waited for.
_inherited: list = []

_REMOTE = "remote actors are not there yet on the compatible surface: use iris.System with iris.Node"

# Methods that are PyRuntime's own. Those in `_BOUND` are looked up on the instance, which saves a Python call.
_BOUND = (
    "spawn", "send", "send_named", "hot_swap", "is_alive", "mailbox_size", "send_buffer", "rollback_behavior",
)  # fmt: skip
_FORWARDED = (
    "spawn_py_handler", "spawn_py_handler_bounded", "spawn_virtual", "spawn_child", "spawn_child_pool",
    "spawn_observed_handler", "spawn_with_path_observed", "get_messages", "selective_recv_blocking",
    "send_after", "send_interval", "cancel_timer", "set_overflow_policy",
    "register", "unregister", "resolve", "whereis", "register_path", "unregister_path", "whereis_path",
    "list_children", "list_children_direct", "watch_path", "join_group", "leave_group", "group",
    "link", "unlink", "watch", "supervise_with_factory", "children_count", "child_pids",
    "create_path_supervisor", "remove_path_supervisor", "path_supervisor_watch", "path_supervisor_children",
    "path_supervise_with_factory", "behavior_version", "set_release_gil_limits", "set_release_gil_strict",
    "set_exit_on_exception", "exit", "exit_reason", "actor_count", "metrics", "actors", "prometheus", "time_handlers",
    "slow_handlers", "dead_letters", "on_dead_letter",
)  # fmt: skip


class Runtime:
    """An actor system on the compatible surface: pids are ints, messages are bytes."""

    def __init__(self):
        self._hub: Optional[Hub] = None
        self._loop_host = None
        # Hubs and loops that an actor kept for itself when others were needed.
        self._old: list = []
        self._lock = threading.Lock()
        self._bind(PyRuntime())
        _alive.add(self)

    def _bind(self, inner: PyRuntime) -> None:
        self._inner = inner
        for name in _BOUND:
            setattr(self, name, getattr(inner, name))

    def _green(self) -> Hub:
        """The hub for new green threads: another one while an actor keeps the last."""
        if self._hub is None or (self._hub.stuck and len(self._old) < THREADS_MAX):
            with self._lock:
                if self._hub is not None and self._hub.stuck:
                    self._old.append(self._hub)
                    self._hub = None
                if self._hub is None:
                    self._hub = Hub()
        return self._hub

    def _loop(self):
        from iris.aio import LoopHost

        if self._loop_host is None or (self._loop_host.stuck and len(self._old) < THREADS_MAX):
            with self._lock:
                if self._loop_host is not None and self._loop_host.stuck:
                    self._old.append(self._loop_host)
                    self._loop_host = None
                if self._loop_host is None:
                    self._loop_host = LoopHost()
        return self._loop_host

    def spawn_with_mailbox(self, handler: Callable[[Any], Any], budget: int = 100) -> int:
        """Runs `handler(mailbox)` once as a green thread; the actor ends when it returns."""
        return self._spawn_pull(handler, None)

    def spawn_child_with_mailbox(self, parent: int, handler: Callable[[Any], Any], budget: int = 100) -> int:
        """The same, stopped when the parent ends."""
        return self._spawn_pull(handler, parent)

    def _spawn_pull(self, handler: Callable[[Any], Any], parent: Optional[int]) -> int:
        if not callable(handler):
            raise TypeError("the handler must be callable")
        hub = self._green()
        _, inbox = self._inner._spawn_inbox(hub.queue, parent, None, True)
        hub.spawn(inbox, handler, self, prints=True)
        return inbox.pid

    async def selective_recv(self, pid: int, matcher: Callable[[Any], Any], timeout: Optional[float] = None) -> Any:
        """Waits for the first message of an observed actor that `matcher` accepts; None after the time-out."""
        call = functools.partial(self._inner.selective_recv_blocking, pid, matcher, timeout)
        return await asyncio.get_running_loop().run_in_executor(None, call)

    def stop(self, pid: Optional[int] = None, *, drain: "bool | float" = False, timeout: float = 5.0):
        """Ends one actor, or all of them. With `drain`, first waits until all messages are handled (True: 30 s at most).

        Returns a dictionary for the whole runtime: complete, drained, dropped (messages), actors.
        """
        if pid is not None:
            _check_own(self._inner, pid)
            return self._inner.exit(pid)
        seconds = None if drain is False else DRAIN_S if drain is True else float(drain)
        report = self._inner._stop(seconds, timeout)
        self._close_threads()
        return report

    def _close_threads(self) -> None:
        for served in (self._hub, self._loop_host, *self._old):
            if served is not None:
                served.close()

    def join(self, pid: Optional[int] = None, timeout: Optional[float] = None) -> bool:
        """Waits until one actor has ended, or all have."""
        if pid is None:
            return self._inner.join(timeout)
        _check_own(self._inner, pid)
        return self._inner._join_actor(pid, timeout)

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(self, kind, *_: Any) -> None:
        self.stop(drain=kind is None)

    async def __aenter__(self) -> "Runtime":
        return self

    async def __aexit__(self, kind, *_: Any) -> None:
        stop = functools.partial(self.stop, drain=kind is None)
        await asyncio.get_running_loop().run_in_executor(None, stop)

    def __del__(self) -> None:
        # The hub's and the loop's threads would outlive the runtime; the core's end with `_inner`.
        if getattr(self, "_inner", None) is not None and not self._inner._is_forked():
            self._close_threads()

    # ---- remote: not there yet ----

    def listen(self, addr: str) -> None:
        """Not there yet."""
        raise NotImplementedError(_REMOTE)

    def resolve_remote(self, addr: str, name: str) -> Optional[int]:
        """Not there yet."""
        raise NotImplementedError(_REMOTE)

    async def resolve_remote_py(self, addr: str, name: str) -> Optional[int]:
        """Not there yet."""
        raise NotImplementedError(_REMOTE)

    def is_node_up(self, addr: str) -> bool:
        """Not there yet."""
        raise NotImplementedError(_REMOTE)

    def send_remote(self, addr: str, pid: int, data: bytes) -> bool:
        """Not there yet."""
        raise NotImplementedError(_REMOTE)

    def monitor_remote(self, addr: str, pid: int) -> None:
        """Not there yet."""
        raise NotImplementedError(_REMOTE)


def _check_own(inner: PyRuntime, who: Any) -> None:
    """A reference to an actor of another runtime would pass for the actor that has the same pid here."""
    if isinstance(who, Ref) and not inner._owns(who):
        raise ValueError(f"{who!r} belongs to a different system")


def _forward(name: str) -> Callable[..., Any]:
    method = getattr(PyRuntime, name)

    @functools.wraps(method)
    def forwarded(self: Runtime, *args: Any, **kwargs: Any) -> Any:
        for argument in (*args, *kwargs.values()):
            _check_own(self._inner, argument)
        return getattr(self._inner, name)(*args, **kwargs)

    return forwarded


for _name in _BOUND + _FORWARDED:
    setattr(Runtime, _name, _forward(_name))


def _stop_all() -> None:
    """At interpreter exit: executor threads must be gone before the interpreter is."""
    for runtime in list(_alive):
        if not runtime._inner._is_forked():
            runtime._inner._close(EXIT_S)
            runtime._close_threads()
    # Those of runtimes that are gone, too: a stop may have given up on an actor.
    watch.end_all(EXIT_S)
    for close in _at_exit:
        close()


def _renew_after_fork() -> None:
    """In the child: fresh, empty runtimes under the objects that there are; references to actors of the parent name nobody."""
    count_fork()
    watch.renew_after_fork()
    for runtime in list(_alive):
        _inherited.append((runtime._inner, runtime._hub, runtime._loop_host, runtime._old))
        runtime._old = []
        runtime._hub = runtime._loop_host = None
        runtime._lock = threading.Lock()
        runtime._bind(PyRuntime())


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
