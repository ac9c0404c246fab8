"""A spawn gives a reference or raises; one that raises leaves no actor. Generated: every kind of actor with everything that can be wrong."""

import pytest

import iris
from conftest import wait_until


class Push:
    def receive(self, message):
        return message


class Async:
    async def receive(self, message):
        return message


class Pull:
    def run(self, mailbox):
        while mailbox.recv() is not None:
            pass


class AsyncPull:
    async def run(self, mailbox):
        while await mailbox.recv() is not None:
            pass


def _function(message):
    return message


async def _coroutine(message):
    return message


def _pulling(mailbox):
    while mailbox.recv() is not None:
        pass


def _class(base, **options):
    """A fresh class, so that what a case does to it is its own."""

    def make():
        made = type(base.__name__, (base,), {})
        return iris.actor(made, **options) if options else made

    return make


def _marked(function, **options):
    def make():
        def call(message):
            return function(message)

        return iris.actor(call, **options)

    return make


KINDS = {
    "push class": _class(Push),
    "push class with options": _class(Push, trap_exit=True),
    "async class": _class(Async),
    "pull class": _class(Pull),
    "async pull class": _class(AsyncPull),
    "thread": _class(Pull, thread=True),
    "release_gil": _class(Push, release_gil=True),
    "context": _class(Push, context=True),
    "virtual": _class(Push, virtual=True),
    "virtual pull": _class(Pull, virtual=True),
    "virtual async": _class(Async, virtual=True),
    "function": lambda: _function,
    "coroutine function": lambda: _coroutine,
    "marked": _marked(_function, budget=5),
    "pull function": lambda: iris.actor(lambda mailbox: _pulling(mailbox), pull=True),
    "virtual function": _marked(_function, virtual=True),
}


def _raising(self, key, value):
    raise LookupError(f"no {key}")


def _options(make, foreign, **changed):
    """The same target with other options."""
    target = make()
    kept = dict(vars(getattr(target, "__iris__", iris.actors._DEFAULTS)))
    kept.update(changed)

    def call(argument):
        return argument

    return iris.actor(target if isinstance(target, type) else call, **kept)


# What is wrong with a spawn: what is spawned for it, and the arguments beside.
WRONG = {
    "name is a number": lambda make, foreign: (make(), {"name": 1}),
    "name is no text": lambda make, foreign: (make(), {"name": "\ud800"}),
    "name is taken": lambda make, foreign: (make(), {"name": "taken"}),
    "path is a number": lambda make, foreign: (make(), {"path": 1}),
    "path is no text": lambda make, foreign: (make(), {"path": "/a/\udcff"}),
    "path is taken": lambda make, foreign: (make(), {"path": "taken"}),
    "parent is elsewhere": lambda make, foreign: (make(), {"parent": foreign}),
    "parent is no pid": lambda make, foreign: (make(), {"parent": "somebody"}),
    "parent is negative": lambda make, foreign: (make(), {"parent": -1}),
    "link is elsewhere": lambda make, foreign: (make(), {"link": foreign}),
    "link is too large": lambda make, foreign: (make(), {"link": 1 << 64}),
    "monitor is elsewhere": lambda make, foreign: (make(), {"monitor": foreign}),
    "monitor is negative": lambda make, foreign: (make(), {"monitor": -1}),
    "an argument too many": lambda make, foreign: (make(), {"nobody_takes_this": 1}),
    "target elsewhere": lambda make, foreign: (_options(make, foreign, capacity=1, overflow="redirect", overflow_target=foreign), {}),
    "target is no pid": lambda make, foreign: (_options(make, foreign, capacity=1, overflow="spill", overflow_target="x"), {}),
    "capacity is no number": lambda make, foreign: (_options(make, foreign, capacity="x", overflow="block"), {}),
    "capacity is negative": lambda make, foreign: (_options(make, foreign, capacity=-1), {}),
    "budget is no number": lambda make, foreign: (_options(make, foreign, budget="many"), {}),
    "the object takes no attributes": lambda make, foreign: (_closed(make()), {}),
}

# Where there is no such wrong thing, or it is not looked at, because the kind has no use for it.
UNUSED = {
    "budget is no number": ("async", "pull", "thread", "coroutine"),
    "an argument too many": ("virtual",),
    "the object takes no attributes": ("virtual", "function", "marked"),
}
CASES = [(wrong, kind) for wrong in WRONG for kind in KINDS if not any(part in kind for part in UNUSED.get(wrong, ()))]


def _closed(target):
    target.__setattr__ = _raising
    return target


@pytest.mark.parametrize("wrong, kind", CASES)
def test_a_spawn_that_raises_leaves_no_actor(kind, wrong):
    with iris.System() as other, iris.System() as system:
        foreign = other.spawn(_function)
        system.spawn(_function, name="taken", path="/taken")
        target, arguments = WRONG[wrong](KINDS[kind], foreign)
        with pytest.raises(Exception) as told:
            system.spawn(target, **arguments)
        assert not isinstance(told.value, RuntimeError), told.value
        wait_until(lambda: system.actor_count() == 1, "no actor but the first", timeout=10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_spawn_with_all_that_is_right_works(kind):
    with iris.System() as system:
        beside = [system.spawn(iris.actor(lambda message: message, trap_exit=True)) for _ in range(3)]
        ref = system.spawn(KINDS[kind](), name="one", path="/one", parent=beside[0], link=beside[1], monitor=beside[2])
        assert ref.alive and system.whereis("one") == system.whereis_path("/one") == ref.pid
        ref.exit("kill")
        assert ref.join(20) is not None
