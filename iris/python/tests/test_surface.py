"""What the surface owes to those who come from the original or from OTP."""

import gc
import threading

import pytest

import iris
from conftest import wait_until


def test_a_bare_runtime_has_pull_actors_and_stops():
    runtime, got = iris.PyRuntime(), []

    def pull(mailbox):
        while (message := mailbox.recv()) is not None:
            got.append(message)

    pid = runtime.spawn_with_mailbox(pull)
    assert runtime.send(pid, b"x")
    wait_until(lambda: got == [b"x"])
    assert runtime.stop() and not runtime.is_alive(pid)
    del runtime
    wait_until(lambda: not any(thread.name == "iris-hub" for thread in threading.enumerate()), "the end of the hub")


@pytest.mark.parametrize("reason, message", [({"code": 3}, "error: {'code': 3}"), (7, "error: 7"), (("a", 1), "error: ('a', 1)")])
def test_any_term_is_a_reason(system, reason, message):
    ref = system.spawn(lambda message: None)
    ref.exit(reason)
    assert str(ref.join(20)) == message


def test_a_monitor_that_was_taken_back_does_not_fire(system):
    got = []
    watcher, other = system.spawn(got.append), system.spawn(lambda message: None)
    taken, kept = watcher.monitor(other), watcher.monitor(other)
    assert watcher.demonitor(other, taken) and not watcher.demonitor(other, taken)
    other.exit()
    wait_until(lambda: got)
    assert [down.monitor for down in got] == [kept]


def test_a_child_is_found_by_its_id(system):
    def nothing(message):
        pass

    supervisor = system.supervise(iris.Supervisor("one_for_one", [iris.Child(f"c{i}", nothing) for i in range(100)]))
    first = supervisor.child("c7")
    assert first.alive and supervisor.child("nobody") is None
    supervisor.terminate_child("c7")
    assert supervisor.child("c7") is None
    supervisor.restart_child("c7")
    assert supervisor.child("c7").alive and supervisor.child("c7") != first


@pytest.mark.parametrize("kind, most", [("push", 5), ("pull", 16), ("async", 19)])
def test_objects_that_the_collector_looks_at(kind, most):
    """What a collection costs grows with them: many actors of a kind are slow to make when each has many."""

    class Push:
        def receive(self, message):
            return message

    class Async:
        async def receive(self, message):
            return message

    def pull(mailbox):
        while (message := mailbox.recv()) is not None:
            mailbox.reply(message)

    target, count = {"push": Push, "pull": iris.actor(pull, pull=True), "async": Async}[kind], 200
    with iris.System() as system:
        assert system.spawn(target).ask_sync(1, timeout=20) == 1
        gc.collect()
        before = len(gc.get_objects())
        refs = [system.spawn(target) for _ in range(count)]
        assert [ref.ask_sync(2, timeout=20) for ref in refs] == [2] * count
        gc.collect()
        # Whole objects of each: a few more that are there once do not count.
        assert (len(gc.get_objects()) - before) // count <= most
