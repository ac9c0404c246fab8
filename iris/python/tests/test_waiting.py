"""Waiting for an actor's end, from threads and from coroutines that are no actors."""

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

import iris
from conftest import wait_until
from test_modern import AsyncCounter, Counter, pulling


@iris.actor(thread=True)
def threaded(mailbox):
    while mailbox.recv() is not None:
        pass


ENDS = {
    "stop": (lambda ref: ref.stop(), "normal"),
    "exit": (lambda ref: ref.exit(), "shutdown"),
    "kill": (lambda ref: ref.exit("kill"), "killed"),
    "error": (lambda ref: ref.exit("because"), "error"),
    "exception": (lambda ref: ref.send("crash"), "exception"),
}


def joined(ref):
    return ref.join(timeout=20)


def awaited(ref):
    async def wait():
        return await ref.wait(timeout=20)

    return asyncio.run(wait())


KINDS = [Counter, AsyncCounter, pulling, threaded]
# Only the classes crash when they are told to.
CASES = [(name, target) for name in ENDS for target in (KINDS if name != "exception" else KINDS[:2])]


@pytest.mark.parametrize("how", [joined, awaited])
@pytest.mark.parametrize(("name", "target"), CASES)
def test_waiting_gives_the_reason_before_and_after_the_end(system, target, name, how):
    end, kind = ENDS[name]
    for late in (False, True):
        ref = system.spawn(target, name="somebody")
        if late:
            end(ref)
            wait_until(lambda: not ref.alive)
        else:
            threading.Timer(0.01, end, (ref,)).start()
        reason = how(ref)
        assert reason.kind == kind
        assert not ref.alive and (late or system.whereis("somebody") is None)
        if kind == "exception":
            assert "told to" in str(reason.exception) and "receive" in reason.traceback


def test_time_outs_leave_nothing_behind(system):
    ref = system.spawn(Counter)
    assert ref.join(timeout=0) is None and ref.join(timeout=0.02) is None and ref.join(-1) is None

    async def wait():
        assert await ref.wait(timeout=0.01) is None
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ref.wait(), 0.01)
        futures = [ref.wait(0.01) for _ in range(10)]
        gone = weakref.ref(futures[0])
        assert await asyncio.gather(*futures) == [None] * 10
        del futures
        await asyncio.sleep(0)
        gc.collect()
        return gone

    assert asyncio.run(wait())() is None, "the actor still refers to the future"
    for wrong in (float("nan"), "1"):
        with pytest.raises((ValueError, TypeError)):
            ref.join(timeout=wrong)
        with pytest.raises((ValueError, TypeError)):
            ref.wait(timeout=wrong)
    ref.stop()
    assert ref.join().kind == "normal"


def test_many_wait_for_one(system):
    ref = system.spawn(Counter)
    reasons = []
    threads = [threading.Thread(target=lambda: reasons.append(ref.join(20).kind)) for _ in range(5)]
    for thread in threads:
        thread.start()

    async def wait():
        waits = [ref.wait(20) for _ in range(50)]
        ref.exit("because")
        return [reason.kind for reason in await asyncio.gather(*waits)]

    assert asyncio.run(wait()) == ["error"] * 50
    for thread in threads:
        thread.join()
    assert reasons == ["error"] * 5


def test_actors_wait_for_each_other_but_not_for_themselves(system):
    other = system.spawn(Counter)

    class Waits:
        def receive(self, ref):
            return ref.join(20).kind

    class Awaits:
        async def receive(self, ref):
            return (await ref.wait(20)).kind

    waits, awaits = system.spawn(Waits), system.spawn(Awaits)
    threading.Timer(0.05, other.stop).start()
    assert waits.ask_sync(other, timeout=20) == awaits.ask_sync(other, timeout=20) == "normal"
    with pytest.raises(RuntimeError, match="could not end"):
        waits.ask_sync(waits, timeout=20)


def test_join_of_the_runtime_takes_pids_references_and_supervisors(system):
    ref = system.spawn(Counter)
    supervisor = system.supervise(iris.Supervisor("one_for_one", [iris.Child("counter", Counter)]))
    assert not system.join(ref, timeout=0.01) and not system.join(supervisor.pid, timeout=0.01)
    ref.stop()
    supervisor.shutdown()
    assert system.join(ref, timeout=20) and system.join(ref.pid) and system.join(supervisor.pid, timeout=20)


def test_a_supervisor_says_that_it_gave_up(system):
    supervisor = system.supervise(iris.Supervisor("one_for_one", [iris.Child("counter", Counter)], intensity=0))
    assert supervisor.join(timeout=0.01) is None
    supervisor.child("counter").send("crash")
    assert supervisor.join(timeout=20).kind == "restart_intensity"
    assert supervisor.join().kind == "restart_intensity"


def test_an_interrupt_reaches_a_thread_that_joins():
    # As at a terminal, also where the tests run with interrupts ignored.
    code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "import iris\nsystem = iris.System()\nref = system.spawn(lambda message: None)\nprint(1, flush=True)\nref.join()"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.readline()
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in child.communicate(timeout=20)[1]


@pytest.mark.parametrize("length", [60, 100, 400, 1100])
def test_long_chains_of_requests_are_answered_or_told_that_they_are_too_long(system, length):
    class Link:
        def __init__(self, next):
            self.next = next

        def receive(self, message):
            if self.next is None:
                return 0
            try:
                below = self.next.ask_sync(message)
            except RuntimeError as error:
                return str(error)
            return below if isinstance(below, str) else below + 1

    last = None
    for _ in range(length):
        last = system.spawn(Link, last)
    if length < 1000:
        assert last.ask_sync(1, timeout=60) == length - 1
        return
    assert "all threads of this pool wait" in last.ask_sync(1, timeout=60)
    first = None
    for _ in range(50):
        first = system.spawn(Link, first)
    assert first.ask_sync(1, timeout=60) == 49, "and all goes on"


@pytest.mark.parametrize("release_gil", [False, True])
def test_hundreds_that_ask_one_are_all_answered(system, release_gil):
    class One:
        def receive(self, message):
            time.sleep(0.001)
            return message

    one, answers, lock = system.spawn(One), [], threading.Lock()

    def asking(message):
        answer = one.ask_sync(message, timeout=60)
        with lock:
            answers.append(answer)

    asking = iris.actor(asking, release_gil=release_gil)
    for turn, ref in enumerate([system.spawn(asking) for _ in range(300)]):
        ref.send(turn)
    wait_until(lambda: len(answers) == 300, timeout=60)
    assert sorted(answers) == list(range(300))


def test_a_hundred_trees_that_fail_at_once_come_back(system):
    class Worker:
        def receive(self, message):
            raise LookupError("told to")

    def tree():
        inner = iris.Supervisor("one_for_one", [iris.Child("worker", Worker)], intensity=0)
        return system.supervise(iris.Supervisor("one_for_one", [iris.Child("inner", inner)], intensity=5))

    trees = [tree() for _ in range(150)]
    before = system.actor_count()
    inner = [dict((id, pid) for id, pid, _ in one.which_children())["inner"] for one in trees]
    for actor in system.actors():
        if actor["parent"] in inner:
            system._inner._ref(actor["pid"]).send("fail")
    wait_until(lambda: all(one.which_children()[0][2] == 1 for one in trees), "restarts of all", timeout=60)
    wait_until(lambda: system.actor_count() == before, timeout=60)
