"""Output without end: the server's memory stays bounded, so does the result, and the whole log can be read."""

import time

import pytest
from server import Server

#: What a server may take above its idle state, in KB.
OVER_IDLE_KB = 50 * 1024
LINE_MB = 100


@pytest.fixture
def idle_kb(server: Server) -> int:
    """Resident memory of a server that has run something small."""
    server.tool("run", command="echo ready")
    return server.memory_kb()


def bounded(server: Server, idle_kb: int) -> None:
    assert server.peak_kb() - idle_kb < OVER_IDLE_KB


def test_yes(server: Server, idle_kb: int) -> None:
    result = server.call("run", command="yes", timeout_ms=1500)
    shape = result["structuredContent"]
    assert (shape["stopped_by"], shape["truncated"]) == ("timeout", True)
    assert shape["stdout_bytes"] > 10_000_000
    assert len(result["content"][0]["text"]) < 20_000
    bounded(server, idle_kb)
    assert server.text("run", command="echo alive") == "alive\n"


def test_a_gigabyte_of_binary(server: Server, idle_kb: int) -> None:
    size = 1 << 30
    result = server.call("run", command=f"head -c {size} /dev/zero", timeout_ms=120_000, yield_ms=120_000)
    assert result["structuredContent"]["stdout_bytes"] == size
    assert "binary output" in result["content"][0]["text"]
    last = server.tool("log", action="read", job=result["structuredContent"]["job"], offset=size - 10)
    assert (last["total_bytes"], last["next_offset"], last["more"]) == (size, size, False)
    bounded(server, idle_kb)


def test_a_line_of_100_mb(server: Server, idle_kb: int) -> None:
    size = LINE_MB << 20
    command = f"head -c {size} /dev/zero | tr '\\0' x; echo; echo the end"
    result = server.call("run", command=command, yield_ms=120_000)
    assert result["structuredContent"]["stdout_bytes"] == size + 1 + len("the end\n")
    text = result["content"][0]["text"]
    assert "the end" in text and len(text) < 20_000
    job = result["structuredContent"]["job"]
    assert server.text("log", action="grep", job=job, pattern="^the end$").endswith(":the end\n")
    assert server.text("log", action="read", job=job, offset=size // 2, bytes=10) == "x" * 10
    bounded(server, idle_kb)


def test_many_floods_one_after_another(server: Server, idle_kb: int) -> None:
    for _ in range(40):
        server.tool("run", command="seq 1 200000", output_bytes=500)
    assert server.text("log", action="read", job="j3", bytes=4) == "1\n2\n"
    bounded(server, idle_kb)


def test_a_flood_in_one_session_does_not_hold_up_another(server: Server) -> None:
    server.tool("session", action="open", name="loud")
    server.tool("run", command="yes", session="loud", timeout_ms=20_000, yield_ms=0)
    began = time.monotonic()
    assert server.text("run", command="echo quick") == "quick\n"
    # Not a measurement: a server that serves the flood first would take until its time-out.
    assert time.monotonic() - began < 10
    server.tool("job", action="stop", job="j1")
