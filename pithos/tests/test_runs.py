"""What a run gives, whatever runs before it did to their session: its own output, in order, with an honest end."""

import itertools
import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from server import Server

#: What a call may do to its session without harm to the next.
ABUSES = [
    "exec > out.txt",
    "exec 2> out.txt",
    "exec > >(tee out.txt)",
    "exec > out.txt 2>&1 < /dev/null",
    "exec >&-",
    "exec 2>&- <&-",
    "exec 1>&2",
    "exit",
    "exit 3",
    "f() { exit 4; }; f",
    "(exit 5); exit 6",
    "set -e; false; echo not reached",
    "set -e",
    "set -eu; echo $unset_variable",
    "set -u; : $unset_variable",
    "set -n",
    "set -t",
    "exec true",
    "exec sh -c 'exit 7'",
    "exec no-such-program",
    "trap 'exit 8' EXIT; exit",
    "trap 'exit 8' ERR; false",
    "return 3",
    "break; continue",
    "if; then",
    "eval 'exit 9'",
    "source <(echo exit 9)",
    "kill -INT $$",
    "for i in 1 2; do exit $i; done | cat; exit 3",
    "x=$(exit 3); exit $x",
    "readonly PATH; PATH=",
    "umask 777; umask 022",
    "ulimit -n 20",
    "exec 0<&- 1>&- 2>&-; exit 1",
]


@pytest.mark.parametrize("abuse", ABUSES)
def test_a_call_harms_no_later_one(server: Server, workspace: Path, abuse: str) -> None:
    (workspace / "sub").mkdir()
    server.tool("run", command="cd sub; kept=yes; f0() { echo from f0; }")
    server.call("run", command=abuse, timeout_ms=5000)
    for _ in range(2):
        result = server.call("run", command="echo to stdout; echo to stderr >&2; echo $kept; f0; basename $PWD")
        assert result["content"][0]["text"] == "to stdout\nto stderr\nyes\nfrom f0\nsub\n", abuse
        shape = result["structuredContent"]
        assert (shape["status"], shape["stderr_bytes"]) == (0, len("to stderr\n")), abuse


def test_statuses_of_calls_that_leave(server: Server) -> None:
    wanted = {"exit 3": 3, "exec sh -c 'exit 7'": 7, "set -e; false; echo no": 1, "exec no-such-program": 127}
    for command, status in wanted.items():
        assert server.tool("run", command=command)["status"] == status, command


def test_a_session_that_dies_says_so_and_the_next_call_is_told(server: Server) -> None:
    server.tool("run", command="kept=1")
    died = server.call("run", command="echo before; kill -9 $$; echo after")
    assert "was ended by signal 9" in died["structuredContent"]["failure"] and "lost" in died["structuredContent"]["failure"]
    assert died["content"][0]["text"].startswith("before\n")
    after = server.call("run", command="echo [$kept]")
    assert after["content"][0]["text"].startswith("[]\n[this is a new session 'main': ")
    assert server.text("run", command="echo again") == "again\n"
    server.tool("session", action="open", name="named")
    server.call("run", command="kill -9 $$", session="named")
    renewed = server.text("run", command="echo on", session="named")
    assert renewed.startswith("on\n[this is a new session 'named': ") and "its state is lost" in renewed


def test_scripts_without_an_interpreter_line(server: Server, workspace: Path) -> None:
    script = workspace / "plain"
    script.write_text('echo "$0 got $# $1"; cat; exit 5\n')
    script.chmod(0o755)
    result = server.call("run", command="./plain 'a b' c", stdin="from stdin\n")
    assert result["content"][0]["text"] == "./plain got 2 a b\nfrom stdin\n[exit status 5]\n"
    assert server.text("run", command="env ./plain x < /dev/null; true").startswith("./plain got 1 x\n")
    (workspace / "calls").write_text("./plain inner < /dev/null\n")
    (workspace / "calls").chmod(0o755)
    assert server.text("run", command="./calls; (exec ./plain last < /dev/null); true") == "./plain got 1 inner\n./plain got 1 last\n"
    assert server.text("run", command='"$BASH" -c "echo from a shell"; command -v "$BASH" > /dev/null && echo there') == "from a shell\nthere\n"
    (workspace / "binary").write_bytes(b"\x7fNOT\0ELF\n")
    (workspace / "binary").chmod(0o755)
    assert "cannot execute binary file" in server.text("run", command="./binary")


def test_both_streams_in_the_order_of_writing(server: Server) -> None:
    """Every way of writing a line to a stream, in every order of streams."""
    ways = {
        "builtin": "echo {0}", "printf": "printf '%s\\n' {0}", "program": "/bin/echo {0}", "utility": "cat <<< {0}",
        "subshell": "(echo {0})", "pipeline": "echo {0} | cat", "function": "say {0}", "substitution": "echo $(echo {0})",
    }  # fmt: skip
    for one, other in itertools.product(ways, repeat=2):
        lines, wanted = ["say() { echo \"$1\"; }"], ""
        for number, stream in enumerate("121122211"):
            way = ways[one if number % 2 else other].format(f"line-{number}-{stream}")
            lines.append(f"{{ {way}; }} >&{stream}")
            wanted += f"line-{number}-{stream}\n"
        assert server.text("run", command="\n".join(lines)) == wanted, (one, other)
    failing = "echo first; ls /no-such; echo second; nosuch; echo third; cd /no-such; echo fourth"
    lines = server.text("run", command=failing).splitlines()
    assert [lines.index(word) for word in ("first", "second", "third", "fourth")] == [0, 2, 4, 6], lines


def test_a_prompt_ends_a_call_at_once(server: Server) -> None:
    start = time.monotonic()
    asked = server.call("run", command="printf 'name? '; read a; echo hello $a; printf 'age? '; read b; echo $b; sleep 1000", interactive=True)
    assert time.monotonic() - start < 15, "not after the call's patience"
    job = asked["structuredContent"]["job"]
    assert asked["structuredContent"]["waiting_for_input"]["prompt"] == "name? "
    again = server.call("job", action="write", job=job, text="ann\n", timeout_ms=20_000)
    assert again["structuredContent"]["waiting_for_input"]["prompt"] == "age? "
    assert again["content"][0]["text"].startswith("hello ann\nage? ") and "name?" not in again["content"][0]["text"]
    assert time.monotonic() - start < 30
    last = server.call("job", action="write", job=job, text="7\n", timeout_ms=2000)
    assert last["content"][0]["text"].startswith("7\n") and "hello" not in last["content"][0]["text"]
    assert server.call("job", action="wait", job=job, timeout_ms=0)["content"][0]["text"].startswith("[still running")
    assert "hello ann" in server.text("job", action="wait", job=job, since=0, timeout_ms=0)
    server.tool("job", action="stop", job=job)


@pytest.mark.parametrize("program", ["cat", "python3 -c 'input(\"? \")'", "sh -c 'read x'", "head -n1", "bash -c 'read -p \"? \" x'"])
def test_programs_that_ask_on_a_terminal(server: Server, program: str) -> None:
    asked = server.tool("run", command=program, terminal={"columns": 80, "rows": 24})
    assert asked["state"] == "running" and "waiting_for_input" in asked
    assert server.tool("job", action="write", job=asked["job"], text="x\n", close_stdin=program == "cat", timeout_ms=20_000)["state"] in ("running", "done")
    server.call("job", action="stop", job=asked["job"])


def test_a_signal_reaches_a_loop_of_the_shell_itself(server: Server) -> None:
    for signal, lives in (("INT", True), ("TERM", True), ("KILL", False)):
        server.tool("session", action="open", name=signal)
        job = server.tool("run", command="kept=1; while :; do :; done", session=signal, yield_ms=0)["job"]
        server.call("job", action="signal", job=job, signal=signal)
        assert server.tool("job", action="wait", job=job, timeout_ms=20_000)["state"] != "running", signal
        assert (server.text("run", command="echo $kept", session=signal) == "1\n") is lives


def test_calls_that_name_no_session_wait_for_their_turn(server: Server) -> None:
    numbers = [server.start("tools/call", {"name": "run", "arguments": {"command": f"sleep 0.2; echo {n}"}}) for n in range(5)]
    texts = {}
    while len(texts) < len(numbers):
        message = server.next_message()
        texts[message["id"]] = message["result"]["content"][0]["text"]
    assert [texts[number] for number in numbers] == [f"{n}\n" for n in range(5)]
    both = server.tool("js", code="return (await Promise.all([shell('sleep 0.1; echo a'), shell('echo b')])).map(r => r.output)")
    assert both["value"] == ["a\n", "b\n"]


def test_a_time_out_spares_what_an_earlier_call_started(server: Server) -> None:
    server.tool("run", command="/bin/sleep 4321 & echo started")
    time.sleep(0.1)
    stopped = server.tool("run", command="/bin/sleep 1234", timeout_ms=300)
    assert stopped["stopped_by"] == "timeout" and [row["command"] for row in stopped["killed"]] == ["/bin/sleep 1234"]
    assert "4321" in server.text("run", command="jobs -l; ps ax -o args | grep '[s]leep 4321'")


ONE_CLIENT = """
import socket, time
time.sleep(0.3)
listener = socket.socket()
listener.bind(("127.0.0.1", {port}))
listener.listen()
print(listener.accept()[0].recv(5).decode(), flush=True)
"""


def test_waiting_for_a_port_looks_where_the_session_is(server: Server, workspace: Path) -> None:
    (workspace / "one.py").write_text(ONE_CLIENT.format(port=18437))
    job = server.tool("run", command="python3 one.py", background=True)["job"]
    assert server.tool("job", action="wait", job=job, port=18437, timeout_ms=20000)["matched"] is True
    # The look took nobody's place.
    server.tool("run", command="exec 3<>/dev/tcp/127.0.0.1/18437; echo hello >&3; exec 3>&-")
    assert "hello" in server.text("job", action="wait", job=job)
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        if server.tool("run", command=f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null")["status"] == 0:
            pytest.skip("the loopback is everybody's here")
        job = server.tool("run", command="sleep 100", background=True)["job"]
        assert server.tool("job", action="wait", job=job, port=port, timeout_ms=300)["matched"] is False


@pytest.mark.parametrize("asleep", [False, True])
@pytest.mark.parametrize(
    "command", ["sleep 1000", "/bin/sleep 1000", "while :; do :; done", "trap 'n=1' INT; sleep 1000; sleep 1000"]
)
def test_a_stop_reaches_a_run_that_has_not_begun(server: Server, command: str, asleep: bool) -> None:
    """A stop ends the run and not the session, however early it comes: a shell that has not read the run yet drops a signal."""
    server.tool("session", action="open", name="s")
    server.tool("run", session="s", command="kept=1")
    shell = server.shell("s")
    for _ in range(3 if asleep else 20):
        if asleep:
            os.kill(shell, signal.SIGSTOP)
            threading.Timer(0.2, os.kill, (shell, signal.SIGCONT)).start()
        job = server.tool("run", session="s", command=command, yield_ms=0)["job"]
        server.call("job", action="stop", job=job)
        assert server.text("run", session="s", command="echo kept=$kept") == "kept=1\n"
