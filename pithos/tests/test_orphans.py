"""Whatever ends a server, a session or a run: no process that it started is left."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from processes import gone_within, with_marker

#: By path, so that they are processes and not the shell's own `sleep`.
TREE = "/bin/sleep 1000 & (setsid /bin/sleep 1000 &) ; /bin/sleep 1000 | cat"
#: Seconds until everything must be gone, from the moment the cause is there.
PATIENCE = 5.0


class Server:
    """A server in a folder of its own, by which its processes are found; spoken to by hand."""

    def __init__(self, pithos: str, workspace: Path) -> None:
        self.marker = str(workspace)
        self.process = subprocess.Popen(
            [pithos, "serve", "--cwd", str(workspace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.count = 0
        client = {"name": "test", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def start(self, method: str, params: dict) -> int:
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        return self.count

    def answer(self, wanted: int) -> dict:
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == wanted:
                return message

    def request(self, method: str, params: dict) -> dict:
        return self.answer(self.start(method, params))

    def tool(self, tool: str, **arguments) -> dict:
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]["structuredContent"]

    def sleepers(self) -> list[str]:
        return [line for line in with_marker(self.marker) if line.startswith("/bin/sleep")]

    def wait_for_sleepers(self) -> None:
        import time

        deadline = time.monotonic() + 10
        while len(self.sleepers()) < 3:
            assert time.monotonic() < deadline, with_marker(self.marker)
            time.sleep(0.01)


@pytest.fixture
def server(pithos: str, workspace: Path):
    server = Server(pithos, workspace)
    yield server
    server.process.kill()
    server.process.wait()
    server.process.stdin.close()
    server.process.stdout.close()


def test_time_out(server: Server) -> None:
    result = server.tool("run", command=TREE, timeout_ms=300)
    assert result["stopped_by"] == "timeout"
    assert sum(row["command"] == "/bin/sleep 1000" for row in result["killed"]) == 3
    assert not server.sleepers()
    assert server.tool("run", command="echo alive")["status"] == 0


def test_a_sleep_of_the_shell_itself_is_interrupted(server: Server) -> None:
    result = server.tool("run", command="x=kept; sleep 1000", timeout_ms=200)
    assert (result["stopped_by"], result["status"]) == ("timeout", 130)
    assert server.request("tools/call", {"name": "run", "arguments": {"command": "echo $x"}})["result"]["content"][0]["text"] == "kept\n"


def test_a_loop_of_the_shell_itself_is_interrupted(server: Server) -> None:
    result = server.tool("run", command="while :; do :; done", timeout_ms=200)
    assert (result["stopped_by"], result["status"]) == ("timeout", 130)
    assert server.tool("run", command="echo alive")["status"] == 0


def test_cancelled_call(server: Server) -> None:
    call = server.start("tools/call", {"name": "run", "arguments": {"command": TREE}})
    server.wait_for_sleepers()
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
    assert server.tool("run", command="echo alive", session=server.tool("session", action="open")["session"])["status"] == 0
    import time

    deadline = time.monotonic() + PATIENCE
    while server.sleepers() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not server.sleepers()


def test_end_of_the_client(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    server.process.stdin.close()
    assert not gone_within(server.marker, PATIENCE)


def test_kill_of_the_server(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    server.process.kill()
    assert not gone_within(server.marker, PATIENCE)


def test_kill_of_a_session(server: Server) -> None:
    pid = int(server.request("tools/call", {"name": "run", "arguments": {"command": "echo $$"}})["result"]["content"][0]["text"])
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    os.kill(pid, signal.SIGKILL)
    job = server.tool("job", action="wait", job="j2", timeout_ms=5000)
    assert "ended" in job["failure"]
    assert not server.sleepers()
    assert server.tool("run", command="echo a new main session")["status"] == 0


def test_kill_of_the_guardian(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    guardian = subprocess.run(
        ["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    os.kill(int(guardian), signal.SIGKILL)
    import time

    deadline = time.monotonic() + PATIENCE
    while server.sleepers() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not server.sleepers()
