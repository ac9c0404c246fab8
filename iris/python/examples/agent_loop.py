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

    def __init__(self, name):
        self.name = name

    def receive(self, request):
        mood = random.random()
        if mood < 0.2:
            time.sleep(0.2)
        if mood > 0.9:
            raise RuntimeError(f"{self.name} broke on {request}")
        return f"{self.name}({request})"


def call(mailbox, system, name, request, timeout):
    """Asks a tool by way of a small courier, so that the agent's own mailbox stays the one place where it waits."""
    me, tool = mailbox.ref, system.find(name)

    @iris.actor(thread=True)
    def courier(box):
        try:
            me.send(("ok", request, tool.ask_sync(request, timeout=timeout)))
        except Exception as error:
            me.send(("failed", request, error))

    system.spawn(courier)
    return mailbox.selective_recv(lambda message: message[1] == request, timeout * 2)


def main():
    done, log = threading.Event(), []
    system = iris.System()
    system.supervise(
        iris.Supervisor(
            children=[iris.Child(name, Tool, (name,), {"name": name}) for name in ("search", "read", "write")], intensity=50
        )
    )

    @iris.actor(pull=True)
    def agent(mailbox):
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
