"""From one machine to many: the same counter, asked by an actor beside it and by another process over a node; the other process is killed,
and whoever watched it hears of it. Run it: python nodes.py.
"""

import os
import subprocess
import sys
from typing import Any

import iris
from iris import Atom

COOKIE = os.environ.get("NODES_COOKIE", "only for this example")


class Counter:
    """Works the same for neighbours and for other nodes: atoms equal their text."""

    def __init__(self) -> None:
        self.value = 0

    def receive(self, message: Any) -> Any:
        match message:
            case "read":
                return self.value
            case ("add", int(amount)):
                self.value += amount
                return self.value
            case _:
                raise ValueError("a counter takes read and {add, Number}")


def worker() -> None:
    """The other process: a node with a counter, until its standard input ends."""
    with iris.System() as system, iris.Node(system, "worker@127.0.0.1", COOKIE, epmd=None) as node:
        node.register("counter", system.spawn(Counter))
        print(node.address[1], flush=True)
        sys.stdin.read()


def main() -> None:
    """Starts the worker, asks it, and loses it."""
    program = [sys.executable, __file__, "worker"]
    process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = int(process.stdout.readline())
    peers = {"worker@127.0.0.1": port}
    with iris.System() as system, iris.Node(system, "main@127.0.0.1", COOKIE, epmd=None, peers=peers) as node:
        here, there = system.spawn(Counter), node.ref("counter", "worker@127.0.0.1")
        here.ask_sync("read", timeout=5.0)
        print("here", here.ask_sync((Atom("add"), 2), timeout=5.0))
        print("there", there.ask_sync((Atom("add"), 3), timeout=5.0))

        @iris.actor(pull=True)
        def watching(mailbox: iris.Mailbox) -> None:
            node.monitor(there)
            process.kill()
            down = mailbox.recv(timeout=10.0)
            print("lost", down.who.node, down.reason)

        system.spawn(watching).join(20.0)
        process.wait()
        try:
            there.ask_sync(Atom("read"), timeout=5.0)
        except iris.CallFailed as error:
            print("asked again:", error.reason)


if __name__ == "__main__":
    if sys.argv[1:] == ["worker"]:
        worker()
    else:
        main()
