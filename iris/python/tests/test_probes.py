"""What goes wrong in practice: exceptions, storms, backlogs, forks, exits, threads that compete, memory that must come back."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import pytest

import iris
from conftest import wait_until


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


def run(code, timeout=60):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, preexec_fn=listen_to_sigint
    )


def listen_to_sigint():
    # Whoever started the tests in the background of a script made them ignore it, and children inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_unsupervised_exception_is_printed_and_the_actor_lives_on(runtime, capfd):
    got = []

    def handler(message):
        if message == b"bad":
            raise ValueError("printed")
        got.append(message)

    pid = runtime.spawn(handler)
    runtime.send(pid, b"bad")
    runtime.send(pid, b"good")
    wait_until(lambda: got == [b"good"])
    assert runtime.is_alive(pid)
    assert "ValueError: printed" in capfd.readouterr().err
    runtime.set_exit_on_exception(True)
    runtime.send(pid, b"bad")
    wait_until(lambda: not runtime.is_alive(pid))


def test_a_restart_storm_is_ended_by_the_intensity(runtime):
    starts = []

    def factory():
        pid = runtime.spawn(lambda message: 1 / 0)
        starts.append(pid)
        runtime.send(pid, b"x")
        return pid

    first = runtime.spawn(lambda message: 1 / 0)
    runtime.supervise_with_factory(first, factory, "restart_one")
    runtime.send(first, b"x")
    wait_until(lambda: runtime.actor_count() == 0, "the end of the storm")
    assert len(starts) == 10


@pytest.mark.parametrize("policy", ["block", "spill"])
def test_full_mailboxes_from_inside_actors(runtime, policy):
    got = []
    spare = runtime.spawn(got.append)
    slow = runtime.spawn_py_handler_bounded(got.append, 1, 2)
    runtime.set_overflow_policy(slow, policy, spare)

    def producer(message):
        for i in range(500):
            assert runtime.send(slow, b"%d" % i)

    pid = runtime.spawn(producer)
    runtime.send(pid, b"go")
    wait_until(lambda: len(got) == 500)

    def to_itself(message):
        if message == b"go":
            for _ in range(10):
                assert runtime.send(me[0], b"x")
        got.append(message)

    got.clear()
    me = [runtime.spawn_py_handler_bounded(to_itself, 1, 1)]
    runtime.set_overflow_policy(me[0], policy, spare)
    runtime.send(me[0], b"go")
    wait_until(lambda: len(got) == 11)


def test_block_from_pull_actors_does_not_stop_their_hub(runtime):
    got = []

    def consumer(mailbox):
        while (message := mailbox.recv()) is not None:
            got.append(message)

    target = runtime.spawn_py_handler_bounded(got.append, 1, 1)
    runtime.set_overflow_policy(target, "block")

    def producer(mailbox):
        for i in range(100):
            assert runtime.send(target, b"%d" % i)

    runtime.spawn_with_mailbox(producer)
    wait_until(lambda: len(got) == 100)


def test_rollback_of_transient_closures_under_gc(runtime):
    got = []
    pid = runtime.spawn(lambda message: got.append(0))
    for version in range(1, 40):
        runtime.hot_swap(pid, (lambda version: lambda message: got.append(version))(version))
        gc.collect()
    for expected in (38, 36):
        runtime.rollback_behavior(pid, 1 if expected == 38 else 2)
        gc.collect()
        runtime.send(pid, b"x")
        wait_until(lambda: got and got[-1] == expected)


def test_buffers_after_their_actor_died(runtime):
    kept = []
    pid = runtime.spawn(kept.append)
    number, view, owner = iris.allocate_buffer(1 << 20)
    view[:4] = b"data"
    runtime.send_buffer(pid, number)
    wait_until(lambda: kept)
    runtime.stop(pid)
    runtime.join(pid)
    del owner
    gc.collect()
    assert bytes(view[:4]) == b"data" and kept[0][:4] == b"data"
    number, view, owner = iris.allocate_buffer(4)
    assert not runtime.send_buffer(pid, number), "nobody is there"
    other = runtime.spawn(kept.append)
    assert runtime.send_buffer(other, number), "what was not accepted can be sent again"


def test_stop_of_a_supervised_virtual_actor(runtime):
    got = []

    def factory():
        return runtime.spawn_virtual(got.append)

    pid = factory()
    runtime.supervise_with_factory(pid, factory, "restart_one")
    runtime.stop(pid)
    wait_until(lambda: runtime.child_pids() not in ([], [pid]))
    fresh = runtime.child_pids()[0]
    assert runtime.send(fresh, b"x")
    wait_until(lambda: got == [b"x"])
    assert runtime.stop()["complete"]


def test_a_backlog_of_a_million_then_stop():
    runtime = iris.Runtime()
    seen = [0]

    def handler(message):
        seen[0] += 1

    pid = runtime.spawn(handler)
    for _ in range(1_000_000):
        runtime.send(pid, b"x")
    report = runtime.stop(timeout=60)
    assert report["complete"]
    assert seen[0] + report["dropped"] == 1_000_000


def test_drain_loses_nothing_of_pull_actors():
    runtime = iris.Runtime()
    got = []

    def pull(mailbox):
        while (message := mailbox.recv()) is not None:
            got.append(message)

    pids = [runtime.spawn_with_mailbox(pull) for _ in range(1_000)]
    for _ in range(3):
        for pid in pids:
            assert runtime.send(pid, b"x")
    report = runtime.stop(drain=True)
    assert report == {"complete": True, "drained": True, "dropped": 0, "actors": 1_000}
    assert len(got) == 3_000


def test_a_cpu_bound_thread_beside_handlers(runtime):
    stop = threading.Event()

    def burn():
        x = 0
        while not stop.is_set():
            x += 1

    thread = threading.Thread(target=burn)
    thread.start()
    got = []
    pid = runtime.spawn(got.append)
    try:
        for i in range(20_000):
            runtime.send(pid, b"x")
        wait_until(lambda: len(got) == 20_000)
        echo = runtime._inner._ref(runtime.spawn(lambda message: message))
        for i in range(20):
            # Each waits for the interpreter to take the GIL from the other thread; none waits for ever.
            assert echo.ask_sync(i, timeout=10) == i
    finally:
        stop.set()
        thread.join()


def test_a_blocking_handler_delays_nobody_else(runtime):
    release = threading.Event()
    for _ in range(2):
        runtime.send(runtime.spawn(lambda message: release.wait(20)), b"x")
    got = []
    pid = runtime.spawn(got.append)
    for i in range(100):
        runtime.send(pid, b"x")
    wait_until(lambda: len(got) == 100)
    assert not release.is_set()
    release.set()


def test_the_watchdog_names_a_slow_handler(runtime):
    release = threading.Event()
    pid = runtime.spawn(lambda message: release.wait(20))
    runtime.send(pid, b"x")
    wait_until(lambda: runtime.slow_handlers())
    release.set()
    assert runtime.slow_handlers()[0][0] == pid


def test_pull_actors_that_ignore_the_end_are_ended(runtime):
    def stubborn(mailbox):
        while True:
            mailbox.recv()

    pid = runtime.spawn_with_mailbox(stubborn)
    runtime.stop(pid)
    assert runtime.join(pid, 10)


def test_dead_letters_can_be_watched(runtime):
    letters = []
    runtime.on_dead_letter(lambda pid, message, reason: letters.append((pid, message, reason)))
    release, entered = threading.Event(), threading.Event()
    pid = runtime.spawn(lambda message: (entered.set(), release.wait(20)))
    runtime.send(pid, b"held")
    entered.wait(20)
    runtime.send(pid, b"unread")
    runtime.stop(pid)
    release.set()
    wait_until(lambda: letters == [(pid, b"unread", "shutdown")])
    runtime.on_dead_letter(None)


@pytest.mark.parametrize("ending", ["", "sys.exit(3)", "raise SystemExit(3)", "1/0"])
def test_interpreter_exit_with_live_actors(ending):
    code = f"""
import sys, iris, threading, time
rt = iris.Runtime()
pids = [rt.spawn(lambda m: None) for _ in range(1000)]
pulls = [rt.spawn_with_mailbox(lambda mb: mb.recv()) for _ in range(100)]
busy = rt.spawn(lambda m: rt.send(busy, m))
rt.send(busy, b'x')
interval = rt.send_interval(pids[0], 1, b'tick')
{ending}
"""
    done = run(code)
    assert done.returncode == {"": 0, "1/0": 1}.get(ending, 3), done.stderr
    assert "panicked" not in done.stderr and "Fatal" not in done.stderr


@pytest.mark.parametrize("how", ["push", "release_gil", "pull", "thread", "async"])
@pytest.mark.parametrize("never", ["while True: pass", "time.sleep(1e6)", "lock.acquire()"])
def test_interpreter_exit_with_a_handler_that_never_returns(how, never):
    """The process ends with its own status. A thread that computes is interrupted, one that waits outside Python is left behind."""
    options = {"push": "", "async": "", "pull": "pull=True", "release_gil": "release_gil=True", "thread": "thread=True"}[how]
    code = f"""
import sys, threading, time, iris
lock, entered = threading.Lock(), threading.Event()
lock.acquire()
system = iris.System()
@iris.actor({options})
{"async " * (how == "async")}def stuck(message):
    entered.set()
    {never}
ref = system.spawn(stuck)
{'' if 'pull' in how or 'thread' in how else 'ref.send(1)'}
others = [system.spawn(lambda message: None) for _ in range(100)]
assert entered.wait(20)
sys.exit(3)
"""
    done = run(code, 30)
    assert done.returncode == 3, done.stderr
    assert "panicked" not in done.stderr and "Fatal" not in done.stderr and "fatal" not in done.stderr


@pytest.mark.parametrize("how", ["push", "release_gil", "pull", "thread", "async", "waiting"])
def test_interpreter_exit_while_a_handler_returns(how):
    """A handler that waits outside Python comes back in the very moment when the interpreter clears its modules."""
    options = {"push": "", "async": "", "release_gil": "release_gil=True", "pull": "pull=True"}.get(how, "thread=True")
    code = f"""
import os, sys, threading, time, iris
read, write = os.pipe()
entered = threading.Event()
class Last:
    def __del__(self, write=os.write, end=write, sleep=time.sleep):
        write(end, b"x")
        sleep(0.3)
sys.last = Last()
system = iris.System()
@iris.actor({options})
{"async " * (how == "async")}def stuck(message):
    entered.set()
    {"message.recv(0.1)" if how == "waiting" else "os.read(read, 1)"}
ref = system.spawn(stuck)
{'' if 'pull' in options or 'thread' in options else 'ref.send(1)'}
assert entered.wait(20)
{"iris.runtime._alive.clear()" if how == "waiting" else ""}
sys.exit(3)
"""
    done = run(code, 30)
    assert done.returncode == 3, done.stderr
    assert not done.stderr


@pytest.mark.parametrize("wait", ["rt.join()", "ref.ask_sync(1)", "rt.selective_recv_blocking(ob, lambda m: False)"])
def test_ctrl_c_reaches_a_thread_that_waits(wait):
    code = f"""
import iris, os, signal, threading
rt = iris.System()
hold = threading.Event()
ref = rt.spawn(lambda m: hold.wait(30))
ob = rt.spawn_observed_handler(10)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {wait}
except KeyboardInterrupt:
    hold.set()
    print("interrupted")
"""
    done = run(code, 30)
    assert done.stdout.strip() == "interrupted", done.stderr


def test_use_after_fork():
    code = """
import os, iris, threading
rt = iris.Runtime()
got = threading.Event()
old = rt.spawn(lambda m: None)
rt.send(old, b'x')
child = os.fork()
if child == 0:
    try:
        assert not rt.is_alive(old)
        pid = rt.spawn(lambda m: got.set())
        assert rt.send(pid, b'x') and got.wait(10)
        other = iris.Runtime()
        other.spawn_with_mailbox(lambda mb: mb.recv())
        assert other.stop()['complete'] and rt.stop()['complete']
        os._exit(0)
    except BaseException:
        import traceback; traceback.print_exc()
        os._exit(1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
pid = rt.spawn(lambda m: got.set())
assert rt.send(pid, b'x') and got.wait(10)
"""
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_references_from_before_a_fork_name_nobody():
    code = """
import asyncio, os, iris
@iris.actor
def same(message): return message
async def later(method): return await method(1)
system = iris.System()
ref = system.spawn(same)
child = os.fork()
if child == 0:
    try:
        assert ref.send(1) is iris.Sent.NO_PROCESS and not ref.alive
        for call in (
            lambda: ref.ask_sync(1), lambda: asyncio.run(later(ref.ask)), lambda: ref.join(1), lambda: asyncio.run(later(ref.wait)),
            ref.stop, ref.exit, lambda: ref.send_many([1]), lambda: ref.send_after(0.1, 1), lambda: ref.mailbox_size, lambda: ref.link(ref),
        ):
            try:
                call()
            except RuntimeError as error:
                assert 'forked' in str(error), error
            else:
                raise AssertionError('no error')
        assert system.spawn(same).ask_sync(2, timeout=10) == 2
        os._exit(0)
    except BaseException:
        import traceback; traceback.print_exc()
        os._exit(1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert ref.ask_sync(3, timeout=10) == 3
"""
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_two_runtimes_do_not_meet():
    one, two = iris.Runtime(), iris.Runtime()
    got = []
    pid = one.spawn(lambda message: two.send(back, message))
    back = two.spawn(got.append)
    one.register("name", pid)
    assert two.whereis("name") is None
    one.send(pid, b"x")
    wait_until(lambda: got == [b"x"])
    one.stop()
    assert two.is_alive(back)
    two.stop()


def test_runtimes_made_and_dropped_leave_nothing():
    def one():
        runtime = iris.Runtime()
        pid = runtime.spawn(lambda message: None)
        runtime.send(pid, b"x")
        del runtime

    for _ in range(200):
        one()
    gc.collect()
    before, threads = resident(), len(os.listdir("/proc/self/task"))
    for _ in range(9_800):
        one()
    gc.collect()
    wait_until(lambda: len(os.listdir("/proc/self/task")) <= threads + 3, "the threads' end")
    assert resident() - before < 4 << 20, f"{(resident() - before) >> 10} KiB more after 10,000 runtimes"


@pytest.mark.parametrize(
    "kind",
    ["handler", "class", "swapped", "release_gil", "virtual", "activated", "pull", "supervised", "factory"],
)
def test_a_dropped_runtime_whose_actors_refer_to_it_is_collected(kind):
    class Actor:
        def receive(self, message):
            self.system.send(self.ref, message)

    def one():
        system = iris.System()
        if kind == "class":
            ref = system.spawn(Actor)
        elif kind == "pull":
            runtime = iris.Runtime()
            pid = runtime.spawn_with_mailbox(lambda mailbox: mailbox.recv())
            return weakref.ref(runtime), lambda: runtime_gone(pid)
        elif kind in ("virtual", "activated"):
            got = []
            pid = system.spawn_virtual(lambda message: got.append((message, system.actor_count())))
            ref = system._inner._ref(pid)
            if kind == "activated":
                ref.send(1)
                wait_until(lambda: got)
        elif kind == "supervised":
            child = iris.Child("a", lambda message: system.actor_count())
            running = iris.Supervisor(children=[child]).start(system)
            ref = running.child("a")
        elif kind == "factory":
            pid = system._inner.spawn(lambda message: None)
            system._inner.supervise_with_factory(pid, lambda: system.spawn(lambda message: None).pid, "one")
            ref = system._inner._ref(pid)
        elif kind == "release_gil":
            ref = system.spawn(iris.actor(lambda message: system.actor_count(), release_gil=True))
            ref.ask_sync(1, timeout=10)
        else:
            ref = system.spawn(lambda message: system.actor_count())
            if kind == "swapped":
                system.hot_swap(ref, lambda message: (system, ref))
            ref.ask_sync(1, timeout=10)
        return weakref.ref(system), lambda: ref.alive

    def runtime_gone(pid):
        return False

    watched, alive = one()

    def gone():
        gc.collect()
        return watched() is None and not alive()

    wait_until(gone, "the collection of the runtime")


def test_memory_comes_back():
    gc.collect()
    runtime = iris.Runtime()
    before = resident()
    for _ in range(100_000):
        runtime.spawn(lambda message: None)
    full = resident()
    runtime.stop()
    assert resident() - before < 0.5 * (full - before), "most of the memory of 100,000 actors is returned"
