"""Work that is done elsewhere than where it is asked for. Owns one lazily made pool of processes and one of threads for each process, and what
is returned for such work; leaves what is computed to its caller. A process pool is the answer to the GIL that works everywhere: the function
and its arguments must be picklable, and importable in the child.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Callable, Generator, Generic, Optional, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

# Threads of the pool, most of which wait for something.
THREADS_MAX = 32

_pools: "dict[str, concurrent.futures.Executor]" = {}
_lock = threading.Lock()

_NO_COMPILER = (
    'iris compiles no Python: there is no strategy "jit". Use strategy="process" for what computes, or a compiler such as numba on the function'
)


class Offloaded(concurrent.futures.Future[R], Generic[R]):
    """What work that was handed over will give: wait with `result(timeout)` in threads, or `await` it, in any loop."""

    def __await__(self) -> Generator[Any, None, R]:
        result: R = yield from asyncio.wrap_future(self).__await__()
        return result


def run_in_process(function: Callable[..., R], *args: Any, **kwargs: Any) -> "Offloaded[R]":
    """Runs a function in the pool of processes: `await` what it returns, or block on its `.result()` in a `release_gil` or `thread` actor.

    When a child dies, what ran and waited in the pool fails with `BrokenProcessPool`; the next call gets a fresh pool.
    """
    return _submit("process", function, args, kwargs)


def run_in_thread(function: Callable[..., R], *args: Any, **kwargs: Any) -> "Offloaded[R]":
    """Runs a function in a pool of threads, for what waits outside Python; the same rules as for `run_in_process`."""
    return _submit("thread", function, args, kwargs)


class Offload(Generic[P, R]):
    """A function whose calls are done elsewhere; see `offload`."""

    __qualname__: str

    def __init__(self, function: Callable[P, R], strategy: str):
        functools.update_wrapper(self, function)
        self._function, self._strategy = function, strategy

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Does the call elsewhere and waits for it. In the pool itself, where it would wait for its own place, it is done at once."""
        if _inside.pool == self._strategy:
            return self._function(*args, **kwargs)
        return self.submit(*args, **kwargs).result()

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> "Offloaded[R]":
        """The same without waiting: `await` it, or ask for its `result`."""
        return _submit(self._strategy, _Named(self) if self._strategy == "process" else self._function, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def offload(
    function: Optional[Callable[P, R]] = None, /, *, strategy: str = "process", return_type: Optional[str] = None
) -> Any:
    """A decorator: calls of the function are done in a pool and waited for, without the GIL; `f.submit(...)` does not wait and can be awaited.

    `strategy` is "process" (what computes; arguments and results are pickled) or "thread" (what waits outside Python), which is also what "actor"
    means, as programs for the original say. There is no "jit": that is `NotImplementedError`. `return_type` is not looked at.
    """
    if strategy == "jit":
        raise NotImplementedError(_NO_COMPILER)
    chosen = {"process": "process", "thread": "thread", "actor": "thread"}.get(strategy)
    if chosen is None:
        raise ValueError(f'the strategy must be "process" or "thread" ("actor"), not {strategy!r}')

    def mark(marked: Callable[P, R]) -> Offload[P, R]:
        if not callable(marked):
            raise TypeError(f"{marked!r} cannot be called, so nothing of it can be done elsewhere")
        if asyncio.iscoroutinefunction(marked):
            raise TypeError(f"{marked!r} is a coroutine function: await it where it is")
        return Offload(marked, chosen)

    return mark if function is None else mark(function)


class _Inside(threading.local):
    """In whose thread of a pool we are."""

    pool: Optional[str] = None


_inside = _Inside()


class _Named:
    """The function of an `Offload`, as another process finds it: by the name that the decorated one has there."""

    def __init__(self, offloaded: "Offload[Any, Any]"):
        self._offloaded = offloaded

    def __reduce__(self) -> Any:
        module, name = self._offloaded.__module__, self._offloaded.__qualname__
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not self._offloaded:
            raise pickle.PicklingError(f"{module}.{name} is not what was decorated: a process finds functions by their names at the top of a module")
        return _function_at, (module, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._offloaded._function(*args, **kwargs)


def _function_at(module: str, name: str) -> Any:
    import importlib

    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found._function if isinstance(found, Offload) else found


def _in_thread(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _inside.pool = "thread"
    return function(*args, **kwargs)


def _submit(pool: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> "Offloaded[Any]":
    work = functools.partial(_in_thread, function, args, kwargs) if pool == "thread" else functools.partial(function, *args, **kwargs)
    with _lock:
        try:
            begun = _pool(pool).submit(work)
        except BrokenProcessPool:
            del _pools[pool]
            begun = _pool(pool).submit(work)
    # The pools make futures of their own; this one can be awaited, and is otherwise the same.
    begun.__class__ = Offloaded
    return cast("Offloaded[Any]", begun)


def _pool(kind: str) -> concurrent.futures.Executor:
    if kind not in _pools:
        if kind == "thread":
            _pools[kind] = concurrent.futures.ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="iris-offload")
        else:
            # "spawn": a fork would copy a process that has threads.
            _pools[kind] = concurrent.futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))
    return _pools[kind]


def _renew_after_fork() -> None:
    """The pools of the process that this one was forked from have no threads here."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
