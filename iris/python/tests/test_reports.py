"""Crashes are told through `logging` (logger `iris`), by default on standard error: of every kind of actor, once, with the traceback."""

import logging
import subprocess
import sys
import threading
import time

import pytest
from conftest import wait_until

import iris


class Push:
    def receive(self, message):
        raise LookupError("not there")


class Async:
    async def receive(self, message):
        raise LookupError("not there")


class Pull:
    def run(self, mailbox):
        mailbox.recv()
        raise LookupError("not there")


@pytest.mark.parametrize("kind", [Push, Async, Pull])
def test_a_crash_is_reported_once(system, caplog, kind):
    other = system.spawn(lambda message: None)
    ref = system.spawn(kind, link=other)
    with caplog.at_level(logging.ERROR, "iris"):
        ref.send(1)
        ref.join(20), other.join(20)
        # Its end waits for no report.
        wait_until(lambda: caplog.records, "the report")
        time.sleep(0.05)
    (record,) = caplog.records
    assert record.name == "iris" and str(ref.pid) in record.getMessage() and kind.__name__ in record.getMessage()
    assert record.exc_info[0] is LookupError and record.exc_info[2] is not None


@pytest.mark.parametrize("end", ["kill", "shutdown", None])
def test_an_end_that_was_asked_for_is_not_a_crash(system, caplog, end):
    ref = system.spawn(Push)
    ref.exit(end)
    ref.join(20)
    assert not caplog.records


def test_reports_are_on_by_default():
    program = """
import iris
def fails(message):
    raise LookupError("not there")
with iris.System() as system:
    system.spawn(fails).send(1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "(fails) crashed: LookupError" in done.stderr and "Traceback" in done.stderr


@pytest.mark.parametrize("kind", ["push", "pull", "async"])
@pytest.mark.parametrize("status, reason", [(None, "normal"), (0, "normal"), (3, "error: exit(3)")])
def test_an_exit_with_a_status_is_a_failure(system, kind, status, reason):
    class Leaves:
        def receive(self, message):
            sys.exit(status)

    class LeavesAsync:
        async def receive(self, message):
            sys.exit(status)

    class LeavesPull:
        def run(self, mailbox):
            mailbox.recv()
            sys.exit(status)

    ref = system.spawn({"push": Leaves, "async": LeavesAsync, "pull": LeavesPull}[kind])
    ref.send(1)
    assert str(ref.join(20)) == reason


class Flaky:
    """Fails at every message, and at its start once `broken` says so."""

    broken = False

    def __init__(self):
        if Flaky.broken:
            raise OSError("no start")

    def receive(self, message):
        Flaky.broken = message == "for good"
        raise LookupError("not there")


def supervised(caplog):
    return [record.getMessage() for record in caplog.records if "supervisor" in record.getMessage()]


@pytest.mark.parametrize("restart, words", [("permanent", "is restarted"), ("transient", "is restarted"), ("temporary", "stays down")])
def test_a_supervisor_tells_of_a_child_that_fails(system, caplog, restart, words):
    Flaky.broken = False
    running = system.supervise(iris.Supervisor(children=[iris.Child("flaky", Flaky, restart=restart)]))
    with caplog.at_level(logging.INFO, "iris"):
        running.child("flaky").send(1)
        wait_until(lambda: supervised(caplog), "the report")
    (text,) = supervised(caplog)
    assert text == f"supervisor {running.pid}: child 'flaky' failed and {words}: LookupError: not there"


def test_a_supervisor_tells_of_a_child_that_does_not_start_and_of_its_own_end(system, caplog):
    Flaky.broken = False
    running = system.supervise(iris.Supervisor(children=[iris.Child("flaky", Flaky)], intensity=2))
    with caplog.at_level(logging.INFO, "iris"):
        running.child("flaky").send("for good")
        assert running.join(20).kind == "restart_intensity"
    Flaky.broken = False
    texts = supervised(caplog)
    assert [text for text in texts if "could not be restarted" in text and "no start" in text]
    assert "failed once too often" in texts[-1]


def test_a_supervisor_that_stops_its_children_tells_nothing(system, caplog):
    Flaky.broken = False
    running = system.supervise(iris.Supervisor(children=[iris.Child("flaky", Flaky)]))
    with caplog.at_level(logging.INFO, "iris"):
        running.shutdown()
        running.join(20)
    assert not caplog.records


@pytest.mark.parametrize("place", ["global", "path"])
def test_the_supervision_of_the_compatible_surface_is_reported(runtime, caplog, place):
    """Restarts, and giving up, of actors that were taken on with a factory."""

    def make():
        return runtime.spawn(fails)

    def fails(data):
        raise LookupError("not there")

    first = make()
    alive = []

    def factory():
        alive.append(make())
        return alive[-1]

    with caplog.at_level(logging.ERROR, "iris"):
        if place == "global":
            runtime._inner.supervise_with_factory(first, factory, "one")
        else:
            runtime.create_path_supervisor("/svc")
            runtime.path_supervise_with_factory("/svc", first, factory, "one")
        runtime.send(first, b"1")
        wait_until(lambda: alive and not runtime.is_alive(first))
        assert any("restarted" in record.getMessage() and repr(str(first)) in record.getMessage() for record in caplog.records)
        for _ in range(20):
            if runtime.is_alive(alive[-1]):
                runtime.send(alive[-1], b"1")
            wait_until(lambda: len(caplog.records) and not runtime.is_alive(alive[-1]) or runtime.is_alive(alive[-1]))
            if "the supervisor ends" in caplog.text:
                break
            time.sleep(0.05)
    assert "the supervisor ends" in caplog.text


class Slow(Exception):
    """Its text is the program's own code, and takes as long as that likes."""

    def __init__(self, text):
        super().__init__(text)
        self.asked, self.go_on = threading.Event(), threading.Event()

    def __str__(self):
        self.asked.set()
        self.go_on.wait(20)
        raise ZeroDivisionError


@pytest.mark.parametrize("kind", ["push", "pull", "async", "thread"])
def test_a_text_that_blocks_or_raises_holds_no_mailbox_open(system, caplog, kind):
    slow = Slow("oh")

    def raising(message):
        raise slow

    async def later(message):
        raise slow

    @iris.actor(pull=True, thread=kind == "thread")
    def pulling(mailbox):
        mailbox.recv()
        raise slow

    supervisor = system.supervise(iris.Supervisor("one_for_one", [iris.Child("one", lambda message: 1)]))
    ref = system.spawn({"push": raising, "async": later}.get(kind, pulling), name="slow")
    linked = system.spawn(pulling_none)
    ref.link(linked)
    try:
        ref.send(1)
        # Its end and everything that hangs on it are over while its text is still being made.
        assert ref.join(20) is not None and not ref.alive
        assert not ref.send(2) and linked.join(20) is not None
        assert slow.asked.wait(20)
        assert system.whereis("slow") is None and supervisor.child("one").ask_sync(1, timeout=20) == 1
    finally:
        slow.go_on.set()
    wait_until(lambda: system.actor_count() > 0)
    assert system.spawn(lambda message: message).ask_sync(3, timeout=20) == 3


@iris.actor(pull=True, thread=True)
def pulling_none(mailbox):
    mailbox.recv()
