"""An agent's loop with time-outs: plan, call tools with a deadline each, retry what hangs, give up in time. The loop is a green thread, so it reads
like blocking code; a tool that hangs holds up nobody, and one that fails is an answer, not a crash. Run it: python agent_loop.py.
"""

import random
import threading
import time

import iris

random.seed(7)


@iris.actor(release_gil=True)
class Tool:
    """Sometimes slow, sometimes broken, mostly fine."""

    def __init__(self, name: str) -> None:
        self.name = name

    def receive(self, request: str) -> str:
        mood = random.random()
        if mood < 0.2:
            time.sleep(0.2)
        if mood > 0.9:
            raise RuntimeError(f"{self.name} broke on {request}")
        return f"{self.name}({request})"


Answer = tuple[str, str, object]


def call(mailbox: iris.Mailbox, system: iris.System, name: str, request: str, timeout: float) -> Answer | None:
    """Asks a tool by way of a small courier, so that the agent's own mailbox stays the one place where it waits."""
    me, tool = mailbox.ref, system.find(name)
    if me is None or tool is None:
        return None

    @iris.actor(thread=True)
    def courier(_box: iris.Mailbox) -> None:
        try:
            me.send(("ok", request, tool.ask_sync(request, timeout=timeout)))
        except Exception as error:
            me.send(("failed", request, error))

    system.spawn(courier)
    answer: Answer | None = mailbox.selective_recv(lambda message: message[1] == request, timeout * 2)
    return answer


def main() -> None:
    done = threading.Event()
    log: list[tuple[str, str]] = []
    system = iris.System()
    system.supervise(
        iris.Supervisor(
            children=[iris.Child(name, Tool, (name,), {"name": name}) for name in ("search", "read", "write")], intensity=50
        )
    )

    @iris.actor(pull=True)
    def agent(mailbox: iris.Mailbox) -> None:
        for step, name in enumerate(("search", "read", "read", "write")):
            for attempt in range(5):
                answer = call(mailbox, system, name, f"step {step} try {attempt}", timeout=0.1)
                log.append((name, answer[0] if answer else "nothing"))
                if answer and answer[0] == "ok":
                    break
        done.set()

    system.spawn(agent)
    assert done.wait(30), "the agent does not come to an end"
    system.stop()
    for name, outcome in log:
        print(f"{name:<8}{outcome}")


if __name__ == "__main__":
    main()
