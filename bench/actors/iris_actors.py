"""W1 to W9 on iris (Python), in the protocol of bench/actors/README.md. P2 and P6 print how fast
pull actors were spawned and stopped as well, W2, W3 and P2 how fast the messages were sent. Beyond the
protocol: W3C (W3 on the compatible surface, with bytes) and GIL (asking beside a Python thread that computes)."""

import json
import sys
import threading
import time

import iris


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


class Countdown:
    """Counts what actors have processed and wakes the waiter at the target. Handlers run under one GIL, one at a time."""

    def __init__(self, target: int) -> None:
        self.left = target
        self.done = threading.Event()

    def tick(self, _message) -> None:
        self.left -= 1
        if self.left == 0:
            self.done.set()


def population(system, count, handler):
    spawn = system.spawn
    return [spawn(handler) for _ in range(count)]


def w1(scale):
    count = int(100_000 * scale)
    runtime = iris.Runtime()
    counter = Countdown(count)
    spawn, handler = runtime.spawn, counter.tick
    start = time.perf_counter()
    pids = [spawn(handler) for _ in range(count)]
    seconds = time.perf_counter() - start
    assert runtime.is_alive(pids[-1])
    runtime.stop()
    return count, seconds, {}


def w2(scale):
    count = int(100_000 * scale)
    system = iris.System()
    counter = Countdown(count)
    refs = population(system, count, counter.tick)
    start = time.perf_counter()
    for ref in refs:
        ref.send(1)
    sent = time.perf_counter() - start
    counter.done.wait()
    seconds = time.perf_counter() - start
    system.stop()
    return count, seconds, {"send_per_second": round(count / sent)}


class Summing:
    def __init__(self, count: int) -> None:
        self.count, self.expected, self.wrong = count, 0, 0
        self.done = threading.Event()

    def receive(self, message) -> None:
        if message != self.expected:
            self.wrong += 1
        self.expected += 1
        if self.expected == self.count:
            self.done.set()


def w3(scale):
    count = int(1_000_000 * scale)
    system = iris.System()
    summing = Summing(count)
    send = system.spawn(summing.receive).send
    start = time.perf_counter()
    for i in range(count):
        send(i)
    sent = time.perf_counter() - start
    summing.done.wait()
    seconds = time.perf_counter() - start
    system.stop()
    return count, seconds, {"wrong": summing.wrong, "send_per_second": round(count / sent)}


def w3c(scale):
    count = int(1_000_000 * scale)
    runtime = iris.Runtime()
    counter = Countdown(count)
    pid, send = runtime.spawn(counter.tick), runtime.send
    start = time.perf_counter()
    for _ in range(count):
        send(pid, b"x")
    counter.done.wait()
    seconds = time.perf_counter() - start
    runtime.stop()
    return count, seconds, {}


def w4(scale):
    rounds = int(100_000 * scale)
    system = iris.System()
    done = threading.Event()
    state = {"at": 0, "wrong": 0}

    def ping(message) -> None:
        at = state["at"]
        if message != at:
            state["wrong"] += 1
        state["at"] = at = at + 1
        if at == rounds:
            done.set()
        else:
            to_echo(at)

    def echo(message) -> None:
        to_ping(message)

    to_ping, to_echo = system.spawn(ping).send, system.spawn(echo).send
    start = time.perf_counter()
    to_echo(0)
    done.wait()
    seconds = time.perf_counter() - start
    system.stop()
    return rounds, seconds, {"wrong": state["wrong"]}


def w5(scale):
    swaps = int(100_000 * scale)
    runtime = iris.Runtime()
    state = {"wrong": 0, "seen": 0}
    done = threading.Event()
    total = 5 * swaps

    def behaviour(version):
        def handler(message) -> None:
            if message != version:
                state["wrong"] += 1
            state["seen"] += 1
            if state["seen"] == total:
                done.set()

        return handler

    messages = [str(version).encode() for version in range(swaps)]
    handlers = [behaviour(message) for message in messages] + [behaviour(b"")]
    pid, send, swap = runtime.spawn(handlers[0]), runtime.send, runtime.hot_swap
    start = time.perf_counter()
    for version in range(swaps):
        message = messages[version]
        for _ in range(5):
            send(pid, message)
        swap(pid, handlers[version + 1])
    done.wait()
    seconds = time.perf_counter() - start
    runtime.stop()
    return swaps, seconds, {"wrong": state["wrong"]}


def w6(scale):
    count = int(100_000 * scale)
    runtime = iris.Runtime()
    handler = Countdown(count).tick
    runtime.send(runtime.spawn(handler), b"warm")
    before = resident_bytes()
    pids = [runtime.spawn(handler) for _ in range(count)]
    used = resident_bytes() - before
    alive = sum(map(runtime.is_alive, pids))
    runtime.stop()
    return count, 0.0, {"bytes_per_actor": used // count, "wrong": count - alive}


def w7(scale):
    count = int(100_000 * scale)
    runtime = iris.Runtime()
    handler = Countdown(count).tick
    before = resident_bytes()
    for _ in range(count):
        runtime.spawn(handler)
    full = resident_bytes()
    start = time.perf_counter()
    report = runtime.stop()
    seconds = time.perf_counter() - start
    kept = (resident_bytes() - before) / max(full - before, 1)
    return count, seconds, {"wrong": 0 if report["complete"] else 1, "memory_kept": round(kept, 3)}


def p2(scale):
    count = int(100_000 * scale)
    runtime = iris.Runtime()
    counter = Countdown(count)
    waiting = Countdown(count)

    def pull(mailbox) -> None:
        waiting.tick(None)
        while (message := mailbox.recv()) is not None:
            counter.tick(message)

    before = resident_bytes()
    start = time.perf_counter()
    pids = [runtime.spawn_with_mailbox(pull) for _ in range(count)]
    waiting.done.wait()
    spawned = time.perf_counter() - start
    used = resident_bytes() - before
    start = time.perf_counter()
    for pid in pids:
        runtime.send(pid, b"x")
    sent = time.perf_counter() - start
    counter.done.wait()
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    report = runtime.stop(drain=True, timeout=60)
    stopped = time.perf_counter() - start
    extra = {"bytes_per_actor": used // count, "spawn_per_second": round(count / spawned), "dropped": report["dropped"]}
    extra["send_per_second"] = round(count / sent)
    return count, seconds, extra | {"stop_per_second": round(count / stopped), "wrong": 0 if report["complete"] else 1}


def w8(scale):
    count = int(100_000 * scale)
    system = iris.System()
    idle = population(system, count, lambda message: None)
    stop = threading.Event()

    def load() -> None:
        at = 0
        while not stop.is_set():
            for _ in range(50):
                idle[at % count].send(1)
                at += 1
            time.sleep(0.001)

    thread = threading.Thread(target=load)
    thread.start()
    echo = system.spawn(lambda message: message)
    start = time.perf_counter()
    samples = asked(echo, 2_000)
    seconds = time.perf_counter() - start
    stop.set()
    thread.join()
    system.stop()
    return 2_000, seconds, latencies(samples, "p99_us")


def asked(echo, count):
    """Latencies of so many asks, or of as many as fit before `count` is true."""
    samples = []
    while (len(samples) < count) if isinstance(count, int) else not count():
        then = time.perf_counter()
        echo.ask_sync(1)
        samples.append(time.perf_counter() - then)
    return samples


def latencies(samples, which):
    samples.sort()
    micros = {f"p{p}_us": round(samples[int(len(samples) * p / 100)] * 1e6, 1) for p in (50, 99)}
    micros["worst_us"] = round(samples[-1] * 1e6, 1)
    return micros | {"latency_us": micros[which]}


def w9(scale):
    system = iris.System()
    left = [2]

    def blocking(message) -> None:
        time.sleep(message)
        left[0] -= 1

    for _ in range(2):
        system.spawn(blocking).send(2.0 * scale)
    echo = system.spawn(lambda message: message)
    start = time.perf_counter()
    samples = asked(echo, lambda: left[0] == 0)
    seconds = time.perf_counter() - start
    system.stop()
    return len(samples), seconds, latencies(samples, "worst_us")


def gil(scale):
    system = iris.System()
    stop = threading.Event()

    def compute() -> None:
        value = 0
        while not stop.is_set():
            value += 1

    thread = threading.Thread(target=compute)
    thread.start()
    echo = system.spawn(lambda message: message)
    start = time.perf_counter()
    samples = asked(echo, int(200 * scale))
    seconds = time.perf_counter() - start
    stop.set()
    thread.join()
    system.stop()
    return len(samples), seconds, latencies(samples, "p99_us")


WORKLOADS = {"W1": w1, "W2": w2, "W3": w3, "W3C": w3c, "W4": w4, "W5": w5, "W6": w6, "W7": w7, "W8": w8, "W9": w9, "P2": p2, "P6": p2, "GIL": gil}  # fmt: skip


def main() -> int:
    workload = WORKLOADS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if workload is None:
        return 3
    ops, seconds, extra = workload(float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
    print(json.dumps({"workload": sys.argv[1], "ops": ops, "seconds": seconds, "bytes_per_actor": 0, "wrong": 0} | extra))
    return 0


if __name__ == "__main__":
    sys.exit(main())
