"""What a client without the token can do to `pithos serve --http`: nothing that lasts, and nothing that tells."""

import http.client
import re
import socket
import subprocess
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
