"""What a client without the token can do to `pithos serve --http`: nothing that lasts, and nothing that tells."""

import http.client
import itertools
import json
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

#: A wrong, late or unfinished request must end within this many seconds; the server's own limit for a head is 10.
PATIENCE = 60.0
#: More connections than the server has places.
MANY = 300


@pytest.fixture
def port(pithos: str, workspace: Path):
    """The port of a server over HTTP."""
    command = [pithos, "serve", "--http", "127.0.0.1:0", "--token-file", str(workspace / "token"), "--cwd", str(workspace)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield int(re.search(r"http://127\.0\.0\.1:(\d+)/mcp ", process.stderr.readline()).group(1))
        finally:
            process.kill()


def status(port: int, method: str, path: str, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    result = answer.status, answer.read()
    connection.close()
    return result


def test_only_the_mcp_path_answers(port: int, workspace: Path) -> None:
    token = {"Authorization": f"Bearer {(workspace / 'token').read_text().strip()}"}
    for path in ("/", "/mcp/", "/mcp/x", "//mcp", "/MCP", "/x", "/health/", "/healthy"):
        for method in ("GET", "POST", "DELETE"):
            for headers in ({}, token):
                assert status(port, method, path, **headers) == (404, b""), (method, path)
    assert status(port, "POST", "/mcp") == (401, b"")
    assert status(port, "POST", "/mcp", **token)[0] not in (401, 404)
    assert status(port, "GET", "/health") == (200, b"")
    assert status(port, "POST", "/health") == (405, b"")


def test_half_open_requests_end(port: int) -> None:
    """More of them than there are places: each is closed, and the next client is served."""
    beginnings = [b"", b"G", b"POST /mcp HTTP/1.1\r\n", b"POST /mcp HTTP/1.1\r\nHost: x\r\nX: ", b"PRI * HTTP/2.0\r\n"]
    held = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(MANY)]
    for index, connection in enumerate(held):
        connection.sendall(beginnings[index % len(beginnings)])
    assert status(port, "GET", "/health")[0] == 200
    deadline = time.monotonic() + PATIENCE
    for connection in held:
        connection.settimeout(max(0.1, deadline - time.monotonic()))
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
        connection.close()
    assert status(port, "GET", "/health")[0] == 200


def test_a_body_that_never_ends_is_given_up(port: int, workspace: Path) -> None:
    token = (workspace / "token").read_text().strip()
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Length: 100\r\n\r\n{{"
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")


class Strangers:
    """Connections without the token that are never silent for long: each asks for `/health` again and again, and comes back when it is put out."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.over = threading.Event()
        self.answered = 0
        self.held = [None] * MANY
        self.threads = [threading.Thread(target=self.stay, args=(range(start, MANY, 10),), daemon=True) for start in range(10)]
        for thread in self.threads:
            thread.start()

    def stay(self, mine: range) -> None:
        while not self.over.is_set():
            for index in mine:
                try:
                    if self.held[index] is None:
                        self.held[index] = socket.create_connection(("127.0.0.1", self.port), 0.2)
                    self.held[index].sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                    self.answered += bool(self.held[index].recv(4096))
                except OSError:
                    if self.held[index] is not None:
                        self.held[index].close()
                    self.held[index] = None
            self.over.wait(0.5)

    def end(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()
        for connection in filter(None, self.held):
            connection.close()


def test_who_only_stays_keeps_nobody_out(port: int, workspace: Path) -> None:
    """All places are taken by strangers that renew themselves: who has the token is served, and a call under way is not cut."""
    head = {"Authorization": f"Bearer {(workspace / 'token').read_text().strip()}", "Accept": "application/json, text/event-stream", "Content-Type": "application/json"}

    ids = itertools.count(1)

    def post(method: str, params: dict, **more: str) -> tuple[str | None, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        message = {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": params}
        connection.request("POST", "/mcp", json.dumps(message), head | more)
        answer = connection.getresponse()
        read = answer.getheader("mcp-session-id"), answer.read()
        connection.close()
        return read

    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    session = {"mcp-session-id": post("initialize", start)[0]}
    command = "until [ -e go ]; do sleep 0.05; done; echo through"
    under_way = []
    call = {"name": "run", "arguments": {"command": command, "timeout_ms": 60_000, "yield_ms": 60_000}}
    caller = threading.Thread(target=lambda: under_way.append(post("tools/call", call, **session)))
    caller.start()
    strangers = Strangers(port)
    try:
        while strangers.answered < 2 * MANY:
            assert strangers.threads[0].is_alive()
            time.sleep(0.01)
        for _ in range(20):
            assert b'"tools"' in post("tools/list", {}, **session)[1]
            assert status(port, "GET", "/health") == (200, b"")
        (workspace / "go").touch()
        caller.join(PATIENCE)
        assert b"through" in under_way[0][1]
    finally:
        strangers.end()
