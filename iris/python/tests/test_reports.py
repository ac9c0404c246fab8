"""Crashes are told through `logging` (logger `iris`), by default on standard error: of every kind of actor, once, with the traceback."""

import logging
import subprocess
import sys

import pytest



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
