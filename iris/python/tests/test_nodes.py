"""Nodes in Python: two processes on loopback without Erlang, what peers can do to a node, and what an Erlang node does (skipped, and said so,
where `erl` and `epmd` are missing)."""

import asyncio
import gc
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest

import iris
from iris import Atom, Bits, Function, ImproperList, Pairs

from conftest import wait_until

HERE = pathlib.Path(__file__).parent
COOKIE = "a secret"
PATIENCE = 20.0


class Peer:
    """Another process with a node."""

    def __init__(self, name="peer@127.0.0.1", cookie=COOKIE, epmd=None):
        self.name = name
        command = [sys.executable, str(HERE / "peer_node.py"), name, cookie, *([epmd] if epmd else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def node(system):
    made = iris.Node(system, "here@127.0.0.1", COOKIE, epmd=None)
    yield made
    made.close()


@pytest.fixture
def peer(node):
    made = Peer()
    node.add_peer(made.name, made.port)
    yield made
    made.end()


class Collecting:
    def __init__(self):
        self.got = []

    def receive(self, message):
        if message == "got":
            return list(self.got)
        self.got.append(message)


def collector(system):
    """An actor that keeps what it gets, and its list."""
    kept = []

    def collect(message):
        kept.append(message)

    return system.spawn(collect), kept


# ---- calls, casts, sends ----


def test_two_nodes_call_cast_and_send(node, peer):
    counter = node.ref("counter", peer.name)
    assert counter.ask_sync(Atom("read"), timeout=PATIENCE) == 0
    assert counter.cast(5) and counter.send(6)
    assert counter.send(7) is iris.Sent.ACCEPTED
    assert counter.ask_sync((Atom("add"), 1), timeout=PATIENCE) == 19
    assert node.nodes() == [peer.name]
    pulling = node.ref("pulling", peer.name)
    assert pulling.ask_sync(1, timeout=PATIENCE) == (Atom("pulled"), 1)
    odd = node.ref("odd 'näme' {x}", peer.name)
    assert odd.ask_sync(Atom("read"), timeout=PATIENCE) == 0


def test_asking_from_coroutines_green_threads_and_handlers(system, node, peer):
    echo = node.ref("echo", peer.name)

    async def many():
        return await asyncio.gather(*(echo.ask(number, timeout=PATIENCE) for number in range(500)))

    assert asyncio.run(many()) == list(range(500))

    @iris.actor(pull=True)
    def green(mailbox):
        mailbox.reply(mailbox.ask(echo, mailbox.recv(), timeout=PATIENCE))

    async def loop(message):
        return await echo.ask(message, timeout=PATIENCE)

    for target in (green, loop, lambda message: echo.ask_sync(message, timeout=PATIENCE)):
        assert system.spawn(target).ask_sync([1, b"x"], timeout=PATIENCE) == [1, b"x"]


def test_the_first_words_of_an_event_loop_keep_their_order(system, node, peer):
    checker = node.ref("checker", peer.name)

    async def first(count):
        for number in range(1, count + 1):
            assert checker.send(number)
        return await checker.ask(Atom("state"), timeout=PATIENCE)

    assert system.spawn(first).ask_sync(1000, timeout=PATIENCE) == (1000, 0)


def test_a_reference_travels_and_answers(system, node, peer):
    counter = node.ref("counter", peer.name)
    itself = counter.ask_sync(Atom("me"), timeout=PATIENCE)
    assert isinstance(itself, iris.RemoteRef) and itself.node == peer.name and itself.name is None
    assert itself.ask_sync(Atom("read"), timeout=PATIENCE) == 0
    mine, kept = collector(system)
    back = node.ref("echo", peer.name).ask_sync(mine, timeout=PATIENCE)
    assert back == node.give(mine) and back.local == mine and len({back, node.give(mine)}) == 1
    assert back.send(1)
    wait_until(lambda: kept == [1])


def test_deadlines(node, peer):
    slow = node.ref("slow", peer.name)
    with pytest.raises(TimeoutError):
        slow.ask_sync(0.5, timeout=0.05)

    async def late():
        with pytest.raises(TimeoutError):
            await slow.ask(0.5, timeout=0.05)

    asyncio.run(late())
    assert slow.ask_sync(0, timeout=PATIENCE) == 0


def test_an_answer_that_cannot_be_sent_is_a_failure_of_the_call(system, node, peer):
    class Odd:
        def receive(self, message):
            return object()

    node.register("odd", system.spawn(Odd))
    with pytest.raises(iris.CallFailed) as caught:
        node.ref("odd", node.name).ask_sync(1, timeout=PATIENCE)
    assert caught.value.reason[0] == "bad_reply"


def test_one_node_is_a_peer_of_itself(system, node):
    ref = system.spawn(lambda message: message)
    node.register("self", ref)
    itself = node.ref("self", node.name)
    assert itself.ask_sync({"a": 1, "b": b"c"}, timeout=PATIENCE) == {"a": 1, "b": b"c"}
    watcher, kept = collector(system)
    node.monitor(itself, watcher)
    ref.exit("tired")
    wait_until(lambda: kept)
    assert kept[0].reason == (Atom("error"), "tired"), kept


# ---- values ----

VALUES = [
    0, -1, 255, 256, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**4000, -(2**4000),
    1.5, -0.0, 1e308, True, False, None, Atom("ok"), Atom(""), Atom("é" * 255), Atom("a b'c"),
    b"", b"\x00\xff", "text".encode(), (), (1,), [], [1, 2, 3], [1, 1000], list(range(300)), ((), [()]),
    {}, {Atom("a"): [1, {b"b": (2,)}]}, {1: 2, (1, 2): 3}, Bits(b"\x01\x80", 1), ImproperList((1, 2), Atom("x")),
    Pairs((([1], 2),)), Pairs(((1, b"a"), (1.0, b"b"))), Function("erlang", "abs", 1),
]  # fmt: skip


def same(left, right):
    return type(left) is type(right) and left == right


def test_values_come_back_as_they_were(node, peer):
    echo = node.ref("echo", peer.name)
    for value in VALUES:
        assert same(echo.ask_sync(value, timeout=PATIENCE), value), value
    large = b"x" * (16 << 20)
    assert echo.ask_sync(large, timeout=PATIENCE) == large
    # On the way out these lose their type.
    for value, back in [("é", "é"), ("", ""), (bytearray(b"a"), b"a"), (memoryview(b"a"), b"a"), (Atom("true"), True), (Atom("nil"), None)]:
        assert same(echo.ask_sync(value, timeout=PATIENCE), back)


def test_random_values_come_back(node, peer):
    echo = node.ref("echo", peer.name)
    draw = random.Random(7)

    def value(depth=0):
        kind = draw.randrange(9 if depth < 4 else 5)
        if kind == 0:
            return draw.randrange(-(2 ** draw.randrange(1, 200)), 2 ** draw.randrange(1, 200))
        if kind == 1:
            return draw.uniform(-1e9, 1e9)
        if kind == 2:
            return Atom("".join(chr(draw.choice([97, 233, 0x4E2D, 39, 0x1F600])) for _ in range(draw.randrange(20))) + "_")
        if kind == 3:
            return draw.randbytes(draw.randrange(40))
        if kind == 4:
            return draw.choice([True, False, None])
        items = [value(depth + 1) for _ in range(draw.randrange(5))]
        if kind in (5, 6):
            return items if kind == 5 else tuple(items)
        return {Atom(f"k{number}"): item for number, item in enumerate(items)}

    values = [value() for _ in range(2000)]
    assert echo.ask_sync(values, timeout=PATIENCE) == values


def test_what_cannot_be_sent_is_refused_where_it_is_sent(system, node, peer):
    echo = node.ref("echo", peer.name)
    deep = []
    for _ in range(600):
        deep = [deep]
    circle = []
    circle.append(circle)
    bomb = []
    for _ in range(60):
        bomb = [bomb, bomb]
    dead = system.spawn(lambda message: message)
    dead.exit("kill")
    dead.join(PATIENCE)
    for value, error in [
        (object(), TypeError), ({1}, TypeError), (lambda: 1, TypeError), (float("nan"), ValueError), (float("inf"), ValueError),
        (deep, ValueError), (circle, ValueError), (bomb, ValueError), (Atom("x" * 256), ValueError), ("\ud800", ValueError),
        ({"a": 1, b"a": 2}, ValueError), ({Atom("nil"): 1, None: 2}, ValueError), (Bits(b"", 3), ValueError), (Bits(b"a", 9), ValueError),
        (ImproperList((), 1), ValueError), (ImproperList((1,), [2]), ValueError), (b"x" * (65 << 20), ValueError), (dead, ValueError),
    ]:  # fmt: skip
        with pytest.raises(error):
            echo.ask_sync(value, timeout=PATIENCE)
        with pytest.raises(error):
            echo.send(value)
    assert echo.ask_sync(1, timeout=PATIENCE) == 1


# ---- ends ----


def test_monitors_tell_why(system, node, peer):
    watcher, kept = collector(system)
    counter = node.ref("counter", peer.name)
    for reference in (node.ref("nobody", peer.name), counter, node.ref("second", peer.name), node.ref("x", "nowhere@127.0.0.1")):
        node.monitor(reference, watcher)
    wait_until(lambda: len(kept) == 2)
    assert {(down.who.node, down.reason) for down in kept} == {(peer.name, "noproc"), ("nowhere@127.0.0.1", "noconnection")}
    with pytest.raises(iris.CallFailed) as caught:
        counter.ask_sync((Atom("crash"), Atom("oh")), timeout=PATIENCE)
    assert caught.value.reason == (Atom("exception"), "ValueError", "...")
    wait_until(lambda: len(kept) == 3)
    assert kept[2].who == counter and kept[2].reason[:2] == (Atom("exception"), "ValueError")
    forgotten = node.monitor(node.ref("pulling", peer.name), watcher)
    assert node.demonitor(forgotten) and not node.demonitor(forgotten)
    peer.kill()
    wait_until(lambda: len(kept) == 4)
    assert kept[3].who == node.ref("second", peer.name) and kept[3].reason == "noconnection"
    with pytest.raises(iris.CallFailed) as caught:
        counter.ask_sync(Atom("read"), timeout=PATIENCE)
    assert caught.value.reason == "noconnection"
    assert counter.send(1) is iris.Sent.NO_CONNECTION
    time.sleep(0.05)
    assert len(kept) == 4


def test_links_reach_both_ways(system, node, peer):
    theirs = node.ref("counter", peer.name).ask_sync(Atom("me"), timeout=PATIENCE)
    mine = system.spawn(lambda message: message)

    @iris.actor(trap_exit=True)
    class Trapping(Collecting):
        pass

    trapping = system.spawn(Trapping)
    node.link(theirs, mine)
    node.link(theirs, trapping)
    node.ref("counter", peer.name).send((Atom("crash"), "oh"))
    assert "oh" in mine.join(PATIENCE).message
    wait_until(lambda: trapping.ask_sync("got", timeout=PATIENCE))
    (came,) = trapping.ask_sync("got", timeout=PATIENCE)
    assert isinstance(came, iris.RemoteExit) and came.who == theirs and came.reason[1] == "ValueError"
    second = node.ref("second", peer.name).ask_sync(Atom("me"), timeout=PATIENCE)
    watcher, kept = collector(system)
    other = system.spawn(lambda message: message)
    node.link(second, other)
    node.monitor(second, watcher)
    other.exit("tired")
    wait_until(lambda: kept)
    assert kept[0].reason == (Atom("error"), "tired"), kept
    with pytest.raises(ValueError):
        node.link(node.ref("echo", peer.name), watcher)


def test_exit_signals(system, node, peer):
    watcher, kept = collector(system)
    second = node.ref("second", peer.name).ask_sync(Atom("me"), timeout=PATIENCE)
    node.monitor(second, watcher)
    second.exit("kill")
    wait_until(lambda: kept)
    assert kept[0].reason == "killed"


def test_nodes_come_and_go(system, node, peer):
    watcher, kept = collector(system)
    node.watch_nodes(watcher)
    down, downs = collector(system)
    for _ in range(100):
        node.connect(peer.name)
        node.monitor(node.ref("counter", peer.name), down)
        assert node.disconnect(peer.name)
    wait_until(lambda: len(kept) == 200 and len(downs) == 100)
    names = [type(event).__name__ for event in kept]
    assert names == ["NodeUp", "NodeDown"] * 100
    assert {event.reason for event in downs} == {"noconnection"}
    with pytest.raises(iris.NodeError):
        node.connect("nobody@127.0.0.1")


def test_ten_thousand_monitors_of_a_killed_process(system, node, peer):
    watched = node.ref("many", peer.name).ask_sync(10_000, timeout=PATIENCE)
    watcher, kept = collector(system)
    for reference in watched:
        node.monitor(reference, watcher)
    # The monitors are there: signals keep their order.
    assert node.ref("echo", peer.name).ask_sync(1, timeout=PATIENCE) == 1
    assert not kept
    peer.kill()
    wait_until(lambda: len(kept) == 10_000)
    assert {down.who for down in kept} == set(watched)
    assert {down.reason for down in kept} == {"noconnection"}


def test_order_and_at_most_once_over_a_hundred_reconnects(system, node, peer):
    """Each gap has its `Down`, and nothing comes twice or late."""
    checker = node.ref("checker", peer.name)
    watcher, kept = collector(system)
    done = threading.Event()

    def disturb():
        for _ in range(100):
            time.sleep(0.01)
            node.disconnect(peer.name)
        done.set()

    thread = threading.Thread(target=disturb)
    monitor = node.monitor(checker, watcher)
    thread.start()
    number = monitors = 0
    while not done.is_set():
        for _ in range(100):
            number += 1
            checker.send(number)
        if kept and kept[-1].monitor == monitor:
            monitor = node.monitor(checker, watcher)
            monitors += 1
    thread.join()
    seen, wrong = checker.ask_sync(Atom("state"), timeout=PATIENCE)
    assert wrong == 0 and seen <= number and monitors > 0


def test_restart_with_the_same_name(system, node, peer):
    watcher, kept = collector(system)
    old = node.ref("counter", peer.name).ask_sync(Atom("me"), timeout=PATIENCE)
    node.monitor(old, watcher)
    peer.kill()
    wait_until(lambda: kept)
    again = Peer()
    try:
        node.add_peer(again.name, again.port)
        assert node.ref("counter", again.name).ask_sync((Atom("add"), 3), timeout=PATIENCE) == 3
        # The old pid never reaches a new actor.
        with pytest.raises(iris.CallFailed) as caught:
            old.ask_sync(Atom("read"), timeout=PATIENCE)
        assert caught.value.reason == "noproc"
    finally:
        again.end()


def test_a_frozen_peer_costs_bounded_memory_and_is_busy(system, node, peer):
    checker = node.ref("echo", peer.name)
    assert checker.ask_sync(1, timeout=PATIENCE) == 1
    peer.process.send_signal(signal.SIGSTOP)
    block = b"x" * 65536
    before = resident()
    answers = []

    async def flood(_):
        # On an event loop nobody waits: the refusal comes at once.
        for _ in range(4000):
            answers.append(checker.send(block))
        with pytest.raises(iris.NodeBusy):
            await checker.ask(1, timeout=1.0)
        return "done"

    assert system.spawn(flood).ask_sync(1, timeout=PATIENCE) == "done"
    assert answers[-1] is iris.Sent.BUSY
    # A thread waits, and is told then.
    assert checker.send(block) is iris.Sent.BUSY
    assert resident() - before < 64 << 20
    peer.process.send_signal(signal.SIGCONT)
    wait_until(lambda: checker.send(block))
    assert checker.ask_sync(2, timeout=PATIENCE) == 2


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- hostile peers ----


def test_garbage_ends_connections_and_not_the_node(node, peer):
    draw = random.Random(3)
    for length in (0, 1, 2, 3, 100, 5000):
        for _ in range(5):
            with socket.create_connection(node.address) as link:
                link.sendall(draw.randbytes(length))
    # Half-open ones, more than are taken.
    held = [socket.create_connection(node.address) for _ in range(200)]
    for link in held:
        link.close()
    wait_until(lambda: _works(node, peer))


def _works(node, peer):
    try:
        return node.ref("echo", peer.name).ask_sync(1, timeout=PATIENCE) == 1
    except iris.CallFailed:
        return False


def test_another_cookie_is_refused(system, node):
    stranger = Peer("stranger@127.0.0.1", cookie="another")
    try:
        node.add_peer(stranger.name, stranger.port)
        with pytest.raises(iris.NodeError, match="cookie"):
            node.connect(stranger.name)
        assert node.nodes() == []
    finally:
        stranger.end()


def _handshake(address, name="evil@127.0.0.1", cookie=COOKIE):
    """A peer of a few lines, which then says what it likes."""
    import hashlib

    def digest(challenge):
        return hashlib.md5((cookie + str(challenge)).encode()).digest()

    def send(link, message):
        link.sendall(struct.pack(">H", len(message)) + message)

    def receive(link):
        (length,) = struct.unpack(">H", link.recv(2, socket.MSG_WAITALL))
        return link.recv(length, socket.MSG_WAITALL)

    flags = 1 << 36
    link = socket.create_connection(address)
    send(link, b"N" + struct.pack(">QIH", flags, 77777, len(name)) + name.encode())
    status = receive(link)
    if status == b"salive":
        # Its end of the last connection has not come to its end.
        send(link, b"strue")
    else:
        assert status == b"sok"
    challenge = struct.unpack(">I", receive(link)[9:13])[0]
    send(link, b"r" + struct.pack(">I", 5) + digest(challenge))
    assert receive(link)[:1] == b"a"
    return link


def test_frames_of_a_peer_that_knows_the_cookie(system, node, peer):
    kept = Collecting()
    node.register("target", system.spawn(lambda message: kept.got.append(message)))
    draw = random.Random(11)
    pid = b"X" + b"w\x0eevil@127.0.0.1" + struct.pack(">III", 1, 0, 77777)
    own = b"\x83h\x04a\x06" + pid + b"w\x00" + b"w\x06target"
    frames = [
        struct.pack(">I", 0xFFFFFFFF),
        struct.pack(">I", 64 << 20) + b"p" * 1000,
        *(struct.pack(">I", length) + draw.randbytes(length) for length in (1, 5, 50, 500)),
        *(struct.pack(">I", length + 1) + b"p" + draw.randbytes(length) for length in (1, 5, 50, 500)),
        # A list of 4 billion, a tuple of as many, nesting without end, a map with a fun in it.
        *(struct.pack(">I", len(own) + 2 + len(body)) + b"p" + own + b"\x83" + body
          for body in (b"l\xff\xff\xff\xffa", b"i\xff\xff\xff\xffa", b"h\x01" * 100_000, b"m\xff\xff\xff\xff", b"n\xff\x00", b"P\x00\x00\x00\x01x")),
    ]  # fmt: skip
    for frame in frames:
        link = _handshake(node.address)
        link.settimeout(PATIENCE)
        link.sendall(frame)
        try:
            link.shutdown(socket.SHUT_WR)
            while link.recv(65536):
                pass
        except ConnectionError:
            pass
        link.close()
        assert _works(node, peer)
    # And one that is right.
    link = _handshake(node.address)
    frame = b"p" + own + b"\x83" + b"a\x07"
    link.sendall(struct.pack(">I", len(frame)) + frame)
    wait_until(lambda: kept.got == [7])
    link.close()


def test_every_control_message_with_changed_bytes(system, node):
    """All operations of the protocol, whole and with bytes changed, left out and put in: the node lives, and nothing is kept of it."""
    draw = random.Random(5)

    def atom(text):
        return b"w" + bytes([len(text)]) + text

    def tup(*items):
        return b"h" + bytes([len(items)]) + b"".join(items)

    def number(value):
        return b"a" + bytes([value])

    evil, target, nothing = atom(b"evil@127.0.0.1"), atom(b"target"), atom(b"")
    pid = b"X" + evil + struct.pack(">III", 1, 0, 77777)
    reference = b"Z\0\3" + evil + struct.pack(">IIII", 77777, 1, 2, 3)
    own = b"X" + atom(b"here@127.0.0.1") + struct.pack(">III", 2, 0, 0)
    controls = [
        tup(number(6), pid, nothing, target), tup(number(16), pid, nothing, target, number(0)), tup(number(2), nothing, own),
        tup(number(22), pid, own), tup(number(19), pid, target, reference), tup(number(20), pid, target, reference),
        tup(number(1), pid, own), tup(number(4), pid, own), tup(number(35), number(9), pid, own), tup(number(36), number(9), pid, own),
        tup(number(3), pid, own, target), tup(number(8), pid, own, target), tup(number(24), pid, own), tup(number(26), pid, own),
        tup(number(21), pid, own, reference, target), tup(number(28), pid, own, reference), tup(number(33), pid, reference),
        tup(number(29), reference, pid, pid, tup(target, target, number(0)), b"j"), tup(number(31), reference, pid, number(0), target),
        tup(number(5)), tup(number(7), pid, own),
    ]  # fmt: skip
    caller = tup(pid, b"l\0\0\0\1" + atom(b"alias") + reference)
    bodies = [
        b"", b"\x83" + tup(atom(b"$gen_call"), caller, tup(target, b"m\0\0\0\3abc", b"t\0\0\0\1" + target + number(1))),
        b"\x83" + tup(atom(b"$gen_cast"), number(1)), b"\x83" + atom(b"kill"), b"\x83" + tup(reference, number(1)),
    ]  # fmt: skip
    target_ref = system.spawn(lambda message: message)
    node.register("target", target_ref)
    for _ in range(300):
        link = _handshake(node.address)
        link.settimeout(PATIENCE)
        try:
            for _ in range(10):
                frame = bytearray(b"p\x83" + draw.choice(controls) + draw.choice(bodies))
                for _ in range(draw.choice([0, 1, 1, 2, 5])):
                    at = draw.randrange(1, len(frame))
                    kind = draw.randrange(3)
                    if kind == 0:
                        frame[at] = draw.randrange(256)
                    else:
                        frame[at : at + kind - 1] = draw.randbytes(2 - kind)
                link.sendall(struct.pack(">I", len(frame)) + frame)
        except OSError:
            pass
        link.close()
    wait_until(lambda: node.nodes() == [])
    if not target_ref.alive:
        node.register("target", system.spawn(lambda message: message))
    assert node.ref("target", node.name).ask_sync(1, timeout=PATIENCE) == 1


def test_only_loopback_and_a_name(system):
    for listen in ("0.0.0.0", "::", "10.0.0.1"):
        with pytest.raises(iris.NodeError, match="TLS"):
            iris.Node(system, "far@127.0.0.1", COOKIE, listen=listen, epmd=None)
    for name in ("", "a", "a@", "@b", "a@b@c", "a b@c", "a\n@b", "a\0@b", "x" * 300 + "@b", "é" * 250 + "@b"):
        with pytest.raises(ValueError):
            iris.Node(system, name, COOKIE, epmd=None)
    with pytest.raises(ValueError, match="cookie"):
        iris.Node(system, "a@b", "", epmd=None)
    with pytest.raises(iris.NodeError, match="epmd"):
        iris.Node(system, "a@b", COOKIE, epmd="127.0.0.1:1")


def test_a_full_mailbox_refuses_a_call_and_never_an_end(system, node, peer):
    gate = threading.Event()

    @iris.actor(capacity=1)
    class Small:
        def __init__(self):
            self.got = []

        def receive(self, message):
            gate.wait(PATIENCE)
            self.got.append(message)
            return list(self.got) if message == "got" else None

    small = system.spawn(Small)
    node.register("small", small)
    second = node.ref("second", peer.name)
    node.monitor(second, small)
    itself = node.ref("small", node.name)
    for number in range(20):
        itself.send(number)
    with pytest.raises(iris.CallFailed):
        itself.ask_sync(1, timeout=PATIENCE)
    peer.kill()
    wait_until(lambda: not node.nodes())
    gate.set()
    wait_until(lambda: small.mailbox_size == 0)
    assert any(isinstance(message, iris.RemoteDown) for message in small.ask_sync("got", timeout=PATIENCE))


def test_a_closed_node_says_so_and_its_name_is_free(system):
    first = iris.Node(system, "again@127.0.0.1", COOKIE, epmd=None)
    port = first.address[1]
    assert first.close()
    second = iris.Node(system, "again@127.0.0.1", COOKIE, port=port, epmd=None)
    assert second.address[1] == port
    assert first.ref("x", "y@127.0.0.1").send(1) is iris.Sent.NO_CONNECTION
    second.close()


def test_names_are_given_once(system, node):
    ref, other = system.spawn(lambda message: 1), system.spawn(lambda message: 2)
    node.register("name", ref)
    node.register("name", ref)
    with pytest.raises(ValueError, match="taken"):
        node.register("name", other)
    with pytest.raises(ValueError, match="taken"):
        node.register("net_kernel", other)
    assert node.unregister("name") and not node.unregister("name")
    node.register("name", other)
    other.exit("kill")
    other.join(PATIENCE)
    node.register("name", ref)
    with pytest.raises(ValueError):
        node.register("x" * 256, ref)
    elsewhere = iris.System()
    with pytest.raises(ValueError):
        node.register("elsewhere", elsewhere.spawn(lambda message: 1))
    elsewhere.stop()


def test_a_peer_that_is_frozen_before_the_first_word_holds_up_no_loop(system, node, peer):
    peer.process.send_signal(signal.SIGSTOP)
    echo = node.ref("echo", peer.name)

    def connect():
        with pytest.raises(iris.NodeError):
            node.connect(peer.name)

    connecting = threading.Thread(target=connect)
    connecting.start()

    async def asks(message):
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await echo.ask(1, timeout=0.05)
        assert echo.send(2)

    system.spawn(asks).ask_sync(1, timeout=PATIENCE)
    # The loop has not waited for the handshake, which goes on.
    assert connecting.is_alive()
    with pytest.raises((TimeoutError, iris.CallFailed)):
        echo.ask_sync(1, timeout=0.05)
    connecting.join()
    peer.process.send_signal(signal.SIGCONT)
    wait_until(lambda: _works(node, peer))


@pytest.mark.parametrize("name", ["näme@127.0.0.1", "a-b_c.d@127.0.0.1", "日本@host", "'q'@127.0.0.1", "x" * 200 + "@h", "é" * 120 + "@h"])
def test_nodes_of_odd_names_meet(node, name):
    peer = Peer(name)
    try:
        node.add_peer(name, peer.port)
        assert node.ref("echo", name).ask_sync(1, timeout=PATIENCE) == 1
        assert node.ref("counter", name).ask_sync(Atom("me"), timeout=PATIENCE).node == name
    finally:
        peer.end()


def test_many_threads_and_actors_at_once_end_and_leave_nothing(system, node):
    """Two nodes that call one another from every kind of actor while connections end: every call ends with an answer or a reason."""
    elsewhere = iris.System()
    other = iris.Node(elsewhere, "other@127.0.0.1", COOKIE, epmd=None)
    node.add_peer(other.name, other.address[1])
    other.add_peer(node.name, node.address[1])

    def relay(message):
        return message[0].ask_sync(message[1:], timeout=PATIENCE) if len(message) > 1 else message

    async def relay_later(message):
        return await message[0].ask(message[1:], timeout=PATIENCE) if len(message) > 1 else message

    @iris.actor(pull=True)
    def relay_green(mailbox):
        while not mailbox.ending:
            message = mailbox.recv()
            try:
                mailbox.reply(mailbox.ask(message[0], message[1:], timeout=PATIENCE) if len(message) > 1 else message)
            except iris.NoReply:
                mailbox.reply(Atom("lost"))

    kinds = {"push": relay, "async": relay_later, "green": relay_green}
    faults = []

    def work(seed):
        draw = random.Random(seed)
        try:
            for _ in range(150):
                (here, mine), (there, _) = draw.sample([(node, system), (other, elsewhere)], 2)
                if draw.random() < 0.1:
                    here.disconnect(there.name)
                back = here.give(mine.spawn(draw.choice(list(kinds.values()))))
                first = there.give((elsewhere if there is other else system).spawn(draw.choice(list(kinds.values()))))
                there.register(f"first {seed}", first.local)
                pid = here.ref(f"first {seed}", there.name)
                try:
                    assert pid.ask_sync((back, 7), timeout=PATIENCE) in ((7,), "lost")
                except iris.CallFailed:
                    pass
                there.unregister(f"first {seed}")
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults
    assert other.close()
    elsewhere.stop()


def test_a_node_that_nobody_holds_is_closed(system, peer):
    node = iris.Node(system, "dropped@127.0.0.1", COOKIE, epmd=None, peers={peer.name: peer.port})
    port, echo = node.address[1], node.ref("echo", peer.name)
    assert echo.ask_sync(1, timeout=PATIENCE) == 1
    del node
    gc.collect()
    assert echo.send(1) is iris.Sent.NO_CONNECTION

    def free():
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            return False
        return True

    wait_until(free)


# ---- interpreters ----


def test_exit_with_open_nodes_and_requests_is_quiet(peer):
    program = f"""
import asyncio, iris
system = iris.System()
node = iris.Node(system, "gone@127.0.0.1", {COOKIE!r}, epmd=None, peers={{{peer.name!r}: {peer.port}}})
slow = node.ref("slow", {peer.name!r})
async def waits(message):
    await slow.ask(60)
for _ in range(20):
    system.spawn(waits).send(1)
node.monitor(slow, system.spawn(lambda message: None))
node.ref("echo", {peer.name!r}).ask_sync(1)
print("end")
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_fork_has_no_node(system, node, peer):
    ref = node.ref("echo", peer.name)
    assert ref.ask_sync(1, timeout=PATIENCE) == 1
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ref.ask_sync(1, timeout=1.0)
        except iris.NodeError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert ref.ask_sync(2, timeout=PATIENCE) == 2


# ---- Erlang/OTP ----


class Otp:
    """A port mapper of its own, and Erlang programs that run on nodes of their own."""

    def __init__(self):
        if shutil.which("erl") is None or shutil.which("epmd") is None:
            pytest.skip("Erlang is not installed (Debian: erlang-base)")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.epmd = subprocess.Popen(["epmd", "-port", str(self.port)])
        wait_until(self._listens)
        self.address = f"127.0.0.1:{self.port}"

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True

    def erl(self, name, program, cookie=COOKIE):
        environment = os.environ | {"ERL_EPMD_PORT": str(self.port), "HOME": os.environ.get("TMPDIR", "/tmp")}
        command = ["erl", "-noshell", "-noinput", "-name", name, "-setcookie", cookie, "-eval", program]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)

    def run(self, program, cookie=COOKIE):
        return self.erl("e@127.0.0.1", program + ", halt().", cookie).communicate(timeout=60)[0].splitlines()


@pytest.fixture
def otp():
    made = Otp()
    yield made
    made.epmd.kill()
    made.epmd.wait()


@pytest.fixture
def joined(system, otp):
    made = iris.Node(system, "iris@127.0.0.1", COOKIE, epmd=otp.address)
    yield made
    made.close()


class Counting:
    def __init__(self):
        self.value = 0

    def receive(self, message):
        match message:
            case "read":
                return self.value
            case ("add", amount):
                self.value += amount
            case ("hello", sender):
                sender.send((Atom("welcome"), self.value))
            case "crash":
                raise ValueError("told to")
            case _:
                return message


def test_erlang_calls_casts_sends_and_monitors_python_actors(system, joined, otp):
    async def later(message):
        await asyncio.sleep(0)
        return [message]

    joined.register("counter", system.spawn(Counting))
    joined.register("later", system.spawn(later))
    lines = otp.run(
        "C = {counter, 'iris@127.0.0.1'}, io:format(\"~p~n\", [net_adm:ping('iris@127.0.0.1')]), "
        "[gen_server:cast(C, {add, N}) || N <- lists:seq(1, 1000)], io:format(\"~p~n\", [gen_server:call(C, read)]), "
        "C ! {hello, self()}, receive W -> io:format(\"~p~n\", [W]) after 20000 -> io:format(\"nothing~n\") end, "
        "V = {1 bsl 80, -7, 1.5, 'é', \"text\", <<1,2,3:3>>, #{a => [1|2], [k] => 1}, self(), make_ref(), fun erlang:abs/1, nil, true}, "
        "io:format(\"~p~n\", [gen_server:call(C, V) =:= V]), "
        "F = fun(X) -> X + 1 end, io:format(\"~p~n\", [(gen_server:call(C, F))(1)]), "
        "io:format(\"~p~n\", [gen_server:call({later, 'iris@127.0.0.1'}, x)]), "
        "R = erlang:monitor(process, C), catch gen_server:call(C, crash), "
        "receive {'DOWN', R, process, _, Why} -> io:format(\"~p~n\", [Why]) after 20000 -> io:format(\"no DOWN~n\") end, "
        "io:format(\"~p~n\", [element(1, element(2, catch gen_server:call(C, read)))])"
    )
    down = '{exception,<<"ValueError">>,<<"told to">>}'
    assert lines == ["pong", "500500", "{welcome,500500}", "true", "2", "[x]", down, "noproc"]


def test_a_call_of_erlang_that_is_not_answered_fails_with_its_reason(system, joined, otp):
    @iris.actor(pull=True)
    def forgetful(mailbox):
        while not mailbox.ending:
            mailbox.recv()

    def odd(message):
        return object() if message == "odd" else message

    joined.register("forgetful", system.spawn(forgetful))
    joined.register("odd", system.spawn(odd))
    lines = otp.run(
        "F = {forgetful, 'iris@127.0.0.1'}, O = {odd, 'iris@127.0.0.1'}, "
        "P = self(), spawn(fun() -> P ! (catch gen_server:call(F, one)) end), timer:sleep(200), gen_server:cast(F, two), "
        "receive {'EXIT', {Why, _}} -> io:format(\"~p~n\", [Why]) after 20000 -> io:format(\"nothing~n\") end, "
        "{'EXIT', {{Bad, _}, _}} = (catch gen_server:call(O, odd)), io:format(\"~p ~p~n\", [Bad, gen_server:call(O, even)])"
    )
    assert lines == ["noreply", "bad_reply even"]


def test_python_calls_monitors_and_links_erlang(system, joined, otp):
    program = (
        "Loop = fun Loop(N) -> receive {'$gen_call', {From, Tag}, {add, M}} -> From ! {Tag, N + M}, Loop(N + M); "
        "{'$gen_call', {From, Tag}, pid} -> From ! {Tag, self()}, Loop(N); {'$gen_cast', {add, M}} -> Loop(N + M); "
        "{die, Why} -> exit(Why) end end, register(sum, spawn(fun() -> Loop(0) end)), register(other, spawn(fun() -> Loop(0) end)), "
        "K = spawn(fun() -> receive never -> ok end end), register(keep, K), io:format(\"ready~n\")."
    )
    peer = otp.erl("peer@127.0.0.1", program)
    try:
        assert peer.stdout.readline() == "ready\n"
        total, keep = joined.ref("sum", "peer@127.0.0.1"), joined.ref("keep", "peer@127.0.0.1")
        assert total.cast((Atom("add"), 2**70)) and total.ask_sync((Atom("add"), 1), timeout=PATIENCE) == 2**70 + 1
        with pytest.raises(TimeoutError):
            keep.ask_sync(1, timeout=0.05)
        watcher, kept = collector(system)
        joined.monitor(total, watcher)
        joined.monitor(keep, watcher)
        linked = system.spawn(lambda message: message)
        joined.link(total.ask_sync(Atom("pid"), timeout=PATIENCE), linked)
        total.send((Atom("die"), (Atom("tired"), 3)))
        wait_until(lambda: kept)
        assert kept[0].reason == (Atom("tired"), 3) and kept[0].who == total
        assert linked.join(PATIENCE).message == "exit: {tired,3}"
        peer.kill()
        wait_until(lambda: len(kept) == 2)
        assert kept[1].reason == "noconnection" and kept[1].who == keep
    finally:
        peer.kill()
        peer.communicate()


def test_two_python_nodes_meet_by_the_port_mapper(joined, otp):
    peer = Peer("second@127.0.0.1", epmd=otp.address)
    try:
        assert joined.ref("echo", peer.name).ask_sync(1, timeout=PATIENCE) == 1
        with pytest.raises(iris.NodeError, match="in use"):
            iris.Node(joined.system, "second@127.0.0.1", COOKIE, epmd=otp.address)
    finally:
        peer.end()
