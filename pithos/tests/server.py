"""A server of its own for a test, spoken to by hand: JSON-RPC lines over its pipes."""

import contextlib
import json
import os
import re
import select
import subprocess
import time
from pathlib import Path

from processes import below_in_order, with_marker


#: Seconds for any answer: a server that gives none is stuck.
PATIENCE = 120.0


class Server:
    """A server in a folder of its own, by which its processes are found; spoken to by hand."""

    def __init__(self, pithos: str, workspace: Path, *arguments: str, stderr: int | None = None, **environment: str) -> None:
        self.marker = str(workspace)
        self.process = subprocess.Popen(
            [pithos, "serve", "--cwd", str(workspace), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=os.environ | environment,
        )
        self.count = 0
        self.unread = b""
        self.answers = {}
        client = {"name": "test", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def start(self, method: str, params: dict) -> int:
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        return self.count

    def answer(self, wanted: int, patience: float = PATIENCE) -> dict:
        deadline = time.monotonic() + patience
        while True:
            if wanted in self.answers:
                return self.answers.pop(wanted)
            message = json.loads(self.line(deadline))
            if message.get("id") == wanted:
                return message
            # Answers come in any order.
            if "id" in message:
                self.answers[message["id"]] = message

    def next_message(self, patience: float = PATIENCE) -> dict:
        """Whatever the server says next."""
        return json.loads(self.line(time.monotonic() + patience))

    def line(self, deadline: float) -> bytes:
        """The next line of the server, by the deadline."""
        pieces = [self.unread]
        while b"\n" not in pieces[-1]:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the server gives no answer"
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            assert piece, "the server has closed its side"
            pieces.append(piece)
        line, self.unread = b"".join(pieces).split(b"\n", 1)
        return line

    def lives(self, killed: bool = False) -> None:
        """It answers, and runs what it is given, whatever happened before. `killed`: perhaps the session that is asked, a moment ago."""
        assert self.answer(self.start("ping", {}), 30)["result"] == {}
        asked = self.start("tools/call", {"name": "run", "arguments": {"command": "echo alive", "session": self.probe()}})
        said = self.answer(asked, 60)["result"]["content"][0]["text"]
        if killed and ("was ended by signal 9" in said or "its state is lost" in said):
            # That is the answer of a session whose end the server had not heard of when it was listed.
            return self.lives()
        assert said == "alive\n", f"not what a run in a new session says: {said!r}"

    def probe(self) -> str:
        """A session that only `lives` uses."""
        listed = self.tool("session", action="list")["sessions"]
        if not any(row["session"] == "probe" and row["alive"] for row in listed):
            self.call("session", action="close", session="probe")
            self.tool("session", action="open", name="probe")
        return "probe"

    def request(self, method: str, params: dict) -> dict:
        return self.answer(self.start(method, params))

    def call(self, tool: str, **arguments) -> dict:
        """The whole result of a tool."""
        # An answer that may come late by what the call itself asks for.
        patience = PATIENCE + arguments.get("yield_ms", 0) / 1000
        return self.answer(self.start("tools/call", {"name": tool, "arguments": arguments}), patience)["result"]

    def tool(self, tool: str, **arguments) -> dict:
        """The structured part of a tool's result."""
        return self.call(tool, **arguments)["structuredContent"]

    def text(self, tool: str, **arguments) -> str:
        """The text of a tool's result."""
        return self.call(tool, **arguments)["content"][0]["text"]

    def memory_kb(self) -> int:
        """Resident memory of the server process itself."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))

    def peak_kb(self) -> int:
        """The most it ever was."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))

    def workers(self, role: str) -> list[int]:
        """The processes of a role (`shell`, `cell`, `actors`) below this server."""
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        found = []
        for pid in parents:
            above = pid
            while above in parents and above != self.process.pid:
                above = parents[above]
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
                if above == self.process.pid and f"--pithos-{role}".encode() in line.split(b"\0"):
                    found.append(pid)
        return found

    def shell(self, session: str = "main") -> int:
        """The process of a session as this machine knows it: `$$` is its id among the server's own processes."""
        inside = self.request("tools/call", {"name": "run", "arguments": {"command": "echo $$", "session": session}})
        inside = inside["result"]["content"][0]["text"].strip()
        for pid in below_in_order(self.process.pid):
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{pid}/status").read_text()
                if re.search(r"^NSpid:.*\t(\d+)$", status, re.MULTILINE).group(1) == inside:
                    return pid
        raise LookupError(inside)

    def close(self) -> None:
        """Ends the server, however it is."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def sleepers(self) -> list[str]:
        return [line for line in with_marker(self.marker) if line.startswith("/bin/sleep")]

    def sleepers_after(self, seconds: float) -> list[str]:
        """The sleepers that are left after at most so long."""
        deadline = time.monotonic() + seconds
        while (left := self.sleepers()) and time.monotonic() < deadline:
            time.sleep(0.005)
        return left

    def wait_for_sleepers(self) -> None:
        deadline = time.monotonic() + 10
        while len(self.sleepers()) < 3:
            assert time.monotonic() < deadline, with_marker(self.marker)
            time.sleep(0.01)
