"""The modern surface: actors as functions and classes, asking, supervising, swapping, context, asyncio."""

import asyncio
import contextvars
import functools
import os
import threading
import time
from concurrent.futures.process import BrokenProcessPool

import pytest

import iris
from conftest import wait_until


class Counter:
    def __init__(self, start=0):
        self.value = start

    def receive(self, message):
        if message == "crash":
            raise ValueError("told to")
        self.value += message
        return self.value


@iris.actor
class AsyncCounter(Counter):
    async def receive(self, message):
        await asyncio.sleep(0)
        return super().receive(message)


@iris.actor(pull=True)
def pulling(mailbox):
    total = 0
    while (message := mailbox.recv()) is not None:
        total += message
        mailbox.reply(total)


@iris.actor(thread=True)
class Threaded:
    def run(self, mailbox):
        pulling(mailbox)


@iris.actor
class AsyncPull:
    async def run(self, mailbox):
        total = 0
        async for message in mailbox:
            total += message
            mailbox.reply(total)


@pytest.mark.parametrize("target", [Counter, AsyncCounter, pulling, Threaded, AsyncPull])
def test_every_kind_counts_and_answers(system, target):
    ref = system.spawn(target)
    assert ref.send(1) and ref.send(2)
    assert ref.ask_sync(3, timeout=10) == 6

    async def ask():
        return await asyncio.gather(*(ref.ask(1, timeout=10) for _ in range(10)))

    assert asyncio.run(ask()) == list(range(7, 17))
    ref.exit()
    wait_until(lambda: not ref.alive)
    with pytest.raises(iris.NoReply):
        ref.ask_sync(1, timeout=10)


@pytest.mark.parametrize("target", [Counter, AsyncCounter])
def test_exceptions_are_reasons_with_tracebacks(system, target):
    ref = system.spawn(target)
    with pytest.raises(ValueError, match="told to"):
        ref.ask_sync("crash", timeout=10)
    wait_until(lambda: not ref.alive)
    reason = ref.exit_reason
    assert reason.kind == "exception" and reason.abnormal and isinstance(reason.exception, ValueError)
    assert "told to" in reason.traceback and "receive" in reason.traceback


def test_asking_has_deadlines_and_can_be_cancelled(system):
    release = threading.Event()
    slow = system.spawn(lambda message: release.wait(20))
    with pytest.raises(TimeoutError):
        slow.ask_sync(1, timeout=0.01)

    async def ask():
        with pytest.raises(TimeoutError):
            await slow.ask(1, timeout=0.01)
        waiting = asyncio.ensure_future(slow.ask(1))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(ask())
    release.set()


def test_actors_may_ask_each_other_synchronously(system):
    inner = system.spawn(lambda message: message + 1)
    outer = system.spawn(lambda message: inner.ask_sync(message, timeout=10) * 2)
    assert outer.ask_sync(20, timeout=10) == 42


@iris.actor(pull=True)
def adding_one(mailbox):
    while (message := mailbox.recv()) is not None:
        mailbox.reply(message + 1)


@pytest.mark.parametrize("options", [{"pull": True}, {"thread": True}])
def test_pull_actors_ask_one_another_while_others_run(system, options):
    inner = system.spawn(adding_one)
    silent = system.spawn(iris.actor(lambda mailbox: mailbox.recv() and mailbox.recv(), pull=True))
    failing = system.spawn(lambda message: 1 / 0)
    asking, got, done = threading.Event(), [], threading.Event()

    def raised(mailbox, ref, timeout):
        try:
            mailbox.ask(ref, 1, timeout=timeout)
        except Exception as error:
            return type(error)

    def asker(mailbox):
        got.append(mailbox.recv())
        asking.set()
        got.append(raised(mailbox, silent, 0.1))
        got.append(mailbox.ask(inner, 1))
        got.append(raised(mailbox, failing, 10))
        wait_until(lambda: not failing.alive)
        got.append(raised(mailbox, failing, 10))
        got.extend([mailbox.recv(), mailbox.recv()])
        done.set()

    ref = system.spawn(iris.actor(asker, **options))
    ref.send("go")
    assert asking.wait(20)
    # These arrive while it waits for an answer, and must neither end that nor get lost.
    assert ref.send_many(["one", "two"]) == 2
    assert inner.ask_sync(5, timeout=10) == 6, "the hub serves others meanwhile"
    assert done.wait(20)
    assert got == ["go", TimeoutError, 2, ZeroDivisionError, iris.NoReply, "one", "two"]


def test_nobody_waits_on_the_thread_that_should_answer(system):
    @iris.actor
    async def echo(message):
        return message

    for target in (adding_one, echo):
        inner = system.spawn(target)

        @iris.actor
        async def asks(message):
            return inner.ask_sync(1)

        @iris.actor(pull=True)
        def pulls(mailbox):
            mailbox.recv()
            try:
                mailbox.reply(inner.ask_sync(1))
            except RuntimeError as error:
                mailbox.reply(str(error))

        own, other = (pulls, asks) if target is adding_one else (asks, pulls)
        assert system.spawn(other).ask_sync(1, timeout=10) in (1, 2)
        if own is pulls:
            assert "mailbox.ask" in system.spawn(own).ask_sync(1, timeout=10)
        else:
            with pytest.raises(RuntimeError, match="await ref.ask"):
                system.spawn(own).ask_sync(1, timeout=10)


def test_references_of_another_system_are_refused(system):
    with iris.System() as other:
        mine, theirs = system.spawn(lambda message: None), other.spawn(lambda message: None)
        for method in (mine.link, mine.unlink, mine.monitor):
            with pytest.raises(ValueError, match="different systems"):
                method(theirs)
        with pytest.raises(ValueError, match="different systems"):
            mine.bound(1, "redirect", theirs)


def test_async_callables_are_async_actors(system):
    class Doubling:
        async def __call__(self, message):
            return message * 2

    assert system.spawn(Doubling()).ask_sync(4, timeout=10) == 8
    assert system.spawn(functools.partial(Doubling.__call__, None)).ask_sync(4, timeout=10) == 8


def test_tasks_are_cancelled_at_the_end(capfd):
    ended = []

    @iris.actor
    async def sleeping(message):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    system = iris.System()
    ref = system.spawn(sleeping)
    ref.send(1)
    wait_until(lambda: ref.mailbox_size == 0)
    time.sleep(0.05)
    system.stop(timeout=0.1)
    assert ended == ["cancelled"]
    wait_until(lambda: not ref.alive)
    assert "pending" not in capfd.readouterr().err


def test_virtual_actors_are_there_while_they_are_used(system):
    log = []

    @iris.actor(virtual=True, idle_timeout=0.02)
    class Lazy:
        def __init__(self, name):
            self.name, self.count = name, 0
            log.append("made")

        def started(self):
            log.append(("started", self.ref.pid))

        def receive(self, message):
            self.count += 1 / message
            return self.name, self.count

        def stopped(self, reason):
            log.append(("stopped", reason.kind))

    ref = system.spawn(Lazy, "lazy", name="lazy")
    assert ref.alive and system.find("lazy") == ref and log == []
    assert ref.ask_sync(1, timeout=10) == ("lazy", 1)
    wait_until(lambda: ("stopped", "normal") in log)
    assert ref.alive and ref.ask_sync(1, timeout=10) == ("lazy", 1), "the state is fresh"
    assert log[:5] == ["made", ("started", ref.pid), ("stopped", "normal"), "made", ("started", ref.pid)]
    with pytest.raises(ZeroDivisionError):
        ref.ask_sync(0, timeout=10)
    wait_until(lambda: not ref.alive)
    assert ref.exit_reason.kind == "exception"

    doubling = system.spawn(iris.actor(lambda message: message * 2, virtual=True))
    assert doubling.ask_sync(2, timeout=10) == 4


@pytest.mark.parametrize("when", ["__init__", "started"])
def test_a_virtual_actor_that_cannot_be_made_ends(system, when):
    methods = {"receive": lambda self, message: None, when: lambda self: 1 / 0}
    ref = system.spawn(iris.actor(type("Bad", (), methods), virtual=True))
    with pytest.raises(iris.NoReply):
        ref.ask_sync(1, timeout=10)
    wait_until(lambda: not ref.alive)
    assert isinstance(ref.exit_reason.exception, ZeroDivisionError)


def test_what_cannot_be_virtual(system):
    targets = [iris.actor(lambda mailbox: None, thread=True, virtual=True), iris.actor(type("Nothing", (), {}), virtual=True)]
    for target, why in zip(targets, ["thread of its own", "neither receive"]):
        with pytest.raises(TypeError, match=why):
            system.spawn(target)
    assert system.actor_count() == 0


def test_any_object_by_reference(system):
    got = []
    ref = system.spawn(got.append)
    thing = object()
    assert ref.send_many([thing, None, [1]]) == 3
    wait_until(lambda: len(got) == 3)
    assert got[0] is thing and got[1] is None


@pytest.mark.parametrize("target", [AsyncPull, pulling, Threaded, AsyncCounter])
def test_none_is_a_message_like_any_other(system, target):
    got, done = [], threading.Event()

    if target is AsyncCounter:

        async def actor(message):
            got.append(message)
            if message == 3:
                done.set()

    elif target is AsyncPull:

        @iris.actor(pull=True)
        async def actor(mailbox):
            got.append(await mailbox.selective_recv(lambda message: message == 2))
            async for message in mailbox:
                got.append(message)
                if message == 3:
                    done.set()

    else:

        @iris.actor(pull=True, thread=target is Threaded)
        def actor(mailbox):
            got.append(mailbox.selective_recv(lambda message: message == 2, timeout=10))
            while not mailbox.ending:
                got.append(mailbox.recv())
                if got[-1] == 3:
                    done.set()

    ref = system.spawn(actor)
    for message in (1, None, 2, 3):
        ref.send(message)
    assert done.wait(20)
    assert got[:4] == ([1, None, 2, 3] if target is AsyncCounter else [2, 1, None, 3])


class Hooked:
    log: list = []

    def __init__(self, name):
        self.name = name

    def started(self):
        self.log.append(("started", self.name, self.ref.pid == iris.me().pid))

    def receive(self, message):
        return (self.name, message, iris.me() == self.ref)

    def stopped(self, reason):
        self.log.append(("stopped", self.name, reason.kind))

    def code_change(self, old):
        self.log.append(("changed", old.name, self.name))


def test_hooks_and_versions(system):
    Hooked.log.clear()
    ref = system.spawn(Hooked, "one", name="hooked", path="/test/hooked")
    assert system.find("hooked") == ref == system.find("/test/hooked")
    assert ref.ask_sync(1, timeout=10) == ("one", 1, True)
    assert system.hot_swap(ref, Hooked, "two") == 2
    assert ref.ask_sync(2, timeout=10) == ("two", 2, True)
    assert ref.rollback() == 1 and ref.ask_sync(3, timeout=10)[0] == "one"
    ref.stop()
    wait_until(lambda: len(Hooked.log) == 4)
    assert Hooked.log == [
        ("started", "one", True), ("changed", "one", "two"), ("changed", "two", "one"), ("stopped", "one", "normal"),
    ]  # fmt: skip
    assert iris.me() is None


def test_monitors_and_links(system):
    got = []
    watcher = system.spawn(got.append)
    victim = system.spawn(lambda message: 1 / 0, monitor=watcher)
    victim.send(1)
    wait_until(lambda: got)
    assert isinstance(got[0], iris.Down) and got[0].pid == victim.pid
    assert isinstance(got[0].reason.exception, ZeroDivisionError)
    left, right = system.spawn(lambda message: 1 / 0), system.spawn(lambda message: None)
    left.link(right)
    left.send(1)
    wait_until(lambda: not right.alive)
    assert right.exit_reason.kind == "exception"


def test_trapping_exits(system):
    got = []

    @iris.actor(trap_exit=True)
    def trapping(message):
        got.append(message)

    trapper = system.spawn(trapping)
    linked = system.spawn(lambda message: 1 / 0, link=trapper)
    linked.send(1)
    wait_until(lambda: got)
    assert isinstance(got[0], iris.Exit) and got[0].pid == linked.pid and trapper.alive


def test_supervisor_restarts_and_stops_in_order(system):
    supervisor = iris.Supervisor(
        "one_for_one",
        [iris.Child("a", Counter, (10,)), iris.Child("b", Counter), iris.Child("p", pulling), iris.Child("s", AsyncCounter)],
    )
    running = system.supervise(supervisor)
    first = running.child("a")
    assert first.ask_sync(1, timeout=10) == 11
    first.send("crash")
    wait_until(lambda: running.child("a") not in (None, first))
    assert running.child("a").ask_sync(1, timeout=10) == 11, "the state is fresh"
    assert [row[0] for row in running.which_children()] == ["a", "b", "p", "s"]
    assert running.terminate_child("b") and running.child("b") is None
    running.restart_child("b")
    assert running.child("b").ask_sync(5, timeout=10) == 5
    with pytest.raises(RuntimeError, match="already"):
        running.start_child(iris.Child("a", Counter))
    running.shutdown()
    wait_until(lambda: not running.alive)
    assert system.actor_count() == 0


def test_a_supervisor_that_cannot_start_its_children_says_why(system):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        system.supervise(iris.Supervisor(children=[iris.Child("bad", lambda: 1 / 0), iris.Child("x", type("X", (), {
            "__init__": lambda self: 1 / 0, "receive": lambda self, message: None}))]))  # fmt: skip
    wait_until(lambda: system.actor_count() == 0)


def test_escalation(system):
    inner = iris.Supervisor(children=[iris.Child("c", Counter)], intensity=1, period=60)
    outer = system.supervise(iris.Supervisor(children=[iris.Child("inner", inner, shutdown=None)], intensity=1, period=60))

    def crash():
        counters = [info["pid"] for info in system.actors() if info["state"] == "idle" and info["processed"] == 0]
        for pid in counters:
            ref = system.find(pid)
            if ref is not None:
                try:
                    ref.send("crash")
                except TypeError:
                    pass

    def ended():
        crash()
        return not outer.alive

    wait_until(ended)
    assert outer.pid and system.join(timeout=10)


def test_context_variables(system):
    name = contextvars.ContextVar("name", default="nobody")
    name.set("spawner")

    @iris.actor(context=True)
    def inside(message):
        return name.get()

    assert system.spawn(inside).ask_sync(1, timeout=10) == "spawner"
    assert system.spawn(lambda message: name.get()).ask_sync(1, timeout=10) == "nobody"


CONTEXT = contextvars.ContextVar("context", default="nobody")


class InContext:
    """Answers with the variable as the handler and the hooks saw it."""

    def started(self):
        self.at_start = CONTEXT.get()

    def code_change(self, old):
        self.at_start = "changed by " + CONTEXT.get()

    def receive(self, message):
        return self.at_start, CONTEXT.get()


def pulled_in_context(mailbox):
    while mailbox.recv() is not None:
        mailbox.reply((CONTEXT.get(), iris.me() == mailbox.ref, iris.current_pid() == mailbox.pid))


def test_every_kind_runs_in_the_spawners_context(system):
    token = CONTEXT.set("spawner")
    try:
        for options in ({}, {"release_gil": True}):
            target = iris.actor(type("Marked", (InContext,), {}), context=True, **options)
            ref = system.spawn(target)
            assert ref.ask_sync(1, timeout=10) == ("spawner", "spawner")
            CONTEXT.set("swapper")
            system.hot_swap(ref, target)
            assert ref.ask_sync(1, timeout=10) == ("changed by swapper", "swapper")
            CONTEXT.set("spawner")
        for options in ({"pull": True}, {"thread": True}):
            target = iris.actor(lambda mailbox: pulled_in_context(mailbox), context=True, **options)
            assert system.spawn(target).ask_sync(1, timeout=10) == ("spawner", True, True)
            plain = iris.actor(lambda mailbox: pulled_in_context(mailbox), **options)
            assert system.spawn(plain).ask_sync(1, timeout=10) == ("nobody", True, True)
    finally:
        CONTEXT.reset(token)


def test_an_actor_in_the_context_of_a_pull_actor_is_itself(system):
    @iris.actor(context=True)
    def who(message):
        return iris.me(), iris.current_pid()

    @iris.actor(thread=True)
    def spawning(mailbox):
        mailbox.recv()
        ref = system.spawn(who)
        mailbox.reply((ref, ref.ask_sync(1, timeout=10)))

    ref, (me, pid) = system.spawn(spawning).ask_sync(1, timeout=20)
    assert me == ref and pid == ref.pid


def test_a_function_in_a_context_is_what_the_next_version_replaces(system):
    @iris.actor(context=True)
    def first(message):
        return "first"

    class Second:
        def code_change(self, old):
            self.old = old

        def receive(self, message):
            return self.old

    ref = system.spawn(first)
    system.hot_swap(ref, Second)
    assert ref.ask_sync(1, timeout=10) is first


def test_a_reference_does_where_a_pid_is_expected(system):
    got = []
    watched, other = system.spawn(got.append), system.spawn(lambda message: None)
    assert system.register("watched", watched) and system.whereis("watched") == watched.pid
    assert system.join_group("all", watched) and system.group("all") == [watched.pid]
    system.send_after(watched, 1, b"later")
    wait_until(lambda: got == [b"later"])
    assert system.mailbox_size(watched) == 0 and system.behavior_version(watched) == 1
    assert system.link(watched, other) and system.is_alive(other)
    child = system.spawn_child(watched, lambda message: None)
    assert system.stop(watched) and system.join(watched, timeout=10)
    wait_until(lambda: not system.is_alive(child))
    with pytest.raises(TypeError):
        system.is_alive("watched")


def test_policies_are_checked_before_anything_is_spawned(system):
    with pytest.raises(ValueError, match="one of dropnew"):
        iris.actor(capacity=1, overflow="bogus")
    with pytest.raises(ValueError, match="overflow_target"):
        iris.actor(capacity=1, overflow="redirect")
    entered, release, rest = threading.Event(), threading.Event(), []
    target = iris.actor(
        lambda message: (entered.set(), release.wait(20)),
        capacity=1, overflow="redirect", overflow_target=system.spawn(rest.append),
    )  # fmt: skip
    full = system.spawn(target)
    full.send(1)
    assert entered.wait(20) and full.send(2) and full.send(3)
    wait_until(lambda: rest == [3])
    release.set()


def test_a_child_that_has_just_ended_is_nobody(system):
    running = system.supervise(iris.Supervisor(children=[iris.Child("c", Counter)], intensity=1_000, period=1))
    seen = [running.child("c")]

    def restarted():
        seen.append(running.child("c"))
        return seen[-1] not in (None, before)

    for _ in range(50):
        before = seen[-1]
        before.send("crash")
        wait_until(restarted)
    assert {type(child) for child in seen} <= {iris.Ref, type(None)}


def test_context_manager_drains():
    got = []
    with iris.System() as system:
        ref = system.spawn(got.append)
        for i in range(10_000):
            ref.send(i)
    assert got == list(range(10_000))

    async def main():
        async with iris.System() as system:
            return await system.spawn(Counter).ask(5, timeout=10)

    assert asyncio.run(main()) == 5


def test_uvloop():
    uvloop = pytest.importorskip("uvloop")

    async def main():
        with iris.System() as system:
            counter = system.spawn(Counter)
            return [await counter.ask(1, timeout=10) for _ in range(100)]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()) == list(range(1, 101))


def test_processes():
    assert iris.run_in_process(pow, 2, 10).result(60) == 1024
    with pytest.raises(BrokenProcessPool):
        iris.run_in_process(os._exit, 1).result(60)
    assert iris.run_in_process(pow, 2, 3).result(60) == 8, "a fresh pool"


def test_timers(system):
    got = []
    ref = system.spawn(got.append)
    ref.send_after(0.001, "once")
    interval = ref.send_interval(0.002, "tick")
    wait_until(lambda: "once" in got and got.count("tick") >= 3)
    assert ref.cancel_timer(interval)
    with pytest.raises(ValueError):
        ref.send_interval(0, "x")


def test_tools(system, tmp_path, capsys):
    from iris import tools

    ref = system.spawn(Counter, name="visible")
    ref.ask_sync(1, timeout=10)
    path = tools.serve(system, str(tmp_path / "socket"))
    tree = iris.Supervisor(children=[iris.Child("kid", Counter, kwargs={"name": "kid"})])
    supervisor = system.supervise(tree)
    system.send("kid", "crash")
    wait_until(lambda: ("kid", system.find("kid") and system.find("kid").pid, 1) in supervisor.which_children())
    assert tools.main(["top", "--once", "--socket", path]) == 0
    top = capsys.readouterr().out
    assert "visible" in top and "HANDLER%" in top
    kid = next(line for line in top.splitlines() if line.endswith("kid"))
    assert kid.startswith("  <") and kid.split()[-3] == "1", "a child under its supervisor, restarted once"
    wait_until(lambda: ref.ask_sync(1, timeout=10) and any(actor["busy"] > 0 for actor in system.actors()), "a timed turn")
    assert tools.main(["metrics", "--socket", path]) == 0
    text = capsys.readouterr().out
    assert "iris_actors 3" in text and "# TYPE iris_exits_total counter" in text
    assert "unknown command" in tools.ask(path, "nonsense")


def test_dead_letters_are_logged(system, caplog):
    from iris import tools

    tools.log_dead_letters(system)
    release, entered = threading.Event(), threading.Event()
    ref = system.spawn(lambda message: (entered.set(), release.wait(20)))
    ref.send(1)
    assert entered.wait(20)
    ref.send("unread")
    ref.exit()
    release.set()
    wait_until(lambda: "str for <" in caplog.text and "shutdown" in caplog.text)


def test_pull_actors_know_who_they_are(system):
    @iris.actor(pull=True)
    def green(mailbox):
        while mailbox.recv() is not None:
            mailbox.reply(iris.me() == mailbox.ref)

    threaded = iris.actor(lambda mailbox: green(mailbox), thread=True)
    for target in (green, threaded):
        refs = [system.spawn(target) for _ in range(3)]
        assert all(ref.ask_sync(1, timeout=10) for ref in refs for _ in range(3))


def test_wrong_targets_say_what_is_wrong(system):
    with pytest.raises(TypeError, match="neither receive"):
        system.spawn(object)
    with pytest.raises(TypeError, match="not int"):
        system.spawn(5)
    with pytest.raises(TypeError, match="takes no arguments"):
        system.spawn(lambda message: None, 5)


@pytest.mark.parametrize("kind", ["receive", "run", "pull", "thread"])
def test_drain_waits_for_what_an_actor_has_taken(kind):
    got = []
    system = iris.System()
    sink = system.spawn(got.append)

    @iris.actor
    async def receive(message):
        await asyncio.sleep(0.02)
        assert sink.send(message)

    @iris.actor
    class Run:
        async def run(self, mailbox):
            while (message := await mailbox.recv()) is not None:
                await asyncio.sleep(0.02)
                assert sink.send(message)

    def pull(mailbox):
        while (message := mailbox.recv()) is not None:
            time.sleep(0.02)
            assert sink.send(message)

    stage = {"receive": receive, "run": Run, "pull": iris.actor(pull=True)(pull), "thread": iris.actor(pull=True, thread=True)(pull)}
    ref = system.spawn(stage[kind])
    for number in range(4):
        ref.send(number)
    report = system.stop(drain=True)
    assert got == [0, 1, 2, 3]
    assert report["drained"] and report["dropped"] == 0


def test_what_cannot_be_marked_is_told():
    with pytest.raises(TypeError, match="wrap it in a function"):
        iris.actor([].append)


def test_many_children_are_started_at_once(system):
    supervisor = system.supervise(iris.Supervisor("simple"))
    refs = supervisor.start_children(iris.Child(str(number), lambda message: message) for number in range(1000))
    assert [ref.ask_sync(number, timeout=20) for number, ref in enumerate(refs)] == list(range(1000))
    assert [child[0] for child in supervisor.which_children()] == [str(number) for number in range(1000)]

    class Fails:
        def __init__(self):
            raise ValueError("not today")

    with pytest.raises(RuntimeError, match="1 of 3 children .*bad: .*not today"):
        supervisor.start_children([iris.Child("x", lambda message: 1), iris.Child("bad", Fails), iris.Child("y", lambda message: 2)])
    assert supervisor.child("y").ask_sync(0, timeout=20) == 2
    assert supervisor.start_children([]) == []
