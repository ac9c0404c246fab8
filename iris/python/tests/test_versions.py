"""Hot swap of every kind of actor: what was sent before runs on the old code, what comes after on the new; state moves along."""

import asyncio
import threading

import pytest

import iris
from conftest import wait_until

SENT = 200


def green(version, got):
    def main(mailbox):
        while (message := mailbox.recv()) is not None:
            got.append((message, version))

    return iris.actor(main, pull=True)


def threaded(version, got):
    return iris.actor(green(version, got), thread=True)


def async_pull(version, got):
    @iris.actor(pull=True)
    async def main(mailbox):
        async for message in mailbox:
            got.append((message, version))

    return main


def async_push(version, got):
    async def receive(message):
        if message % 7 == 0:
            await asyncio.sleep(0)
        got.append((message, version))

    return receive


def push(version, got):
    return lambda message: got.append((message, version))


@pytest.mark.parametrize("kind", [push, green, threaded, async_pull, async_push])
def test_swaps_and_rollbacks_are_in_order(system, kind):
    got, expected = [], []
    ref = system.spawn(kind(1, got))
    version = 1
    for number in range(SENT):
        ref.send(number)
        expected.append((number, version))
        if number % 10 == 9:
            version += 1
            assert system.hot_swap(ref, kind(version, got)) == version == ref.version
        if number % 50 == 49:
            version -= 3
            assert ref.rollback(3) == version == ref.version
    wait_until(lambda: len(got) == SENT)
    assert got == expected
    with pytest.raises(RuntimeError, match="too short"):
        ref.rollback(17)
    assert system.behavior_version(ref.pid) == version


class Pull:
    def __init__(self, name="one", total=0):
        self.name, self.total = name, total

    def run(self, mailbox):
        try:
            while (message := mailbox.recv()) is not None:
                self.total += message
                mailbox.reply((self.name, self.total))
        finally:
            self.cleaned = True

    def code_change(self, old):
        assert old.cleaned, "the old code has ended before its state is taken over"
        self.total = old.total


class Async(Pull):
    async def run(self, mailbox):
        try:
            async for message in mailbox:
                self.total += message
                mailbox.reply((self.name, self.total))
        finally:
            self.cleaned = True

    async def code_change(self, old):
        await asyncio.sleep(0)
        self.total = old.total


@pytest.mark.parametrize("cls", [Pull, iris.actor(type("Threaded", (Pull,), {}), thread=True), Async])
def test_state_moves_along_and_back(system, cls):
    ref = system.spawn(cls)
    assert ref.ask_sync(1, timeout=10) == ("one", 1)
    system.hot_swap(ref, cls, "two")
    assert ref.ask_sync(2, timeout=10) == ("two", 3)
    assert ref.rollback() == 1
    assert ref.ask_sync(3, timeout=10) == ("one", 6)
    assert ref.alive


def test_code_that_swallows_the_swap_gets_no_more_messages(system):
    attempts, got = [], []

    @iris.actor(pull=True)
    def stubborn(mailbox):
        while len(attempts) < 5:
            try:
                got.append(mailbox.recv())
            except BaseException as error:
                attempts.append(error)

    ref = system.spawn(stubborn)
    system.hot_swap(ref, green("new", got))
    ref.send(1)
    wait_until(lambda: not ref.alive)
    assert got == [] and all(isinstance(error, iris.Swapped) for error in attempts)


def test_a_failed_migration_ends_the_actor(system):
    class Bad(Pull):
        def code_change(self, old):
            raise KeyError("cannot")

    ref = system.spawn(Pull)
    system.hot_swap(ref, Bad)
    wait_until(lambda: not ref.alive)
    assert isinstance(ref.exit_reason.exception, KeyError)
    with pytest.raises(ValueError):
        system.hot_swap(ref, Pull)


def test_kinds_do_not_mix(system):
    pairs = [(push, green), (green, push), (green, async_pull), (async_push, green), (push, async_push)]
    for before, after in pairs:
        with pytest.raises(TypeError, match="actor, and the new code is for"):
            system.hot_swap(system.spawn(before(1, [])), after(2, []))
    both = system.spawn(async_push(1, []))
    assert system.hot_swap(both, async_pull(2, [])) == 2


def test_swaps_of_pull_actors_from_two_threads(system):
    got = []
    ref = system.spawn(green(1, got))
    seen = []

    def swapper():
        for _ in range(100):
            seen.append(system.hot_swap(ref, green(0, got)))

    threads = [threading.Thread(target=swapper) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(seen) == list(range(2, 202))
    ref.send(1)
    wait_until(lambda: got)
