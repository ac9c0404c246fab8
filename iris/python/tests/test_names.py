"""Names and paths belong to one living actor: whatever door they are given by, nobody loses one unasked, and an end frees them."""

import threading

import pytest

import iris
from conftest import wait_until


def _idle(message):
    return message


# How an actor gets a name or a path: by the system, at its spawn. Each gets the system and the name and returns whose it is.
def _registered(system, name):
    ref = system.spawn(_idle)
    assert system.register(name, ref)
    return ref.pid


def _at_path(system, name):
    ref = system.spawn(_idle)
    assert system.register_path(f"/names/{name}", ref)
    return ref.pid


DOORS = {
    "register": (_registered, False),
    "spawn name": (lambda system, name: system.spawn(_idle, name=name).pid, False),
    "register_path": (_at_path, True),
    "spawn path": (lambda system, name: system.spawn(_idle, path=f"names//{name}/").pid, True),
    "observer": (lambda system, name: system.spawn_with_path_observed(10, f"/names/{name}"), True),
}


def _whose(system, name, path):
    return system.whereis_path(f"/names/{name}") if path else system.whereis(name)


@pytest.mark.parametrize("first", DOORS)
@pytest.mark.parametrize("second", DOORS)
def test_no_door_takes_a_name_from_who_lives(first, second):
    (give, path), (again, other) = DOORS[first], DOORS[second]
    with iris.System() as system:
        owner = give(system, "one")
        if path != other:
            # A name is no path.
            assert again(system, "one") != owner == _whose(system, "one", path)
            return
        with pytest.raises(ValueError, match=f"belongs to the actor {owner}"):
            again(system, "one")
        assert _whose(system, "one", path) == owner and system.is_alive(owner)
        system.exit(owner, "kill")
        assert system.join(owner, 10)
        assert again(system, "one") != owner


def test_a_name_is_taken_by_whoever_says_so():
    with iris.System() as system:
        one, two = system.spawn(_idle, name="one", path="/one"), system.spawn(_idle)
        assert system.register("one", one) and system.register_path("one", one), "its own it may have again"
        assert system.register("one", two, replace=True) and system.register_path("/one", two, replace=True)
        assert system.whereis("one") == system.whereis_path("/one") == two.pid and one.alive
        one.exit("kill")
        assert one.join(10) and system.whereis("one") == two.pid
        two.exit("kill")
        assert two.join(10) and system.whereis("one") is None
        assert system.register("one", two, replace=True) is False, "the dead get none"


def test_a_refused_spawn_leaves_no_actor():
    with iris.System() as system:
        system.spawn(_idle, name="one")
        before = system.actor_count()
        for kind in (_idle, iris.actor(lambda mailbox: mailbox.recv(), pull=True)):
            with pytest.raises(ValueError):
                system.spawn(kind, name="one")
        assert system.actor_count() == before


def test_of_many_that_want_a_name_one_has_it():
    with iris.System() as system:
        for turn in range(50):
            refused, begin = [], threading.Barrier(4)

            def want():
                begin.wait()
                try:
                    system.spawn(_idle, name=f"name {turn}")
                except ValueError:
                    refused.append(1)

            threads = [threading.Thread(target=want) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            assert len(refused) == 3
        wait_until(lambda: system.actor_count() == 50)


def test_a_restarted_child_has_its_name_again_also_after_one_that_was_given_up():
    with iris.System() as system:
        inside, out = threading.Event(), threading.Event()

        class Named:
            def receive(self, message):
                if message == "raise":
                    raise ValueError("told to")
                if message == "block":
                    inside.set()
                    out.wait()
                return message

        thread = iris.actor(Named, release_gil=True)
        supervisor = system.supervise(iris.Supervisor("one_for_one", [iris.Child("one", thread, kwargs={"name": "one"}, shutdown=0)]))
        try:
            first = supervisor.child("one")
            first.send("raise")
            wait_until(lambda: system.whereis("one") not in (None, first.pid))
            second = supervisor.child("one")
            second.send("block")
            assert inside.wait(10)
            # The supervisor goes on without it after a moment, though its code waits where nobody can interrupt it.
            assert supervisor.terminate_child("one") and system.whereis("one") is None
            supervisor.restart_child("one")
            third = supervisor.child("one")
            assert third.pid == system.whereis("one") and third.ask_sync(5, timeout=10) == 5
        finally:
            out.set()


def test_a_name_is_free_at_once_when_its_end_is_told():
    with iris.System() as system:
        for _ in range(200):
            ref = system.spawn(_idle, name="again")
            ref.exit("kill")
            assert ref.join(10)
        assert system.whereis("again") is None
