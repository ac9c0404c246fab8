"""Requests and selective receive: a request that is passed over is answered when it is received, not before, and nobody else's reply reaches it.
Every kind of mailbox, with requests and messages in orders that are drawn at random."""

import asyncio
import random
import threading

import pytest

import iris

KINDS = ("pull", "thread", "async")


def spawn(system, kind, body, **options):
    """An actor whose `body(recv, select, mailbox)` is a coroutine; kinds without a loop run it to its end without one."""
    if kind == "async":

        class Waiting:
            async def run(self, mailbox):
                await body(mailbox.recv, mailbox.selective_recv, mailbox)

        return system.spawn(iris.actor(**options)(Waiting))

    def run(mailbox):
        async def recv(*args, **kwargs):
            return mailbox.recv(*args, **kwargs)

        async def select(*args, **kwargs):
            return mailbox.selective_recv(*args, **kwargs)

        steps = body(recv, select, mailbox)
        try:
            steps.send(None)
        except StopIteration:
            return
        raise AssertionError("it waited for something else")

    return system.spawn(iris.actor(pull=True, thread=kind == "thread", **options)(run))


def asking(ref, message, into):
    """Asks from a thread of its own; what came of it is `into[message]`."""

    def run():
        try:
            into[message] = ref.ask_sync(message, timeout=20)
        except BaseException as error:
            into[message] = error

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def until(ref, count):
    while ref.mailbox_size < count:
        pass


@pytest.mark.parametrize("kind", KINDS)
def test_every_request_gets_its_own_answer_in_whatever_order_they_are_taken(system, kind):
    for seed in range(20):
        draw = random.Random(seed)
        order = list(range(8))
        draw.shuffle(order)
        begin = threading.Event()
        told = []

        async def body(recv, select, mailbox):
            begin.wait(20)
            for number in order:
                message = await select(lambda message: message == number)
                told.append((message, mailbox.reply(message * 10)))

        ref = spawn(system, kind, body)
        answers, threads = {}, []
        for number in range(8):
            if draw.random() < 0.6:
                threads.append(asking(ref, number, answers))
            else:
                ref.send(number)
        if kind != "async":
            until(ref, 8)
        begin.set()
        for thread in threads:
            thread.join(30)
        assert ref.join(20).kind == "normal", seed
        assert answers == {number: number * 10 for number in answers}, seed
        assert told == [(number, number in answers) for number in order], seed


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_that_was_passed_over_comes_with_the_next_receive(system, kind):
    async def body(recv, select, mailbox):
        await select(lambda message: message == "signal")
        assert not mailbox.reply("to nobody")
        assert await recv() == "question"
        assert mailbox.reply("answer")
        assert not mailbox.reply("twice")

    ref = spawn(system, kind, body)
    answers = {}
    thread = asking(ref, "question", answers)
    while ref.mailbox_size == 0 and system.actors()[0]["processed"] == 0:
        pass
    ref.send("signal")
    thread.join(30)
    assert answers == {"question": "answer"}
    assert ref.join(20).kind == "normal"


@pytest.mark.parametrize("kind", KINDS)
def test_looking_in_vain_keeps_the_request_that_is_being_handled(system, kind):
    async def body(recv, select, mailbox):
        assert await recv() == "question"
        assert await select(lambda message: False, timeout=0.05) is None
        assert mailbox.reply("late")

    ref = spawn(system, kind, body)
    ref_answers = {}
    thread = asking(ref, "question", ref_answers)
    ref.send("noise")
    thread.join(30)
    if isinstance(ref_answers["question"], BaseException):
        # The noise came first: then the actor has failed at its first line.
        assert ref.exit_reason is not None
    else:
        assert ref_answers == {"question": "late"}


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_passed_over_by_an_actor_that_ends_hears_of_it(system, kind):
    async def body(recv, select, mailbox):
        await select(lambda message: message == "end")

    ref = spawn(system, kind, body)
    answers = {}
    thread = asking(ref, "question", answers)
    while ref.mailbox_size == 0 and system.actors()[0]["processed"] == 0:
        pass
    ref.send("end")
    thread.join(30)
    assert isinstance(answers["question"], iris.NoReply)
    assert ref.join(20).kind == "normal"
    assert system.metrics()["dead_letters"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_matcher_that_raises_loses_no_message(system, kind):
    got = []

    async def body(recv, select, mailbox):
        try:
            await select(lambda message: 1 / 0)
        except ZeroDivisionError:
            got.append(await recv())
            mailbox.reply("after all")

    ref = spawn(system, kind, body)
    assert ref.ask_sync("question", timeout=20) == "after all"
    assert got == ["question"]


def test_an_async_push_actor_answers_what_a_look_passed_over(system):
    async def double(message):
        return message * 2

    ref = system.spawn(double)

    async def ask_all():
        return await asyncio.gather(*(ref.ask(number, timeout=20) for number in range(50)))

    assert asyncio.run(ask_all()) == [number * 2 for number in range(50)]
