"""Where a killed actor's code may be interrupted: in the actor's own code, never inside of asyncio or iris, whose wake-ups it would take
along. Each test kills actors that spend nearly all of their time in there.
"""

import subprocess
import sys

import pytest

ROUNDS = 8

SENDS = """
import sys, threading
import iris

KIND, ROUNDS = sys.argv[1], int(sys.argv[2])

async def answers(message):
    return message

def flood(begun, targets):
    begun.set()
    while True:
        for target in targets:
            target.send(0)

class Push:
    def __init__(self, *args): self.args = args
    def receive(self, message): flood(*self.args)

class Pull:
    def __init__(self, *args): self.args = args
    def run(self, mailbox):
        mailbox.recv()
        flood(*self.args)

@iris.actor(thread=True)
class Thread(Pull):
    pass

class Async:
    def __init__(self, *args): self.args = args
    async def receive(self, message): flood(*self.args)

system = iris.System()
for turn in range(ROUNDS):
    # New ones each time, with little behind: an actor is rung for only when its mailbox was empty.
    targets = [system.spawn(answers) for _ in range(4)]
    begun = threading.Event()
    flooding = system.spawn({"push": Push, "pull": Pull, "thread": Thread, "async": Async}[KIND], begun, targets)
    flooding.send(1)
    assert begun.wait(10)
    flooding.exit("kill")
    assert flooding.join(15).kind == "killed"
    for target in targets:
        assert target.ask_sync(turn, timeout=60) == turn, "a wake-up was lost"
        target.exit("kill")
system.stop(timeout=10)
"""

SCHEDULES = """
import asyncio, sys, threading, time
import iris

ROUNDS = int(sys.argv[1])

def futures(loop, ran):
    future = loop.create_future()
    future.add_done_callback(ran)
    future.set_result(None)

def calls(loop, ran):
    loop.call_soon(ran, None)

def later(loop, ran):
    loop.call_later(0, ran, None)

def tasks(loop, ran):
    async def none(): pass
    loop.create_task(none()).add_done_callback(ran)

class Schedules:
    def __init__(self, begun, how, counts): self.begun, self.how, self.counts = begun, how, counts
    async def receive(self, message):
        loop, counts = asyncio.get_running_loop(), self.counts
        loop.set_exception_handler(lambda _, context: counts.append(context))
        def ran(_): counts[1] += 1
        self.begun.set()
        # Bounded: all that is scheduled has to run afterwards.
        while counts[0] < 100_000:
            self.how(loop, ran)
            counts[0] += 1
        while True:
            pass

async def answers(message):
    return message

system = iris.System()
for how in (futures, calls, later, tasks):
    for turn in range(ROUNDS // 4 + 1):
        begun, counts = threading.Event(), [0, 0]
        answering = system.spawn(answers)
        scheduling = system.spawn(Schedules, begun, how, counts)
        scheduling.send(1)
        assert begun.wait(10)
        scheduling.exit("kill")
        assert scheduling.join(30).kind == "killed"
        assert answering.ask_sync(turn, timeout=120) == turn, "the loop is lost"
        assert answering.ask_sync(turn, timeout=120) == turn
        # Beside a loop that was held up the answers may be another loop's: what was scheduled runs all the same.
        until = time.monotonic() + 120
        while counts[1] < counts[0] and len(counts) == 2 and time.monotonic() < until:
            time.sleep(0.01)
        # One may have run whose count the interruption prevented.
        assert len(counts) == 2 and counts[0] <= counts[1] <= counts[0] + 1, (how, counts)
system.stop(timeout=10)
"""

SPAWNS = """
import sys, threading
import iris

ROUNDS = int(sys.argv[1])

async def answers(message):
    return message

def pulls(mailbox):
    while (message := mailbox.recv()) is not None:
        mailbox.reply(message)
pulls = iris.actor(pull=True)(pulls)

class Spawns:
    def __init__(self, begun, system): self.begun, self.system = begun, system
    def receive(self, message):
        self.begun.set()
        for _ in range(3_000):
            self.system.spawn(answers)
            self.system.spawn(pulls)
        while True:
            pass

system = iris.System()
for turn in range(ROUNDS):
    begun = threading.Event()
    spawning = system.spawn(Spawns, begun, system)
    spawning.send(1)
    assert begun.wait(10)
    spawning.exit("kill")
    assert spawning.join(30).kind == "killed"
    made = [system.find(actor["pid"]) for actor in system.actors()]
    for ref in made:
        if ref is not None:
            assert ref.ask_sync(turn, timeout=60) == turn, "an actor was made that does not run"
            ref.exit("kill")
    for ref in made:
        if ref is not None:
            ref.join(30)
system.stop(timeout=10)
"""


def run(script, *args):
    done = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Exception in callback" not in done.stderr, done.stderr


@pytest.mark.parametrize("kind", ["push", "pull", "thread", "async"])
def test_a_sender_that_is_killed_takes_no_wake_up_along(kind):
    run(SENDS, kind, str(ROUNDS))


def test_what_a_killed_actor_has_scheduled_runs():
    run(SCHEDULES, str(ROUNDS))


def test_what_a_killed_actor_has_spawned_runs():
    run(SPAWNS, "3")


MANY = """
import time
import iris

class Counter:
    def __init__(self, value): self.value = value
    async def receive(self, message): return self.value

system = iris.System()
refs = [system.spawn(Counter, 10) for _ in range(10_000)]
system.stop()
"""


def test_the_end_of_many_async_actors_is_quiet():
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
