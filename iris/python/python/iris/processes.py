"""A process pool for CPU-bound work: the answer to the GIL that works everywhere. Owns one lazily made pool per process; leaves
what is computed to its caller. The function and its arguments must be picklable, and importable in the child."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import threading
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Callable, Optional

_pool: Optional[concurrent.futures.ProcessPoolExecutor] = None
_owner: Optional[int] = None
_lock = threading.Lock()


def run_in_process(function: Callable[..., Any], *args: Any, **kwargs: Any) -> "concurrent.futures.Future[Any]":
    """Runs a function in the pool. Block on `.result()` in a `release_gil` or pull actor, or `await asyncio.wrap_future(...)`.

    When a child dies, what ran and waited in the pool fails with `BrokenProcessPool`; the next call gets a fresh pool.
    """
    global _pool, _owner
    with _lock:
        if _pool is None or _owner != os.getpid():
            _pool, _owner = _fresh(), os.getpid()
        try:
            return _pool.submit(function, *args, **kwargs)
        except BrokenProcessPool:
            _pool = _fresh()
            return _pool.submit(function, *args, **kwargs)


def _fresh() -> concurrent.futures.ProcessPoolExecutor:
    # "spawn": a fork would copy a process that has threads.
    return concurrent.futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))
