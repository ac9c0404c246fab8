"""A node for the tests of nodes, in a process of its own: says its port on standard output and lives until its standard input ends."""

import sys

import iris
from iris import Atom


class Counter:
    def __init__(self):
        self.value = 0

    def receive(self, message):
        match message:
            case "read":
                return self.value
            case ("add", amount):
                self.value += amount
                return self.value
            case ("crash", text):
                raise ValueError(text)
            case ("exit", reason):
                raise SystemExit(reason)
            case "me":
                return self.ref
            case ("hold", seconds):
                import time

                time.sleep(seconds)
            case int():
                self.value += message
        return Atom("ok")


class Checker:
    """Counts what comes out of order."""

    def __init__(self):
        self.seen, self.wrong = 0, 0

    def receive(self, message):
        if message == "state":
            return (self.seen, self.wrong)
        if message <= self.seen:
            self.wrong += 1
        self.seen = message


class Many:
    """Makes actors to be watched."""

    def receive(self, count):
        return [self.system.spawn(lambda message: message) for _ in range(count)]


async def slow(message):
    import asyncio

    await asyncio.sleep(message)
    return message


@iris.actor(pull=True)
def pulling(mailbox):
    while not mailbox.ending:
        message = mailbox.recv()
        mailbox.reply((Atom("pulled"), message))


def main():
    name, cookie = sys.argv[1:3]
    epmd = sys.argv[3] if len(sys.argv) > 3 else None
    system = iris.System()
    node = iris.Node(system, name, cookie, epmd=epmd)
    for known, target in {
        "echo": lambda message: message,
        "counter": Counter,
        "second": Counter,
        "checker": Checker,
        "many": Many,
        "slow": slow,
        "pulling": pulling,
        "odd 'näme' {x}": Counter,
    }.items():
        node.register(known, system.spawn(target))
    print(node.address[1], flush=True)
    sys.stdin.read()
    node.close()
    system.stop()


main()
