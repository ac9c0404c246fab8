"""A chat room: the room is an actor, every member is a green thread that reads its mailbox like blocking code. Members that leave are
noticed by a monitor. Run it: python chat.py.
"""

import threading
from typing import Callable

import iris

MEMBERS = 1_000
LINES = 5


class Room:
    ref: iris.Ref

    def __init__(self) -> None:
        self.members: dict[int, iris.Ref] = {}

    def receive(self, message: tuple[str, iris.Ref] | tuple[str, str, str] | iris.Down | str) -> int:
        match message:
            case ("join", iris.Ref() as ref):
                self.members[ref.pid] = ref
                self.ref.monitor(ref)
            case ("say", who, str(text)):
                for ref in self.members.values():
                    ref.send((who, text))
            case iris.Down():
                self.members.pop(message.pid, None)
            case _:
                pass
        return len(self.members)


Heard = list[tuple[str, str]]


def member(name: str, room: iris.Ref, heard: Heard, done: threading.Event) -> Callable[[iris.Mailbox], None]:
    @iris.actor(pull=True)
    def life(mailbox: iris.Mailbox) -> None:
        room.send(("join", mailbox.ref))
        while (message := mailbox.recv()) is not None:
            heard.append(message)
            if message[1] == "bye":
                break
        if len(heard) == MEMBERS * (LINES + 1):
            done.set()

    life.__name__ = name
    return life


def main() -> None:
    heard: Heard = []
    done = threading.Event()
    with iris.System() as system:
        room = system.spawn(Room, name="room")
        for number in range(MEMBERS):
            system.spawn(member(f"member {number}", room, heard, done))
        while room.ask_sync("who", timeout=10) < MEMBERS:
            pass
        for line in range(LINES):
            room.send(("say", "host", f"line {line}"))
        room.send(("say", "host", "bye"))
        assert done.wait(60)
        while room.ask_sync("who", timeout=10):
            pass
    print(f"{MEMBERS} members heard {len(heard)} lines and left")


if __name__ == "__main__":
    main()
