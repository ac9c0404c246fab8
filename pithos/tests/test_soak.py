"""Every operation many times: descriptors, threads, processes, files and memory are the same before and after. PITHOS_SOAK sets how often."""

import os
import resource
import time
from pathlib import Path

import pytest
from server import Server

TIMES = int(os.environ.get("PITHOS_SOAK", "60"))
#: What a server may take for the rounds that it remembers (results, logs), in KB.
MEMORY_KB = 24 * 1024


def open_and_close(server: Server, number: int) -> None:
    server.tool("session", action="open", name=f"n{number}")
    server.tool("run", command="x=1; /bin/true", session=f"n{number}")
    server.tool("session", action="close", session=f"n{number}")


def fork_and_close(server: Server, number: int) -> None:
    server.tool("session", action="fork", session="main", name=f"f{number}")
    server.tool("session", action="close", session=f"f{number}")


def die(server: Server, number: int) -> None:
    server.tool("session", action="open", name=f"d{number}")
    server.call("run", command="kill -9 $$", session=f"d{number}")
    # It is another one by now.
    server.tool("run", command="true", session=f"d{number}")
    server.tool("session", action="close", session=f"d{number}")


def write_and_stop(server: Server, number: int) -> None:
    job = server.tool("run", command="cat", interactive=True, yield_ms=0)["job"]
    server.call("job", action="write", job=job, text="x\n", timeout_ms=1)
    server.tool("job", action="stop", job=job)


def actors(server: Server, number: int) -> None:
    server.tool("actors", action="spawn", group=f"g{number}", code="({receive(s, m, a) { a.reply(m); return s }})", count=3)
    server.tool("actors", action="ask", to=f"g{number}", message=1)
    server.tool("actors", action="stop", to=f"g{number}")


OPERATIONS = {
    "a run": lambda server, n: server.tool("run", command="echo x; /bin/echo y | cat"),
    "a background job": lambda server, n: server.tool("run", command="/bin/true", background=True, yield_ms=5000),
    "a long output": lambda server, n: server.tool("run", command="seq 1 40000"),
    "a time-out": lambda server, n: server.tool("run", command="sleep 1000", timeout_ms=20),
    "a terminal": lambda server, n: server.tool("run", command="tty", terminal={}),
    "an interactive run": write_and_stop,
    "stdin": lambda server, n: server.tool("run", command="cat", stdin="x" * 100_000),
    "a session": open_and_close,
    "a fork": fork_and_close,
    "a session's death": die,
    "a cell": lambda server, n: server.tool("js", code="return (await shell('echo x')).output"),
    "a cell that is ended": lambda server, n: server.tool("js", code="while (true);", timeout_ms=20),
    "a wrong call": lambda server, n: server.call("session", action="close", session="nobody"),
    "a log": lambda server, n: server.call("log", action="grep", job="j1", pattern="x"),
    "a group of actors": actors,
}


def state(server: Server) -> dict[str, int]:
    """What the server and its guardian hold, when what goes by itself has gone."""
    pid = server.process.pid
    below = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                below[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    processes = {pid}
    while more := {child for child, parent in below.items() if parent in processes} - processes:
        processes |= more
    guardian = [child for child, parent in below.items() if parent == pid]
    return {
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": len(os.listdir(f"/proc/{pid}/task")),
        "processes": len(processes),
        "descriptors of the guardian": sum(len(os.listdir(f"/proc/{child}/fd")) for child in guardian),
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_is_left(server: Server, operation: str) -> None:
    act = OPERATIONS[operation]
    server.tool("run", command="true")
    for number in range(8):
        act(server, number)
    time.sleep(0.3)
    before = state(server)
    for number in range(8, 8 + TIMES):
        act(server, number)
    deadline = time.monotonic() + 20
    # Threads of the blocking pool come and go: some stay for a while.
    while any(state(server)[name] > count + (6 if name == "threads" else 2) for name, count in before.items()):
        assert time.monotonic() < deadline, (before, state(server))
        time.sleep(0.1)
    memory = server.memory_kb()
    assert memory < 64 * 1024 + MEMORY_KB, memory
    server.lives()


def test_a_server_at_its_limit_of_descriptors_answers_and_recovers(pithos: str, workspace: Path) -> None:
    server = Server(pithos, workspace)
    try:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (64, 64))
        opened = []
        for number in range(60):
            result = server.call("session", action="open", name=f"n{number}")
            if result.get("isError"):
                break
            opened.append(f"n{number}")
        assert result.get("isError"), "sixty sessions do not fit"
        assert server.request("ping", {})["result"] == {}
        for name in opened:
            server.tool("session", action="close", session=name)
        deadline = time.monotonic() + 20
        while server.call("run", command="echo alive")["content"][0]["text"] != "alive\n":
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        server.close()
