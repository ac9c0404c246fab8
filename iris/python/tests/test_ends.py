"""Ends in every state, of every kind of actor, by every way: each in a process of its own. The process ends with its own status and in
time, each accepted message is handled or counted as dropped, and whoever was killed handles nothing more.

A run takes a sixth of the matrix: a Latin square of kinds and ends, so that every two of kind, state and end meet. IRIS_ENDS_SEED (0 to 5)
chooses which square; the name of the test says which it was. IRIS_ENDS=all runs all 216."""

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

PROGRAM = """
import asyncio, atexit, gc, json, os, sys, threading, time, weakref
import iris

KIND, STATE, END = sys.argv[1:4]
handled, begun = [0], threading.Event()

def busy():
    begun.set()
    if STATE == "handler":
        time.sleep(0.3)
    elif STATE == "looping":
        while True:
            pass

def count():
    handled[0] += 1

if KIND in ("pull", "thread"):
    @iris.actor(pull=True, thread=KIND == "thread")
    def target(mailbox):
        while (message := mailbox.recv()) is not None:
            count()
            if message == "busy":
                busy()
            elif message == "ask":
                begun.set()
                mailbox.ask(silent, "x", timeout=None)
elif KIND == "async":
    async def target(message):
        count()
        if message == "busy":
            busy()
        elif message == "ask":
            begun.set()
            await silent.ask("x")
else:
    def receive(message):
        count()
        if message == "busy":
            busy()
        elif message == "ask":
            begun.set()
            silent.ask_sync("x", timeout=60)
    target = iris.actor(release_gil=True)(receive) if KIND == "release_gil" else receive
    if KIND == "virtual":
        target = iris.actor(virtual=True)(receive)

@iris.actor(pull=True)
def holds(mailbox):
    kept = mailbox.recv()
    mailbox.recv()

system = iris.System()
silent = system.spawn(holds)
ref = system.spawn(target)
accepted, flooding = [0], threading.Event()

def send(message):
    accepted[0] += bool(ref.send(message))

def flood():
    while flooding.is_set():
        sent = ref.send_many([1] * 64)
        accepted[0] += sent
        if not sent:
            return

if STATE in ("handler", "looping"):
    send("busy")
    assert begun.wait(10)
if STATE == "asking":
    # Nobody answers, and no deadline of its own may end it: on a slow machine that would come before the end that is looked at.
    send("ask")
    assert begun.wait(10)
if STATE != "idle":
    for _ in range(20_000 if STATE == "backlog" else 100):
        send(1)
thread = None
if STATE == "flood":
    flooding.set()
    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    time.sleep(0.1)

report = {}
begin = time.monotonic()
if END == "kill":
    before = system.metrics()["dead_letters"]
    ref.exit("kill")
    at_kill = handled[0]
    reason = ref.join(8)
    assert not ref.alive, "the killed actor lives"
    assert reason is not None and reason.kind == "killed", reason
    flooding.clear()
    thread and thread.join(5)
    time.sleep(0.1)
    after = handled[0] - at_kill
    assert after <= 200, f"{after} messages handled after the kill"
    dropped = system.metrics()["dead_letters"] - before
    assert handled[0] + dropped == accepted[0], (handled[0], dropped, accepted[0])
elif END in ("stop", "drain"):
    # A flood has no end that a drain could wait for.
    report = system.stop(drain=0.5 if END == "drain" else False, timeout=1.0)
    flooding.clear()
    thread and thread.join(5)
    extra = 1 if STATE == "asking" else 0
    counted = handled[0] + report["dropped"]
    assert accepted[0] <= counted <= accepted[0] + extra, (handled[0], report, accepted[0])
elif END == "drop":
    flooding.clear() if STATE != "flood" else None
    weak = weakref.ref(system)
    del system
    gc.collect()
elif END == "stop_drop":
    system.stop(timeout=0.2)
    del system, ref, silent
    gc.collect()
assert time.monotonic() - begin < 20, "too slow"
print(json.dumps({"handled": handled[0], "accepted": accepted[0]}))
sys.stdout.flush()
if END == "exit_status":
    sys.exit(3)
"""

KINDS = ["push", "release_gil", "pull", "thread", "async", "virtual"]
STATES = ["idle", "backlog", "flood", "handler", "asking", "looping"]
ENDS = ["stop", "drain", "kill", "drop", "stop_drop", "exit_status"]
SEED = int(os.environ.get("IRIS_ENDS_SEED", random.randrange(len(STATES))))


def states(kind, end):
    if os.environ.get("IRIS_ENDS") == "all":
        return STATES
    return [STATES[(KINDS.index(kind) + ENDS.index(end) + SEED) % len(STATES)]]


@pytest.mark.parametrize("seed", [SEED])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_end_in_every_state(kind, end, seed, tmp_path):
    program = tmp_path / "ends.py"
    program.write_text(PROGRAM)

    def run(state):
        command = [sys.executable, str(program), kind, state, end]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return state, "hangs"
        if done.returncode != (3 if end == "exit_status" else 0):
            return state, done.returncode, done.stderr[-600:]
        json.loads(done.stdout)

    with ThreadPoolExecutor(3) as pool:
        failed = [fault for fault in pool.map(run, states(kind, end)) if fault]
    assert not failed, f"{kind}, {end}, seed {seed}: " + "\n".join(map(str, failed))


MEMORY = """
import gc, resource, time, weakref
import iris

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

class Crashes:
    def receive(self, message):
        data = bytearray(message)
        data[::4096] = b"x" * len(data[::4096])
        raise ValueError("no")

def crash(times):
    with iris.System() as system:
        for _ in range(times):
            ref = system.spawn(Crashes)
            try:
                ref.ask_sync(1_000_000, timeout=20)
            except ValueError:
                pass
        # The answer comes before the end.
        assert ref.join(20).kind == "exception" and "no" in ref.exit_reason.message

crash(20)
gc.collect()
before = rss()
crash(300)
gc.collect()
grown = rss() - before
assert grown < 60_000_000, f"{grown} bytes are kept after 300 crashes on a megabyte"

def dropped():
    system = iris.System()
    ref = system.spawn(Crashes)
    try:
        ref.ask_sync(10, timeout=20)
    except ValueError:
        pass
    ref.join(20)
    return weakref.ref(system)

weak = [dropped() for _ in range(10)]
# The report of the last crash may be under way: it comes after the end.
until = time.monotonic() + 20
while any(ref() for ref in weak) and time.monotonic() < until:
    gc.collect()
    time.sleep(0.01)
assert not any(ref() for ref in weak), "a request that raised keeps the system"
"""


def test_crashes_keep_nothing_alive():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


HELD = """
import sys, time, threading
import iris

KIND = sys.argv[1]
begun = threading.Event()

def loop():
    begun.set()
    while True:
        pass

if KIND == "async":
    async def loops(message):
        loop()
    async def answers(message):
        return message
else:
    @iris.actor(pull=True)
    def loops(mailbox):
        mailbox.recv()
        loop()
    @iris.actor(pull=True)
    def answers(mailbox):
        while (message := mailbox.recv()) is not None:
            mailbox.reply(message)

system = iris.System()
held = system.spawn(loops)
before = system.spawn(answers)
assert before.ask_sync(1, timeout=10) == 1
held.send(1)
assert begun.wait(10)
deadline = time.monotonic() + 10
while not system.slow_handlers():
    assert time.monotonic() < deadline, "nobody reports the loop"
    time.sleep(0.02)
assert system.slow_handlers()[0][0] == held.pid
after = system.spawn(answers)
assert after.ask_sync(2, timeout=10) == 2, "one that loops stops those that come after"
held.exit("kill")
assert held.join(10).kind == "killed"
assert before.ask_sync(3, timeout=10) == 3, "the thread is not given back"
report = system.stop(timeout=5)
assert report["complete"], report
"""


@pytest.mark.parametrize("kind", ["pull", "async"])
def test_one_that_loops_is_reported_passed_by_and_killed(kind):
    done = subprocess.run([sys.executable, "-c", HELD, kind], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr


STUBBORN = """
import sys, time, threading
import iris

begun = threading.Event()

def receive(message):
    begun.set()
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass

@iris.actor(pull=True)
def pulls(mailbox):
    receive(mailbox.recv())

system = iris.System()
ref = system.spawn({"push": receive, "pull": pulls}[sys.argv[1]])
ref.send_many(range(10))
assert begun.wait(10)
ref.exit("kill")
assert ref.join(15).kind == "killed"
assert system.spawn(lambda message: message).ask_sync(1, timeout=10) == 1
sys.exit(3)
"""


@pytest.mark.parametrize("kind", ["push", "pull"])
def test_one_that_survives_interruptions_is_given_up(kind):
    done = subprocess.run([sys.executable, "-c", STUBBORN, kind], capture_output=True, text=True, timeout=90)
    assert done.returncode == 3, (done.returncode, done.stderr)
