"""Virtual pull and async actors: made by a message, put away when idle, and no message lost in between."""

import asyncio
import gc
import threading
import time
import weakref

import pytest

import iris
from conftest import wait_until

IDLE = 0.03


class Base:
    """Counts its own messages, and says in a list what happens to it."""

    def __init__(self, log):
        self.log, self.count = log, 0
        log.append("made")


class Async(Base):
    async def started(self):
        self.log.append("started")

    async def receive(self, message):
        self.count += 1
        return self.count

    async def stopped(self, reason):
        self.log.append(reason.kind)


class AsyncPull(Base):
    async def run(self, mailbox):
        self.log.append("started")
        try:
            async for message in mailbox:
                self.count += 1
                mailbox.reply(self.count)
        finally:
            self.log.append("normal")


class Pull(Base):
    def run(self, mailbox):
        self.log.append("started")
        try:
            while (message := mailbox.recv()) is not None:
                self.count += 1
                mailbox.reply(self.count)
        finally:
            self.log.append("normal")


KINDS = pytest.mark.parametrize("kind", [Async, AsyncPull, Pull])


def virtual(kind, idle=IDLE):
    return iris.actor(type(kind.__name__, (kind,), {}), virtual=True, idle_timeout=idle)


@KINDS
def test_it_is_made_by_a_message_and_put_away_when_idle(system, kind):
    log = []
    ref = system.spawn(virtual(kind), log)
    time.sleep(2 * IDLE)
    assert log == [] and ref.alive and system.mailbox_size(ref) is None
    for _ in range(3):
        assert [ref.ask_sync(1, timeout=10) for _ in range(3)] == [1, 2, 3]
        assert system.mailbox_size(ref) == 0
        wait_until(lambda: system.mailbox_size(ref) is None)
        assert log == ["made", "started", "normal"]
        log.clear()
    ref.stop()
    assert ref.join(10).kind == "normal" and log == []


@KINDS
def test_an_instance_that_is_put_away_is_freed(system, kind):
    seen = []

    class Watched(kind):
        def __init__(self):
            super().__init__([])
            seen.append(weakref.ref(self))

    ref = system.spawn(virtual(Watched))
    assert ref.ask_sync(1, timeout=10) == 1
    wait_until(lambda: system.mailbox_size(ref) is None)
    gc.collect()
    assert seen[0]() is None


@KINDS
def test_no_message_is_lost_while_it_comes_and_goes(system, kind):
    """Messages from two threads, at intervals about the idle time."""
    got = []

    class Keeps(kind):
        async def receive(self, message):
            got.append(message)

        if kind is AsyncPull:

            async def run(self, mailbox):
                async for message in mailbox:
                    got.append(message)

        if kind is Pull:

            def run(self, mailbox):
                while (message := mailbox.recv()) is not None:
                    got.append(message)

    if kind is not Async:
        del Keeps.receive
    log, together = [], threading.Barrier(2)
    ref = system.spawn(iris.actor(Keeps, virtual=True, idle_timeout=0.001), log)

    def send(first):
        for number in range(first, 600, 2):
            assert ref.send(number)
            time.sleep(0.0009 + (number % 3) * 0.0002)
            if number % 30 < 2:
                together.wait(20)
                time.sleep(0.01)

    threads = [threading.Thread(target=send, args=(first,)) for first in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: len(got) == 600)
    assert sorted(got) == list(range(600))
    assert [n for n in got if n % 2] == list(range(1, 600, 2))
    assert 5 < log.count("made")


@KINDS
def test_an_exit_ends_it_asleep_and_awake(system, kind):
    for awake in (False, True):
        log = []
        ref = system.spawn(virtual(kind, idle=None if awake else IDLE), log)
        if awake:
            assert ref.ask_sync(1, timeout=10) == 1
        ref.exit("because")
        assert ref.join(10).kind == "error" and bool(log) == awake
    parent = system.spawn(lambda message: None)
    child = system.spawn(virtual(kind), [], parent=parent)
    parent.stop()
    assert child.join(10).kind == "shutdown"


@KINDS
def test_one_that_cannot_be_made_ends(system, kind):
    class Bad(kind):
        def __init__(self):
            1 / 0

    ref = system.spawn(virtual(Bad))
    with pytest.raises(ZeroDivisionError):
        ref.ask_sync(1, timeout=10)
    assert isinstance(ref.join(10).exception, ZeroDivisionError)


@KINDS
def test_a_swap_stays_and_a_rollback_is_virtual_again(system, kind):
    class Next(kind):
        def code_change(self, old):
            self.count = 100 + getattr(old, "count", 0)

    log = []
    ref = system.spawn(virtual(kind), log)
    assert ref.ask_sync(1, timeout=10) == 1
    assert system.hot_swap(ref, Next, []) == 2
    assert ref.ask_sync(1, timeout=10) == 102
    time.sleep(3 * IDLE)
    assert ref.ask_sync(1, timeout=10) == 103
    assert ref.rollback() == 1
    log.clear()
    assert ref.ask_sync(1, timeout=10) == 1 and log == ["made", "started"]
    wait_until(lambda: system.mailbox_size(ref) is None)
    sleeping = system.spawn(virtual(kind), log)
    assert system.hot_swap(sleeping, Next, []) == 2
    assert sleeping.ask_sync(1, timeout=10) == 101


def test_its_own_time_outs_do_not_keep_it_awake_but_messages_do(system):
    turns = []

    @iris.actor(pull=True, virtual=True, idle_timeout=0.1)
    def impatient(mailbox):
        while True:
            turns.append(mailbox.recv(timeout=0.01))

    ref = system.spawn(impatient)
    for _ in range(8):
        assert ref.send("here")
        time.sleep(0.03)
    assert system.mailbox_size(ref) is not None
    wait_until(lambda: system.mailbox_size(ref) is None)
    assert turns.count("here") == 8 and turns.count(None) > 8


def test_what_a_selective_receive_passed_over_keeps_it_awake(system):
    got = []

    @iris.actor(pull=True, virtual=True, idle_timeout=IDLE)
    def chooses(mailbox):
        got.append(mailbox.selective_recv(lambda message: message == "second"))
        got.append(mailbox.recv())
        mailbox.recv()

    ref = system.spawn(chooses)
    ref.send("first")
    time.sleep(3 * IDLE)
    assert system.mailbox_size(ref) is not None
    ref.send("second")
    wait_until(lambda: got == ["second", "first"])
    wait_until(lambda: system.mailbox_size(ref) is None)


def test_one_whose_code_returns_ends(system):
    ref = system.spawn(iris.actor(lambda mailbox: mailbox.recv(), pull=True, virtual=True))
    assert ref.alive and ref.send(None)
    assert ref.join(10).kind == "normal"


def test_thousands_sleep_and_wake(system):
    done = []

    @iris.actor(virtual=True, idle_timeout=IDLE)
    async def handler(message):
        await asyncio.sleep(0)
        done.append(message)

    refs = [system.spawn(handler) for _ in range(2000)]
    for times in (1, 2):
        for ref in refs:
            assert ref.send(1)
        wait_until(lambda: len(done) == times * 2000)
        wait_until(lambda: all(system.mailbox_size(ref) is None for ref in refs), "all asleep")
    assert len(done) == 4000
