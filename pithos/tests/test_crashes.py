"""Whatever goes wrong, the server lives, says what happened, and loses no other session."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from server import Server


@pytest.fixture
def kept(server: Server) -> Server:
    """A server with a second session whose state must survive."""
    server.tool("session", action="open", name="other")
    server.tool("run", command="x=kept", session="other")
    return server


def survived(server: Server) -> None:
    assert server.text("run", command="echo $x", session="other") == "kept\n"
    # A call that finds its session lost is told so, and only that one.
    assert server.text("run", command="echo alive").startswith("alive\n")
    assert server.text("run", command="echo alive") == "alive\n"


def segv(pid: int) -> None:
    """The first one only takes the runtime's own handler away, which takes it for the overflow of a stack that it was not."""
    for _ in range(50):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSEGV)
        time.sleep(0.002)


def test_segv_in_a_shell(kept: Server) -> None:
    pid = kept.shell()
    started = kept.tool("run", command="/bin/sleep 100", yield_ms=50)
    segv(pid)
    ended = kept.tool("job", action="wait", job=started["job"], timeout_ms=5000)
    assert "ended" in ended["failure"] and "11" in ended["failure"]
    survived(kept)


def test_segv_in_a_cell(kept: Server) -> None:
    running = kept.tool("js", code="await new Promise(done => setTimeout(done, 60000))", yield_ms=100, session="other")
    workers = kept.workers("cell")
    assert workers
    for pid in workers:
        segv(pid)
    ended = kept.call("js", cell=running["cell"])
    assert ended["structuredContent"]["state"] == "crashed" and "11" in ended["content"][0]["text"]
    assert kept.tool("js", code="1 + 1")["value"] == 2
    survived(kept)


def test_out_of_memory_in_a_cell(kept: Server) -> None:
    eat = "const all = []; for (;;) all.push(new Array(10000).fill(all.length))"
    ended = kept.tool("js", code=eat, heap_mb=64)
    assert (ended["state"], ended["limit"]) == ("terminated", "heap")
    grow = "let s = 'x'; for (;;) s = s + s"
    assert kept.tool("js", code=grow, heap_mb=64)["state"] in ("terminated", "error")
    survived(kept)


SMALL = """
name = "small"
read = ["/"]
write = ["$workspace", "$tmp"]
exec = ["/"]
network = "off"
environment = ["PATH"]
[limits]
memory_mb = 256
"""


def test_out_of_memory_in_a_shell(pithos: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    server = Server(pithos, tmp_path, "--sandbox", str(tmp_path / "small.toml"))
    try:
        server.tool("session", action="open", name="other")
        server.tool("run", command="x=kept", session="other")
        ended = server.tool("run", command="x=1234567890; while :; do x=$x$x; done", timeout_ms=60_000)
        assert ended["state"] == "lost" and "ended" in ended["failure"]
        survived(server)
    finally:
        server.close()


def test_a_deleted_working_directory(kept: Server, workspace: Path) -> None:
    kept.tool("run", command="mkdir gone && cd gone")
    shutil.rmtree(workspace / "gone")
    result = kept.tool("run", command="echo here; ls; cd ..; pwd")
    assert result["state"] == "done"
    assert kept.tool("js", code="await list('.')")["state"] in ("done", "error")
    back = kept.tool("run", command="pwd", cwd=str(workspace))
    assert back["status"] == 0 and back["cwd"] == str(workspace)
    missing = kept.call("run", command="pwd", cwd=str(workspace / "gone"))
    assert "gone" in missing["content"][0]["text"]
    survived(kept)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk(pithos: str, workspace: Path) -> None:
    # Not in the workspace: nothing of a server is kept where sessions write.
    small = workspace.parent / f"{workspace.name}-small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], check=False)
    if mounted.returncode:
        pytest.skip("tmpfs cannot be mounted here")
    server = Server(pithos, workspace, TMPDIR=str(small))
    try:
        server.tool("run", command="x=kept")
        flood = server.call("run", command="seq 1 1000000")
        shape = flood["structuredContent"]
        assert shape["status"] == 0 and "disk full" in shape["log_stopped"]
        assert "1000000" in flood["content"][0]["text"]
        written = server.tool("run", command="seq 1 1000000 > $TMPDIR/file")
        assert written["status"] != 0
        assert server.text("run", command="echo $x") == "kept\n"
    finally:
        server.close()
        subprocess.run(["umount", "-l", small], check=True)


def test_garbage_from_the_client(kept: Server) -> None:
    before = kept.process.pid
    for line in ["not json", "{}", "[]", '{"jsonrpc": "2.0"}', '{"jsonrpc":"2.0","id":77,"method":5}', "\x00\xff{", ""]:
        kept.process.stdin.write(line.encode() + b"\n")
    kept.process.stdin.flush()
    unknown = kept.request("no/such/method", {})
    assert unknown["error"]["code"] == -32601
    assert "error" in kept.request("tools/call", {"name": "nothing", "arguments": {}})
    assert kept.call("run", command=5)["isError"]
    assert kept.call("run", command="echo", timeout_ms=-1)["isError"]
    assert kept.call("job", action="wait", job="j999")["isError"]
    assert kept.call("job", action="wait", job="j1", until="(")["isError"]
    assert kept.call("log", action="read", job="j1", offset=10**15)["structuredContent"]["more"] is False
    assert kept.process.pid == before and kept.process.poll() is None
    survived(kept)


def test_a_megabyte_of_garbage_in_one_line(kept: Server) -> None:
    kept.process.stdin.write(b"x" * (1 << 20) + b"\n")
    kept.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 5000, "method": "ping"})[:-1].encode() + b"\n")
    kept.process.stdin.flush()
    survived(kept)


def test_many_calls_at_once(kept: Server) -> None:
    ids = [kept.start("tools/call", {"name": "run", "arguments": {"command": f"echo {n}", "session": f"s{n % 8}"}}) for n in range(200)]
    answers = {}
    while len(answers) < len(ids):
        message = json.loads(kept.process.stdout.readline())
        answers[message["id"]] = message
    # Sessions that nobody opened: each call is answered, and says what to do.
    assert all("there is no session" in answers[id]["result"]["content"][0]["text"] for id in ids)
    survived(kept)
