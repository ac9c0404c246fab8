"""What happens to actors that wait when they are asked to end: exits, links, parents, supervisors."""

import asyncio
import gc
import threading
import time
import weakref

import pytest

import iris
from conftest import wait_until
from test_modern import AsyncCounter, Counter


def waiting_forever(log):
    """An async actor that tells when it waits for something else than messages, and how that ended."""

    class Waiting:
        async def receive(self, message):
            log.append("waits")
            try:
                await asyncio.sleep(3600)
            finally:
                log.append("cleaned up")

        async def stopped(self, reason):
            await asyncio.sleep(0)
            log.append((reason.kind, reason.message.removeprefix("error: ")))

    return Waiting


@pytest.mark.parametrize("reason, seen", [(None, ("shutdown", "shutdown")), ("why not", ("error", "why not")), ("kill", None)])
def test_an_exit_cancels_what_an_async_actor_awaits(system, reason, seen):
    log = []
    ref = system.spawn(waiting_forever(log))
    ref.send(1)
    ref.send("never handled")
    wait_until(lambda: log == ["waits"])
    ref.exit(reason)
    wait_until(lambda: not ref.alive)
    assert log == ["waits", "cleaned up"] + ([seen] if seen else [])
    if reason is not None:
        assert ref.exit_reason.kind == {"kill": "killed"}.get(reason, "error")
    assert (ref.pid, ref.exit_reason.kind if ref.exit_reason else "shutdown") in system.dead_letters()


def test_links_parents_and_supervisors_cancel_what_an_async_actor_awaits(system):
    logs = [[], [], []]
    parent = system.spawn(Counter)
    linked = system.spawn(Counter)
    supervisor = system.supervise(iris.Supervisor("one_for_one", [iris.Child("waiting", waiting_forever(logs[2]), shutdown=60)]))
    actors = [
        system.spawn(waiting_forever(logs[0]), parent=parent),
        system.spawn(waiting_forever(logs[1]), link=linked),
        supervisor.child("waiting"),
    ]
    for ref in actors:
        ref.send(1)
    wait_until(lambda: logs == [["waits"]] * 3)
    parent.exit()
    linked.exit("broken")
    assert supervisor.terminate_child("waiting")
    wait_until(lambda: not any(ref.alive for ref in actors))
    assert [log[1:] for log in logs] == [
        ["cleaned up", ("shutdown", "shutdown")],
        ["cleaned up", ("error", "broken")],
        ["cleaned up", ("shutdown", "shutdown")],
    ]


def test_one_that_traps_exits_is_asked_in_order_and_cancelled_after_its_time(system):
    log = []
    target = iris.actor(trap_exit=True)(waiting_forever(log))
    supervisor = system.supervise(iris.Supervisor("one_for_one", [iris.Child("waiting", target, shutdown=0.2)]))
    ref = supervisor.child("waiting")
    ref.send(1)
    wait_until(lambda: log == ["waits"])
    begun = time.monotonic()
    assert supervisor.terminate_child("waiting")
    assert time.monotonic() - begun >= 0.19
    wait_until(lambda: not ref.alive)
    assert log == ["waits", "cleaned up"]
    assert ref.exit_reason.kind == "killed"


def test_an_exit_before_an_async_actor_has_begun_ends_it(system):
    def chain():
        refs = [system.spawn(waiting_forever([])) for _ in range(200)]
        for ref in refs:
            ref.exit()
        return refs

    refs = chain()
    wait_until(lambda: not any(ref.alive for ref in refs))


def test_an_exit_ends_pull_actors_that_wait(system):
    log = []

    def receives(mailbox):
        log.append(mailbox.recv())

    def asks(mailbox):
        try:
            mailbox.ask(silent, "anything")
        finally:
            log.append("cleaned up")

    @iris.actor(pull=True)
    def silent_code(mailbox):
        while mailbox.recv() is not None:
            log.append("asked")
            mailbox.recv()

    silent = system.spawn(silent_code)
    refs = [system.spawn(iris.actor(pull=True)(receives)), system.spawn(iris.actor(thread=True)(receives))]
    for ref in refs:
        ref.exit()
    wait_until(lambda: log == [None, None])
    asking = system.spawn(iris.actor(pull=True)(asks))
    wait_until(lambda: "asked" in log)
    asking.exit("enough")
    wait_until(lambda: not asking.alive)
    assert log[-1] == "cleaned up" and asking.exit_reason.message == "error: enough"


def test_the_stopped_hook_of_an_async_actor_gets_the_reason(system):
    reasons = []

    class Hooked(AsyncCounter):
        async def stopped(self, reason):
            reasons.append((reason.kind, type(reason.exception).__name__))

    system.spawn(Hooked).stop()
    wait_until(lambda: len(reasons) == 1)
    system.spawn(Hooked).send("crash")
    wait_until(lambda: len(reasons) == 2)
    assert reasons == [("normal", "NoneType"), ("exception", "ValueError")]


def test_exits_meet_async_actors_at_any_moment(system):
    """Messages and exits from other threads, while the actor changes between receiving and awaiting: each ends, at once."""

    async def busy(message):
        await asyncio.sleep(0 if message else 3600)

    for round in range(300):
        ref = system.spawn(busy)
        ref.send_many([1] * (round % 7) + [0])
        if round % 3:
            time.sleep(0.0002 * (round % 5))
        ref.exit()
        wait_until(lambda: not ref.alive, f"the end in round {round}")


def ends_held(system, kind):
    """The pid of a killed actor that was in its handler, waited, or had not begun."""
    begun, holds = threading.Event(), {"loops": True}

    def loops():
        begun.set()
        while holds["loops"]:
            pass

    class Push:
        def receive(self, message):
            loops()

    class Async:
        async def receive(self, message):
            loops()

    @iris.actor(pull=True)
    def pulls(mailbox):
        mailbox.recv()
        loops()

    targets = {"push": Push, "async": Async, "pull": pulls, "virtual": iris.actor(virtual=True)(type("Virtual", (Push,), {}))}
    which, _, when = kind.partition(" ")
    if which == "observer":
        return system._inner.spawn_observed_handler(10)
    if which == "supervisor":
        return system.supervise(iris.Supervisor("one_for_one")).pid
    ref = system.spawn(targets[which])
    if when == "held":
        ref.send(1)
        assert begun.wait(10)
    return ref.pid


@pytest.mark.parametrize(
    "kind",
    ["push", "push held", "pull", "pull held", "async", "async held", "virtual", "virtual held", "observer", "supervisor"],
)
def test_the_reason_of_a_pid_is_known_however_it_was_killed(system, kind):
    pid = ends_held(system, kind)
    assert system.exit(pid, "kill")
    wait_until(lambda: not system.is_alive(pid))
    assert system.exit_reason(pid).kind == "killed"


def test_who_waits_at_a_killed_observer_is_told(runtime):
    pid = runtime._inner.spawn_observed_handler(10)
    found = []
    waiting = threading.Thread(target=lambda: found.append(runtime.selective_recv_blocking(pid, lambda message: True)), daemon=True)
    waiting.start()
    time.sleep(0.05)
    runtime._inner.exit(pid, "kill")
    waiting.join(20)
    assert found == [None]


def test_a_killed_actor_leaves_no_entry_behind(runtime):
    """What the surface notes of an actor (here: that it is supervised) goes with it; a pid may be told of once only."""
    pid = runtime.spawn(lambda message: None)
    runtime._inner.supervise_with_factory(pid, lambda: runtime.spawn(lambda message: None), "one")
    runtime._inner.exit(pid, "kill")
    wait_until(lambda: not runtime.is_alive(pid))
    assert runtime._inner.exit_reason(pid).kind == "killed"


class Term:
    """Neither text nor data, and known by its identity alone."""


@pytest.mark.parametrize("value", [{"a": [1, 2]}, ("error", 7), 3, None.__class__, Term(), [], b"x", "text"], ids=str)
@pytest.mark.parametrize("kind", ["push", "pull", "async"])
def test_any_object_is_a_reason_and_arrives_as_itself(system, kind, value):
    told = {"hook": [], "seen": []}

    class Watching:
        def receive(self, message):
            told["seen"].append(message)

    async def coroutine(message):
        pass

    def pull(mailbox):
        while mailbox.recv() is not None:
            pass

    target = {"push": lambda message: None, "async": coroutine, "pull": iris.actor(pull, pull=True)}[kind]
    watching = system.spawn(iris.actor(trap_exit=True)(Watching))
    ending = system.spawn(target)
    watching.monitor(ending)
    watching.link(ending)
    ending.exit(value)
    wait_until(lambda: len(told["seen"]) == 2)
    for message in told["seen"]:
        assert message.reason.kind == "error" and message.reason.abnormal
        assert message.reason.value is value or (type(value) is str and message.reason.value == value)
        assert message.reason.message == f"error: {value if type(value) is str else repr(value)}"
    # What it was is kept, and not the object with all that it refers to.
    assert ending.join(20).kind == "error"


def test_an_object_given_as_a_reason_is_not_kept(system):
    value = Term()
    weak = weakref.ref(value)

    def end_all(count, reason):
        actors = [system.spawn(lambda message: None) for _ in range(count)]
        for ending in actors:
            ending.exit(reason)
        for ending in actors:
            assert ending.join(20).kind == "error"

    end_all(20, value)
    del value
    # The latest are kept as they are, as exceptions are, for those who ask at once.
    end_all(200, {})

    def gone():
        gc.collect()
        return weak() is None

    wait_until(gone)
