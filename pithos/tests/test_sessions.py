"""Sessions and jobs as a client follows them: idle sessions close, output comes piece by piece, servers can be looked into."""

import json
import subprocess
import time

from server import Server


def test_an_idle_session_closes_and_a_busy_one_does_not(server: Server) -> None:
    for name in ("idle", "busy"):
        server.tool("session", action="open", name=name, ttl_s=1)
    server.tool("run", command="/bin/sleep 4", session="busy", yield_ms=0)
    deadline = time.monotonic() + 20
    while "idle" in (names := [row["session"] for row in server.tool("session", action="list")["sessions"]]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert names == ["busy"]


def test_output_piece_by_piece(server: Server) -> None:
    job = server.tool("run", command="seq 1 3; /bin/sleep 100", yield_ms=0)["job"]
    server.tool("job", action="wait", job=job, until="^3$", timeout_ms=5000)
    first = server.call("job", action="wait", job=job, since=0, timeout_ms=0)
    assert first["content"][0]["text"] == "1\n2\n3\n"
    assert (first["structuredContent"]["next_offset"], first["structuredContent"]["more"]) == (6, False)
    assert server.text("job", action="wait", job=job, since=4, timeout_ms=0) == "3\n"
    beyond = server.call("job", action="wait", job=job, since=10**12, timeout_ms=0)
    assert (beyond["content"][0]["text"], beyond["structuredContent"]["next_offset"]) == ("", 6)


def test_a_look_into_a_server_from_outside_and_none_from_inside(pithos: str, server: Server) -> None:
    server.tool("session", action="open", name="mine")
    job = server.tool("run", command="seq 1 5", session="mine")["job"]
    shown = json.loads(subprocess.run([pithos, "sessions", "--json"], capture_output=True, text=True, check=True).stdout)
    mine = next(row for row in shown if row["pid"] == server.process.pid)
    assert [row["session"] for row in mine["sessions"]] == ["mine"]
    assert mine["jobs"][0] == {"job": job, "session": "mine", "state": "done", "command": "seq 1 5"}
    assert [node["name"] for node in mine["tree"]["children"]] == ["jobs", "cells", "actors", "sessions"]
    log = [pithos, "log", "--server", str(server.process.pid), "--lines", "2", job]
    assert subprocess.run(log, capture_output=True, text=True, check=True).stdout == "4\n5\n"
    grep = [pithos, "log", "--server", str(server.process.pid), "--grep", "^3$", job]
    assert subprocess.run(grep, capture_output=True, text=True, check=True).stdout == "3:3\n"
    inside = server.text("run", command=f"{pithos} log --server {server.process.pid} {job}")
    assert "4\n5" not in inside and "exit status" in inside


def test_the_commands_without_a_server(pithos: str, workspace) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([pithos, *arguments], cwd=workspace, capture_output=True, text=True, check=False)

    assert run("run", "echo hi; exit 3").returncode == 3
    assert run("js", "-e", "6 * 7").stdout == "42\n"
    assert run("js", "-e", "throw new Error('as asked')").returncode == 1
    assert json.loads(run("js", "--json", "-e", "[1, 2]").stdout)["value"] == [1, 2]
    assert "claude-code" in run("install").stdout
    written = run("install", "claude-code", "--write", "--yes")
    assert written.returncode == 0, written.stderr
    assert json.loads((workspace / ".mcp.json").read_text())["mcpServers"]["pithos"]["args"] == ["serve"]
    assert run("install", "nobody").returncode == 1
    assert run("frobnicate").returncode == 2
    assert run("doctor", "--json").stdout.startswith("{")
