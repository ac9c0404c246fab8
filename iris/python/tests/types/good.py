"""A program that type checkers accept; `test_types.py` runs them over it. It is never run itself."""

from __future__ import annotations
import iris
from typing import assert_type

class Counter:
    def __init__(self, value: int, *, step: int = 1) -> None:
        self.value = value
    def receive(self, message: int) -> str:
        return str(message)

class Slow:
    async def receive(self, message: bytes) -> int:
        return len(message)

class Loop:
    def __init__(self, name: str) -> None: ...
    def run(self, mailbox: iris.Mailbox) -> None: ...

def double(message: int) -> int:
    return message * 2

async def later(message: str) -> float:
    return 1.0

@iris.actor(pull=True)
def pulls(mailbox: iris.Mailbox) -> None: ...

@iris.actor
class Marked:
    def receive(self, message: int) -> None: ...

with iris.System() as system:
    assert_type(system.spawn(Counter, 10, step=2), "iris.Ref[int, str]")
    assert_type(system.spawn(Counter, 10).ask_sync(1), str)
    assert_type(system.spawn(Slow), "iris.Ref[bytes, int]")
    assert_type(system.spawn(double), "iris.Ref[int, int]")
    assert_type(system.spawn(later), "iris.Ref[str, float]")
    system.spawn(pulls).send("anything")
    system.spawn(Loop, "x").send(1)
    system.spawn(Marked).send(1)
    system.spawn(Counter, 10, name="counter", link=system.spawn(double)).send(3)
    system.spawn(lambda message: None).send(1)
    typed: iris.Ref[int, str] = system.spawn(Counter, 1)
    bare: iris.Ref = typed
    system.register("a", typed)
    system.stop(typed)
    system.exit(bare)

async def main() -> None:
    assert_type(await system.spawn(later).ask("x"), float)
