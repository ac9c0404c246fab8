"""Whatever ends a server, a session or a run: no process that it started is left."""

import contextlib
import os
import signal
import subprocess

from processes import below_in_order, gone_within
from server import Server

#: By path, so that they are processes and not the shell's own `sleep`.
TREE = "/bin/sleep 1000 & (setsid /bin/sleep 1000 &) ; /bin/sleep 1000 | cat"
#: Seconds until everything that a run started must be gone, from the moment the cause is there.
PATIENCE = 0.2
#: The server's own processes, which do the killing, follow; on a machine with a load of 15 the last of them took 0.26 s.
OWN_PATIENCE = 5.0


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
    assert not server.sleepers_after(PATIENCE)
    assert server.tool("run", command="echo alive", session=server.tool("session", action="open")["session"])["status"] == 0


def test_end_of_the_client(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    server.process.stdin.close()
    assert not server.sleepers_after(PATIENCE)
    assert not gone_within(server.marker, OWN_PATIENCE)


def test_kill_of_the_server(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    server.process.kill()
    assert not server.sleepers_after(PATIENCE)
    assert not gone_within(server.marker, OWN_PATIENCE)


def test_kill_of_a_session(server: Server) -> None:
    server.tool("run", command="true")
    pid = server.shell()
    started = server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    os.kill(pid, signal.SIGKILL)
    assert not server.sleepers_after(PATIENCE)
    job = server.tool("job", action="wait", job=started["job"], timeout_ms=5000)
    assert "ended" in job["failure"]
    assert server.tool("run", command="echo a new main session")["status"] == 0


def test_kill_of_the_guardian(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    guardian = subprocess.run(
        ["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    os.kill(int(guardian), signal.SIGKILL)
    assert not server.sleepers_after(PATIENCE)


def test_kill_of_everything_of_ours_at_once(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    # The server, the guardian's process outside and the one inside: nobody is left who could clean up but the kernel.
    below = below_in_order(server.process.pid)[:2]
    for pid in [server.process.pid, *below]:
        os.kill(pid, signal.SIGKILL)
    assert not server.sleepers_after(PATIENCE)
    assert not gone_within(server.marker, OWN_PATIENCE)


def test_kill_of_server_and_guardian_by_name(server: Server) -> None:
    server.tool("run", command=TREE, yield_ms=100)
    server.wait_for_sleepers()
    below = below_in_order(server.process.pid)
    ours = [pid for pid in below if b"--pithos" in open(f"/proc/{pid}/cmdline", "rb").read()]
    for pid in [server.process.pid, *ours]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert not server.sleepers_after(PATIENCE)
    assert not gone_within(server.marker, OWN_PATIENCE)
