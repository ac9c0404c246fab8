"""W1 to W9 on asyncio: an actor is a task that awaits its own queue."""

import asyncio
import json
import sys
import time

STOP = object()


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


class Counter:
    """Counts what its actors have processed and wakes the waiter at the target."""

    def __init__(self, target: int) -> None:
        self.left = target
        self.done = asyncio.Event()

    def tick(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.done.set()


async def counting(queue: asyncio.Queue, counter: Counter) -> None:
    while await queue.get() is not STOP:
        counter.tick()


def spawn(count: int, counter: Counter):
    queues, tasks = [], []
    for _ in range(count):
        queue: asyncio.Queue = asyncio.Queue()
        queues.append(queue)
        tasks.append(asyncio.ensure_future(counting(queue, counter)))
    return queues, tasks


async def settle(queues, tasks) -> None:
    """One turn of the loop: every task has reached its first `get`."""
    await asyncio.sleep(0)


async def stop(queues, tasks) -> None:
    for queue in queues:
        queue.put_nowait(STOP)
    await asyncio.gather(*tasks)


async def w1(scale):
    count = int(100_000 * scale)
    start = time.perf_counter()
    queues, tasks = spawn(count, Counter(count))
    await settle(queues, tasks)
    seconds = time.perf_counter() - start
    await stop(queues, tasks)
    return count, seconds, {}


async def w2(scale):
    count = int(100_000 * scale)
    counter = Counter(count)
    queues, tasks = spawn(count, counter)
    await settle(queues, tasks)
    start = time.perf_counter()
    for queue in queues:
        queue.put_nowait(1)
    await counter.done.wait()
    seconds = time.perf_counter() - start
    await stop(queues, tasks)
    return count, seconds, {}


async def w3(scale):
    count = int(1_000_000 * scale)
    queue: asyncio.Queue = asyncio.Queue()

    async def summing():
        wrong = 0
        for expected in range(count):
            if await queue.get() != expected:
                wrong += 1
        return wrong

    task = asyncio.ensure_future(summing())
    start = time.perf_counter()
    for i in range(count):
        queue.put_nowait(i)
    wrong = await task
    return count, time.perf_counter() - start, {"wrong": wrong}


async def w4(scale):
    rounds = int(100_000 * scale)
    there: asyncio.Queue = asyncio.Queue()
    back: asyncio.Queue = asyncio.Queue()

    async def echo():
        for _ in range(rounds):
            back.put_nowait(await there.get())

    task = asyncio.ensure_future(echo())
    wrong = 0
    start = time.perf_counter()
    for i in range(rounds):
        there.put_nowait(i)
        if await back.get() != i:
            wrong += 1
    seconds = time.perf_counter() - start
    await task
    return rounds, seconds, {"wrong": wrong}


async def w5(scale):
    swaps = int(100_000 * scale)
    queue: asyncio.Queue = asyncio.Queue()

    def behaviour(version):
        return lambda message: message == version

    async def swappable():
        handler, wrong, swapped = behaviour(0), 0, 0
        while swapped < swaps:
            message = await queue.get()
            if callable(message):
                handler = message
                swapped += 1
            elif not handler(message):
                wrong += 1
        return wrong

    task = asyncio.ensure_future(swappable())
    start = time.perf_counter()
    for version in range(swaps):
        for _ in range(5):
            queue.put_nowait(version)
        queue.put_nowait(behaviour(version + 1))
    wrong = await task
    return swaps, time.perf_counter() - start, {"wrong": wrong}


async def w6(scale):
    count = int(100_000 * scale)
    before = resident_bytes()
    queues, tasks = spawn(count, Counter(count))
    await settle(queues, tasks)
    used = resident_bytes() - before
    await stop(queues, tasks)
    return count, 0.0, {"bytes_per_actor": used // count}


async def w7(scale):
    count = int(100_000 * scale)
    queues, tasks = spawn(count, Counter(count))
    await settle(queues, tasks)
    start = time.perf_counter()
    await stop(queues, tasks)
    return count, time.perf_counter() - start, {}


async def echoing(queue: asyncio.Queue) -> None:
    while (future := await queue.get()) is not STOP:
        future.set_result(None)


async def asked(queue: asyncio.Queue) -> float:
    then = time.perf_counter()
    future = asyncio.get_running_loop().create_future()
    queue.put_nowait(future)
    await future
    return time.perf_counter() - then


async def w8(scale):
    count = int(100_000 * scale)
    queues, tasks = spawn(count, Counter(1 << 60))
    await settle(queues, tasks)
    ended = False

    async def load() -> None:
        at = 0
        while not ended:
            for _ in range(50):
                queues[at % count].put_nowait(1)
                at += 1
            await asyncio.sleep(0.001)

    loading = asyncio.ensure_future(load())
    echo: asyncio.Queue = asyncio.Queue()
    serving = asyncio.ensure_future(echoing(echo))
    start = time.perf_counter()
    samples = sorted([await asked(echo) for _ in range(2_000)])
    seconds = time.perf_counter() - start
    ended = True
    echo.put_nowait(STOP)
    await asyncio.gather(loading, serving)
    await stop(queues, tasks)
    return 2_000, seconds, {"latency_us": samples[len(samples) * 99 // 100] * 1e6}


async def w9(scale):
    async def blocking(queue: asyncio.Queue) -> None:
        time.sleep(await queue.get())

    echo: asyncio.Queue = asyncio.Queue()
    serving = asyncio.ensure_future(echoing(echo))
    blocked = []
    for _ in range(2):
        queue: asyncio.Queue = asyncio.Queue()
        blocked.append(asyncio.ensure_future(blocking(queue)))
        queue.put_nowait(2.0 * scale)
    samples = []
    start = time.perf_counter()
    while not samples or not all(task.done() for task in blocked):
        samples.append(await asked(echo))
    seconds = time.perf_counter() - start
    echo.put_nowait(STOP)
    await serving
    return len(samples), seconds, {"latency_us": max(samples) * 1e6}


def main() -> int:
    workloads = {"W1": w1, "W2": w2, "W3": w3, "W4": w4, "W5": w5, "W6": w6, "W7": w7, "W8": w8, "W9": w9}
    # A task that awaits its queue is a pull actor already.
    workloads |= {"P2": w2, "P6": w6}
    workload = workloads.get(sys.argv[1])
    if workload is None:
        return 3
    ops, seconds, extra = asyncio.run(workload(float(sys.argv[2]) if len(sys.argv) > 2 else 1.0))
    print(json.dumps({"workload": sys.argv[1], "ops": ops, "seconds": seconds, "bytes_per_actor": 0, "wrong": 0} | extra))
    return 0


if __name__ == "__main__":
    sys.exit(main())
