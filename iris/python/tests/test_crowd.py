"""Beside code that does not return: the switch interval while it is so, and whose it is afterwards. And what else ends in order: a drain that is
interrupted, the child of a fork in a handler, sends to the dead."""

import os
import signal
import subprocess
import sys
import time

import pytest

import iris

from conftest import wait_until

KINDS = ["push", "pull", "async"]


def looping(kind):
    def loop(message):
        while True:
            pass

    async def loop_async(message):
        loop(message)

    def pull(mailbox):
        loop(mailbox.recv())

    return {"push": loop, "async": loop_async, "pull": iris.actor(pull, pull=True)}[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_turns_are_short_beside_loops_and_as_before_afterwards(system, kind):
    before = sys.getswitchinterval()
    echo = system.spawn(lambda message: message)
    loops = [system.spawn(looping(kind)) for _ in range(3)]
    for loop in loops:
        loop.send(1)

    def asked():
        return echo.ask_sync(1, timeout=20) == 1 and sys.getswitchinterval() < before

    wait_until(asked)
    for loop in loops:
        loop.exit("kill")
    for loop in loops:
        assert loop.join(20) is not None
    wait_until(lambda: echo.ask_sync(1, timeout=20) == 1 and sys.getswitchinterval() == before)


def test_an_interval_of_the_programs_own_is_respected(system):
    before = sys.getswitchinterval()
    try:
        echo, loop = system.spawn(lambda message: message), system.spawn(looping("push"))
        loop.send(1)
        wait_until(lambda: echo.ask_sync(1, timeout=20) == 1 and sys.getswitchinterval() < before)
        sys.setswitchinterval(0.003)
        loop.exit("kill")
        assert loop.join(20) is not None
        for _ in range(20):
            echo.ask_sync(1, timeout=20)
        assert sys.getswitchinterval() == pytest.approx(0.003)
    finally:
        sys.setswitchinterval(before)


def run(program, *arguments):
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120)


def test_ctrl_c_ends_a_drain():
    program = """
import iris, os, signal, threading, time
system = iris.System()
signal.signal(signal.SIGINT, signal.default_int_handler)
slow = system.spawn(lambda message: time.sleep(0.1))
for _ in range(100_000):
    slow.send(1)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    system.stop(drain=3600)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    assert run(program).stdout == "interrupted\n"


FORKING = """
import iris, os, sys
system = iris.System()

def work(how):
    pid = os.fork()
    if pid == 0:
        own = iris.System()
        assert own.spawn(lambda message: message * 2).ask_sync(21, timeout=20) == 42
        if how == "exit":
            sys.exit(3)
        if how == "raise":
            raise ValueError("in the child")
        return 5
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

async def coroutine(how):
    return work(how)

def pull(mailbox):
    mailbox.reply(work(mailbox.recv()))

kind = sys.argv[1]
target = {"push": work, "async": coroutine}.get(kind) or iris.actor(pull, pull=True, thread=kind == "thread")
print([system.spawn(target).ask_sync(how, timeout=30) for how in ("return", "exit", "raise")])
"""


@pytest.mark.parametrize("kind", [*KINDS, "thread"])
def test_the_child_of_a_fork_in_a_handler_ends_with_it(kind):
    done = run(FORKING, kind)
    assert done.stdout.endswith("[0, 3, 1]\n"), done.stdout + done.stderr
    assert "in the child" in done.stderr


def test_what_is_sent_to_the_dead_is_told(system):
    letters = []

    def told(pid, message, reason):
        letters.append((pid, message, reason))
        # What is sent to the dead here is not told again.
        dead.send("again")

    system.on_dead_letter(told)
    dead = system.spawn(lambda message: message)
    dead.exit("kill")
    assert dead.join(20) is not None
    before = system.metrics()["dead_letters"]
    assert dead.send("late") is iris.Sent.NO_PROCESS
    assert letters == [(dead.pid, "late", "noproc")]
    # It was never accepted, so it is not among what was lost.
    assert system.metrics()["dead_letters"] == before
