"""W1 to W7 on pykka: an actor is a thread. 100,000 threads do not fit most machines, so the populations are 2,000 (times
SCALE); rates are per second and compare all the same."""

import json
import sys
import threading
import time

import pykka

POPULATION = 2_000


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


class Counter:
    def __init__(self, target: int) -> None:
        self.left = target
        self.lock = threading.Lock()
        self.done = threading.Event()

    def tick(self) -> None:
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.done.set()


class Counting(pykka.ThreadingActor):
    def __init__(self, counter: Counter) -> None:
        super().__init__()
        self.counter = counter

    def on_receive(self, message):
        self.counter.tick()


class Summing(pykka.ThreadingActor):
    def __init__(self, count: int, done: threading.Event) -> None:
        super().__init__()
        self.count, self.done, self.expected, self.wrong = count, done, 0, 0

    def on_receive(self, message):
        if message != self.expected:
            self.wrong += 1
        self.expected += 1
        if self.expected == self.count:
            self.done.set()


class Echo(pykka.ThreadingActor):
    def on_receive(self, message):
        sender, value = message
        sender.tell(value)


class Pinger(pykka.ThreadingActor):
    def __init__(self, rounds: int, echo, done: threading.Event) -> None:
        super().__init__()
        self.rounds, self.echo, self.done, self.at, self.wrong = rounds, echo, done, 0, 0

    def on_receive(self, message):
        if message != self.at:
            self.wrong += 1
        self.at += 1
        if self.at == self.rounds:
            self.done.set()
        else:
            self.echo.tell((self.actor_ref, self.at))


class Swappable(pykka.ThreadingActor):
    def __init__(self, swaps: int, handler, done: threading.Event) -> None:
        super().__init__()
        self.swaps, self.handler, self.done, self.wrong = swaps, handler, done, 0

    def on_receive(self, message):
        if callable(message):
            self.handler = message
            self.swaps -= 1
            if self.swaps == 0:
                self.done.set()
        elif not self.handler(message):
            self.wrong += 1


def population(scale):
    return int(POPULATION * scale)


def w1(scale):
    count = population(scale)
    start = time.perf_counter()
    for _ in range(count):
        Counting.start(None)
    return count, time.perf_counter() - start, {}


def w2(scale):
    count = population(scale)
    counter = Counter(count)
    refs = [Counting.start(counter) for _ in range(count)]
    start = time.perf_counter()
    for ref in refs:
        ref.tell(1)
    counter.done.wait()
    return count, time.perf_counter() - start, {}


def w3(scale):
    count = int(1_000_000 * scale)
    done = threading.Event()
    ref = Summing.start(count, done)
    start = time.perf_counter()
    for i in range(count):
        ref.tell(i)
    done.wait()
    seconds = time.perf_counter() - start
    return count, seconds, {"wrong": ref.proxy().wrong.get()}


def w4(scale):
    rounds = int(100_000 * scale)
    done = threading.Event()
    echo = Echo.start()
    pinger = Pinger.start(rounds, echo, done)
    start = time.perf_counter()
    echo.tell((pinger, 0))
    done.wait()
    seconds = time.perf_counter() - start
    return rounds, seconds, {"wrong": pinger.proxy().wrong.get()}


def w5(scale):
    swaps = int(100_000 * scale)
    done = threading.Event()

    def behaviour(version):
        return lambda message: message == version

    ref = Swappable.start(swaps, behaviour(0), done)
    start = time.perf_counter()
    for version in range(swaps):
        for _ in range(5):
            ref.tell(version)
        ref.tell(behaviour(version + 1))
    done.wait()
    seconds = time.perf_counter() - start
    return swaps, seconds, {"wrong": ref.proxy().wrong.get()}


def w6(scale):
    count = population(scale)
    before = resident_bytes()
    for _ in range(count):
        Counting.start(None)
    return count, 0.0, {"bytes_per_actor": (resident_bytes() - before) // count}


def w7(scale):
    count = population(scale)
    for _ in range(count):
        Counting.start(None)
    start = time.perf_counter()
    pykka.ActorRegistry.stop_all()
    return count, time.perf_counter() - start, {}


def main() -> int:
    workload = {"W1": w1, "W2": w2, "W3": w3, "W4": w4, "W5": w5, "W6": w6, "W7": w7}.get(sys.argv[1])
    if workload is None:
        return 3
    ops, seconds, extra = workload(float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
    pykka.ActorRegistry.stop_all()
    print(json.dumps({"workload": sys.argv[1], "ops": ops, "seconds": seconds, "bytes_per_actor": 0, "wrong": 0} | extra))
    return 0


if __name__ == "__main__":
    sys.exit(main())
