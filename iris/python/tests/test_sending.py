"""What a send says, on the modern surface: accepted, full, nobody there. The compatible surface says True and False."""

import asyncio
import copy
import pickle
import threading

import pytest

import iris
from conftest import wait_until
from iris import Sent


def nothing(message):
    pass


@pytest.fixture
def full(system):
    """An actor that handles one message for as long as the test wants, and has no room for another."""
    busy, go_on = threading.Event(), threading.Event()

    def handler(message):
        if message == "stay":
            busy.set()
            go_on.wait(60)

    ref = system.spawn(iris.actor(handler, capacity=1, release_gil=True))
    assert ref.send("stay")
    assert busy.wait(10)
    assert ref.send("takes the place") is Sent.ACCEPTED
    yield ref
    go_on.set()


def test_a_send_says_what_happened(system, full):
    ref = system.spawn(nothing, name="somebody")
    assert ref.send(1) is Sent.ACCEPTED and system.send("somebody", 1) is Sent.ACCEPTED
    assert full.send(1) is Sent.FULL and system.send(full, 1) is Sent.FULL
    assert full.send_many([1, 2]) == 0
    ref.stop()
    wait_until(lambda: not ref.alive)
    assert ref.send(1) is Sent.NO_PROCESS
    for nobody in (ref, ref.pid, "somebody", "/some/where"):
        assert system.send(nobody, 1) is Sent.NO_PROCESS


def test_policies_that_find_room_accept(system, full):
    sink = system.spawn(nothing)
    for policy, target in [("dropold", None), ("redirect", sink), ("spill", sink)]:
        full.bound(1, policy, target)
        assert full.send("more") is Sent.ACCEPTED
    sink.stop()
    wait_until(lambda: not sink.alive)
    full.bound(1, "redirect", sink)
    assert not full.send("nowhere to go")


def test_what_a_send_says_is_one_of_five_objects():
    everything = list(Sent)
    assert everything == [Sent.ACCEPTED, Sent.FULL, Sent.NO_PROCESS, Sent.BUSY, Sent.NO_CONNECTION] and Sent.FULL != Sent.NO_PROCESS
    assert Sent.ACCEPTED == True and Sent.FULL == False and sum(everything) == 1  # noqa: E712
    assert [bool(sent) for sent in everything] == [True, False, False, False, False]
    assert [sent.name for sent in everything] == ["ACCEPTED", "FULL", "NO_PROCESS", "BUSY", "NO_CONNECTION"]
    assert repr(Sent.FULL) == "Sent.FULL" and str(Sent.FULL) == "refused: the mailbox is full"
    assert str(Sent.NO_PROCESS) == f"{Sent.NO_PROCESS}" == "refused: no such actor" and len(set(everything)) == 5
    for sent in everything:
        assert pickle.loads(pickle.dumps(sent)) is sent is copy.deepcopy(sent)
    match Sent.FULL:
        case Sent.ACCEPTED | Sent.NO_PROCESS:
            raise AssertionError
        case Sent.FULL:
            pass


def test_refused_requests_say_why(system, full):
    ended = system.spawn(nothing)
    ended.stop()
    wait_until(lambda: not ended.alive)

    @iris.actor(pull=True)
    def asks(mailbox):
        mailbox.ask(mailbox.recv(), 1)

    for ref, why in [(full, "full"), (ended, "no such actor")]:
        with pytest.raises(iris.NoReply, match=why):
            ref.ask_sync(1)

        async def ask():
            await ref.ask(1)

        with pytest.raises(iris.NoReply, match=why):
            asyncio.run(ask())
        pull = system.spawn(asks)
        pull.send(ref)
        wait_until(lambda: not pull.alive)
        assert why in pull.exit_reason.message


def test_the_compatible_surface_says_true_and_false(runtime):
    pid = runtime.spawn(nothing)
    assert runtime.send(pid, b"1") is True
    assert runtime.send(pid + 1, b"1") is False and runtime.send_named("nobody", b"1") is False
