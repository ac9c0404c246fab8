"""What type checkers must refuse: each line that ends in `# bad`, and no other. It is never run itself."""

from __future__ import annotations
import iris

class Counter:
    def __init__(self, value: int) -> None: ...
    def receive(self, message: int) -> str:
        return str(message)

class Slow:
    async def receive(self, message: bytes) -> int:
        return len(message)

class Loop:
    def __init__(self, name: str) -> None: ...
    def run(self, mailbox: iris.Mailbox) -> None: ...

class Neither:
    def __init__(self, a: int, b: int) -> None: ...

def double(message: int) -> int:
    return message * 2

system = iris.System()
system.spawn(Counter, "ten")  # bad
system.spawn(Counter, 1, 2)  # bad
system.spawn(Counter, 1, value=2)  # bad
system.spawn(Counter, 1, colour="red")  # bad
system.spawn(Loop, 5)  # bad
system.spawn(Neither, 1, 2)  # bad
system.spawn(double, 1)  # bad
system.spawn(3)  # bad
system.spawn(Counter, 1).send("text")  # bad
system.spawn(Counter, 1).ask_sync("text")  # bad
number: int = system.spawn(Counter, 1).ask_sync(1)  # bad
system.spawn(Slow).send("text")  # bad
system.spawn(double).send_many(["a"])  # bad
other: iris.Ref[str, str] = system.spawn(Counter, 1)  # bad
system.spawn(Counter, 1, name=5)  # bad
