"""Work that is done elsewhere: the pools of processes and threads, the decorator of the original's surface, and what is not there."""

import asyncio
import os
import threading
import time
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool

import pytest

import iris


@iris.offload
def where(extra=0):
    return os.getpid() + extra


@iris.offload(strategy="thread", return_type="int")
def thread_of(_=None):
    return threading.get_ident()


@iris.offload(strategy="actor")
def nested(depth):
    return threading.get_ident() if depth == 0 else nested(depth - 1)


@iris.offload
def failing():
    raise LookupError("told to")


class Holder:
    value = 5

    @iris.offload(strategy="thread")
    def method(self, more):
        return self.value + more, threading.get_ident()


def test_calls_are_done_in_another_process_and_waited_for():
    assert where() != os.getpid()
    assert where(extra=-os.getpid()) != 0
    assert where.__name__ == "where"
    with pytest.raises(LookupError, match="told to"):
        failing()


def test_calls_are_done_in_another_thread():
    assert thread_of() not in (0, threading.get_ident())
    value, ident = Holder().method(2)
    assert value == 7 and ident != threading.get_ident()


def test_a_call_inside_the_pool_takes_no_further_place():
    assert nested(200) != threading.get_ident()


@pytest.mark.parametrize("run", [iris.run_in_process, iris.run_in_thread])
def test_what_was_handed_over_can_be_awaited(run):
    async def main():
        assert await run(pow, 2, 10) == 1024
        assert await asyncio.gather(*[run(pow, 2, power) for power in range(20)]) == [2**power for power in range(20)]
        with pytest.raises(ZeroDivisionError):
            await run(divmod, 1, 0)
        return await asyncio.wait_for(where.submit(), 60)

    assert asyncio.run(main()) != os.getpid()
    assert run(pow, 2, 3).result(60) == 8


def test_in_an_async_actor_the_others_go_on(system):
    async def computing(message):
        return await iris.run_in_process(time.sleep, 0.3) or await iris.run_in_thread(pow, message, 2)

    async def other(message):
        return message

    asked, beside = system.spawn(computing), system.spawn(other)

    async def main():
        slow = asyncio.ensure_future(asked.ask(7, timeout=60))
        quick = [await beside.ask(turn, timeout=60) for turn in range(20)]
        assert quick == list(range(20)) and not slow.done()
        return await slow

    assert asyncio.run(main()) == 49


def test_cancelled_work_that_has_not_begun_is_not_done():
    begun, hold = [], threading.Event()
    running = [iris.run_in_thread(hold.wait, 60) for _ in range(64)]
    try:
        waiting = iris.run_in_thread(begun.append, 1)
        assert waiting.cancel()
        with pytest.raises(CancelledError):
            waiting.result(1)
    finally:
        hold.set()
    [one.result(60) for one in running]
    assert iris.run_in_thread(len, begun).result(60) == 0


def test_a_child_that_dies_fails_what_it_had_and_the_next_call_gets_a_fresh_pool():
    async def main():
        with pytest.raises(BrokenProcessPool):
            await iris.run_in_process(os._exit, 1)
        return await iris.run_in_process(pow, 2, 3)

    assert asyncio.run(main()) == 8


def test_what_is_not_there_says_so():
    with pytest.raises(NotImplementedError, match="compiles no Python"):
        iris.offload(strategy="jit", return_type="float")
    for name in ("jit", "register_offload", "set_jit_logging"):
        assert not hasattr(iris, name)
        with pytest.raises(AttributeError, match="compiles no Python"):
            getattr(iris, name)
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        iris.other
    with pytest.raises(ValueError, match="strategy"):
        iris.offload(strategy="gpu")
    for wrong in (5, asyncio.sleep):
        with pytest.raises(TypeError):
            iris.offload(strategy="thread")(wrong)
    with pytest.raises(Exception, match="what was decorated"):
        iris.offload(lambda: 1)()


def test_a_forked_child_has_pools_of_its_own():
    assert iris.run_in_thread(pow, 2, 3).result(60) == 8
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if iris.run_in_thread(pow, 2, 3).result(60) == 8 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
