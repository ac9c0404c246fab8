"""A supervised pipeline with back-pressure: a fast source, a slow and unreliable middle, a sink. The bounded mailbox with the policy
`block` slows the source down to the middle's pace; the supervisor restarts the middle when it fails. Run it: python pipeline.py.
"""

import threading
import time

import iris

ITEMS = 2_000


@iris.actor(capacity=16, overflow="block")
class Middle:
    """Fails on every 500th item, as code does; the item in hand is lost, those in its mailbox die with it and are counted."""

    system: iris.System

    def receive(self, item: int) -> None:
        if item % 500 == 499:
            raise ValueError(f"item {item} is bad")
        time.sleep(0.0002)
        self.system.send("sink", item)


class Sink:
    def __init__(self) -> None:
        self.got = 0

    def receive(self, message: int | str) -> int:
        if message != "count":
            self.got += 1
        return self.got


def main() -> None:
    system = iris.System()
    lost: list[int] = []
    system.on_dead_letter(lambda pid, message, reason: lost.append(message))
    supervisor = system.supervise(
        iris.Supervisor(
            "one_for_one",
            [iris.Child("sink", Sink, kwargs={"name": "sink"}), iris.Child("middle", Middle, kwargs={"name": "middle"})],
            intensity=10,
        )
    )
    refused = 0
    deepest = 0
    for item in range(ITEMS):
        while not system.send("middle", item):
            # Between the failure and the restart nobody has the name.
            refused += 1
            time.sleep(0.0005)
        middle = system.find("middle")
        deepest = max(deepest, middle.mailbox_size if middle else 0)
    while (middle := system.find("middle")) is None or middle.mailbox_size:
        time.sleep(0.001)
    sink = system.find("sink")
    assert sink is not None
    handled = sink.ask_sync("count", timeout=10)
    restarts = dict((name, count) for name, _, count in supervisor.which_children())["middle"]
    system.stop(drain=True)
    print(f"{handled} of {ITEMS} items through; {restarts} restarts; {len(lost)} in the mailbox of a failed middle; "
          f"at most {deepest} waiting")  # fmt: skip
    assert handled + len(lost) + restarts >= ITEMS - 1 and deepest <= 17
    assert threading.active_count() < 20


if __name__ == "__main__":
    main()
