"""The compatible surface, method by method."""

import asyncio
import threading
import time

import pytest

import iris
from conftest import wait_until


def test_handlers_get_bytes_in_order(runtime):
    got = []
    pid = runtime.spawn(got.append)
    assert isinstance(pid, int) and pid >> 32 >= 1
    for i in range(1000):
        assert runtime.send(pid, i.to_bytes(4, "big"))
    wait_until(lambda: len(got) == 1000)
    assert got == [i.to_bytes(4, "big") for i in range(1000)]
    assert runtime.send(pid, bytearray(b"copy")) and runtime.send(pid, memoryview(b"view"))
    wait_until(lambda: len(got) == 1002)
    assert got[-2:] == [b"copy", b"view"] and all(type(message) is bytes for message in got)
    with pytest.raises(TypeError, match="must be bytes"):
        runtime.send(pid, "text")
    with pytest.raises(TypeError, match="callable"):
        runtime.spawn(7)


def test_send_to_nobody_is_false(runtime):
    pid = runtime.spawn(lambda message: None)
    assert runtime.is_alive(pid) and runtime.mailbox_size(pid) == 0
    runtime.stop(pid)
    assert runtime.join(pid, timeout=10)
    assert not runtime.is_alive(pid) and runtime.mailbox_size(pid) is None
    assert not runtime.send(pid, b"x") and not runtime.send(12345 << 32, b"x")


@pytest.mark.parametrize("release_gil", [False, True])
def test_both_kinds_of_threads(runtime, release_gil):
    names = set()
    pid = runtime.spawn(lambda message: names.add(threading.current_thread().ident), 10, release_gil)
    runtime.send(pid, b"x")
    wait_until(lambda: names)
    assert threading.get_ident() not in names
    other = runtime._inner.spawn_py_handler(lambda message: names.add("inner"), 10, release_gil)
    runtime.send(other, b"x")
    wait_until(lambda: "inner" in names)


def test_release_gil_limits(runtime):
    runtime.set_release_gil_limits(1, 1)
    runtime.spawn(lambda message: None, release_gil=True)
    runtime.spawn(lambda message: None, release_gil=True)
    runtime.set_release_gil_strict(True)
    with pytest.raises(RuntimeError, match="limit"):
        runtime.spawn(lambda message: None, release_gil=True)
    with pytest.raises(ValueError):
        runtime.set_release_gil_limits(0, 1)


def test_release_gil_pool_size(runtime):
    runtime.set_release_gil_limits(3, 2)
    lock, now, most, left = threading.Lock(), 0, 0, 12

    def handler(message):
        nonlocal now, most, left
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
            left -= 1

    for _ in range(12):
        runtime.send(runtime.spawn(handler, release_gil=True), b"x")
    wait_until(lambda: left == 0)
    assert most <= 3, "two threads at a time, and one that stands in for a blocked one"
    assert runtime.metrics()["threads"]["release-gil"] <= 3


def hold(runtime, capacity, policy=None, target=None):
    """A bounded actor whose handler is held in its first message."""
    entered, release, got = threading.Event(), threading.Event(), []

    def handler(message):
        got.append(message)
        entered.set()
        release.wait(20)

    pid = runtime.spawn_py_handler_bounded(handler, 10, capacity)
    if policy:
        runtime.set_overflow_policy(pid, policy, target)
    assert runtime.send(pid, b"first")
    assert entered.wait(20)
    return pid, release, got


def test_bounded_mailboxes(runtime):
    pid, release, got = hold(runtime, 2)
    assert runtime.send(pid, b"1") and runtime.send(pid, b"2") and not runtime.send(pid, b"3")
    assert runtime.mailbox_size(pid) == 2
    release.set()
    wait_until(lambda: got == [b"first", b"1", b"2"])

    pid, release, got = hold(runtime, 2, "dropold")
    assert all(runtime.send(pid, b"%d" % i) for i in range(4))
    release.set()
    wait_until(lambda: got == [b"first", b"2", b"3"])


@pytest.mark.parametrize("policy", ["redirect", "spill"])
def test_overflow_to_a_target(runtime, policy):
    spare = runtime.spawn_observed_handler(10)
    pid, release, got = hold(runtime, 1, policy, spare)
    assert all(runtime.send(pid, b"%d" % i) for i in range(3))
    wait_until(lambda: runtime._inner.get_messages(spare) == [b"1", b"2"])
    release.set()
    wait_until(lambda: got == [b"first", b"0"])


def test_block_waits_without_the_gil(runtime):
    pid, release, got = hold(runtime, 1, "block")
    assert runtime.send(pid, b"0")
    sent = threading.Event()
    thread = threading.Thread(target=lambda: (runtime.send(pid, b"1"), sent.set()))
    thread.start()
    assert not sent.wait(0.05)
    release.set()
    assert sent.wait(20)
    thread.join()
    wait_until(lambda: got == [b"first", b"0", b"1"])


def test_wrong_policies(runtime):
    pid = runtime.spawn_py_handler_bounded(lambda message: None, 10, 1)
    for policy in ("redirect", "spill", "nonsense"):
        with pytest.raises(ValueError):
            runtime.set_overflow_policy(pid, policy)


def test_virtual_actors(runtime):
    got = []
    pid = runtime.spawn_virtual(got.append, 10, 20)
    assert runtime.is_alive(pid) and runtime.mailbox_size(pid) is None
    runtime.send(pid, b"wake")
    wait_until(lambda: got == [b"wake"])
    wait_until(lambda: runtime.mailbox_size(pid) is None, "deactivation")
    runtime.send(pid, b"again")
    wait_until(lambda: got == [b"wake", b"again"])


def test_pull_actors(runtime):
    got = []

    def actor(mailbox):
        assert isinstance(mailbox, iris.PyMailbox)
        got.append(mailbox.selective_recv(lambda message: message == b"now"))
        got.append(mailbox.recv())
        got.append(mailbox.recv(timeout=0.01))
        while (message := mailbox.recv()) is not None:
            got.append(message)

    pid = runtime.spawn_with_mailbox(actor)
    runtime.send(pid, b"later")
    runtime.send(pid, b"now")
    wait_until(lambda: got == [b"now", b"later", None])
    runtime.send(pid, b"end")
    wait_until(lambda: got[-1] == b"end")
    runtime.stop(pid)
    assert runtime.join(pid, 10)
    quick = runtime.spawn_with_mailbox(lambda mailbox: None)
    assert runtime.join(quick, 10), "the actor ends when its function returns"


def test_children_end_with_their_parent(runtime):
    parent = runtime.spawn(lambda message: None)
    children = runtime.spawn_child_pool(parent, lambda message: None, 3)
    children.append(runtime.spawn_child(parent, lambda message: None))
    children.append(runtime.spawn_child_with_mailbox(parent, lambda mailbox: mailbox.recv()))
    assert all(map(runtime.is_alive, children))
    runtime.stop(parent)
    wait_until(lambda: not any(map(runtime.is_alive, children)))
    with pytest.raises(RuntimeError, match="parent"):
        runtime.spawn_child(parent, lambda message: None)


def test_timers(runtime):
    got = []
    pid = runtime.spawn(got.append)
    runtime.send_after(pid, 5, b"once")
    interval = runtime.send_interval(pid, 2, b"tick")
    never = runtime.send_after(pid, 60_000, b"never")
    assert runtime.cancel_timer(never) and not runtime.cancel_timer(never)
    wait_until(lambda: b"once" in got and got.count(b"tick") > 3)
    assert runtime.cancel_timer(interval)
    seen = got.count(b"tick")
    time.sleep(0.03)
    assert got.count(b"tick") <= seen + 1


def test_names_and_paths(runtime):
    got = []
    pid = runtime.spawn(got.append)
    runtime.register("service", pid)
    assert runtime.resolve("service") == runtime.whereis("service") == pid
    assert runtime.send_named("service", b"x") and not runtime.send_named("nobody", b"x")
    runtime.register_path("/svc/payment/one", pid)
    runtime.register_path("/svc/payment", pid)
    assert runtime.whereis_path("/svc/payment/one") == pid
    assert runtime.list_children("/svc") == [("/svc/payment", pid), ("/svc/payment/one", pid)]
    assert runtime.list_children_direct("/svc") == [("/svc/payment", pid)]
    observer = runtime.spawn_with_path_observed(10, "/svc/watch")
    assert runtime.whereis_path("/svc/watch") == observer
    runtime.unregister_path("/svc/payment")
    runtime.unregister("service")
    assert runtime.whereis("service") is None and runtime.whereis_path("/svc/payment") is None
    runtime.stop(pid)
    wait_until(lambda: runtime.whereis_path("/svc/payment/one") is None, "removal on death")


def test_observers_and_selective_receive(runtime):
    pid = runtime.spawn_observed_handler(10)
    runtime.send(pid, b"a")
    runtime.send(pid, b"b")
    wait_until(lambda: runtime.get_messages(pid) == [b"a", b"b"])
    assert runtime.selective_recv_blocking(pid, lambda message: message == b"b") == b"b"
    assert runtime.selective_recv_blocking(pid, lambda message: message == b"b", 0.01) is None

    async def select():
        wanted = asyncio.ensure_future(runtime.selective_recv(pid, lambda message: message == b"c", 10))
        await asyncio.sleep(0.01)
        runtime.send(pid, b"c")
        return await wanted

    assert asyncio.run(select()) == b"c"
    other = runtime.spawn(lambda message: None)
    runtime.link(other, pid)
    runtime._inner.exit(other, "kill")
    wait_until(lambda: any(isinstance(message, iris.PySystemMessage) for message in runtime.get_messages(pid)))
    message = runtime.get_messages(pid)[-1]
    assert (message.type_name, message.from_pid, message.target_pid) == ("EXIT", other, pid)
    with pytest.raises(ValueError, match="observed"):
        runtime.get_messages(other)


def test_hot_swap_and_rollback(runtime):
    got = []
    pid = runtime.spawn(lambda message: got.append((1, message)))
    assert runtime.behavior_version(pid) == 1
    for version in range(2, 20):
        runtime.send(pid, b"%d" % (version - 1))
        runtime.hot_swap(pid, lambda message, version=version: got.append((version, message)))
    assert runtime.behavior_version(pid) == 19
    with pytest.raises(RuntimeError, match="too short"):
        runtime.rollback_behavior(pid, 17)
    assert runtime.rollback_behavior(pid) == 18
    assert runtime.rollback_behavior(pid, 3) == 15
    runtime.send(pid, b"15")
    wait_until(lambda: len(got) == 19)
    assert all(b"%d" % version == message for version, message in got)


def test_swaps_from_two_threads(runtime):
    seen = []
    pid = runtime.spawn(lambda message: None)

    def swap():
        for _ in range(500):
            runtime.hot_swap(pid, lambda message: seen.append(message))

    threads = [threading.Thread(target=swap) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert runtime.behavior_version(pid) == 1001
    runtime.send(pid, b"x")
    wait_until(lambda: seen == [b"x"])


def test_supervision_with_factories(runtime):
    starts, got = [], []

    def handler(message):
        if message == b"crash":
            raise ValueError("crash")
        got.append(message)

    def factory():
        pid = runtime.spawn(handler)
        starts.append(pid)
        return pid

    first = runtime.spawn(handler)
    runtime.supervise_with_factory(first, factory, "restart_one")
    assert runtime.children_count() == 1 and runtime.child_pids() == [first]
    runtime.send(first, b"crash")
    wait_until(lambda: len(starts) == 1)
    wait_until(lambda: runtime.child_pids() == starts)
    runtime.send(starts[0], b"fine")
    wait_until(lambda: got == [b"fine"])
    assert runtime.exit_reason(first).kind == "exception"
    with pytest.raises(ValueError, match="strategy"):
        runtime.watch(first, "nonsense")


def test_path_supervisors(runtime):
    made = []

    def factory():
        made.append(runtime.spawn(lambda message: 1 / 0))
        return made[-1]

    runtime.create_path_supervisor("/svc")
    one, two = factory(), factory()
    runtime.path_supervise_with_factory("/svc", one, factory, "restart_all")
    runtime.path_supervise_with_factory("/svc", two, factory, "restart_all")
    watched = runtime.spawn(lambda message: None)
    runtime.path_supervisor_watch("/svc", watched)
    assert runtime.path_supervisor_children("/svc") == sorted([one, two, watched])
    assert runtime.children_count() == 0
    runtime.send(one, b"x")
    wait_until(lambda: len(made) == 4)
    assert not runtime.is_alive(two), "restart_all takes the others down as well"
    assert runtime.remove_path_supervisor("/svc")
    assert runtime.is_alive(watched) and runtime.path_supervisor_children("/svc") == []


def test_buffers(runtime):
    got = []
    pid = runtime.spawn(got.append)
    number, view, owner = iris.allocate_buffer(5)
    view[:] = b"hello"
    assert runtime.send_buffer(pid, number)
    wait_until(lambda: got == [b"hello"])
    with pytest.raises(ValueError):
        runtime.send_buffer(pid, number)
    del owner
    assert bytes(view) == b"hello", "a view outlives everything else"
    lost = iris.allocate_buffer(5)[0]
    with pytest.raises(ValueError):
        runtime.send_buffer(pid, lost)


def test_remote_methods_say_that_they_are_not_there(runtime):
    for call in (
        lambda: runtime.listen("127.0.0.1:1"),
        lambda: runtime.resolve_remote("127.0.0.1:1", "x"),
        lambda: runtime.is_node_up("127.0.0.1:1"),
        lambda: runtime.send_remote("127.0.0.1:1", 1, b""),
        lambda: runtime.monitor_remote("127.0.0.1:1", 1),
        lambda: asyncio.run(runtime.resolve_remote_py("127.0.0.1:1", "x")),
    ):
        with pytest.raises(NotImplementedError, match="not there yet"):
            call()


def test_stop_and_version():
    assert iris.version().count(".") == 2
    runtime = iris.Runtime()
    runtime.spawn(lambda message: None)
    assert runtime.stop()["complete"]
    assert runtime.join(timeout=1)
    with pytest.raises(RuntimeError, match="stopping"):
        runtime.spawn(lambda message: None)
