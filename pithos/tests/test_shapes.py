"""The shapes in which output is shown on request, and what bounds all of it together."""

import os
import random
from pathlib import Path

import pytest
from server import PATIENCE, Server


def test_control_sequences_are_left_out_on_request(server: Server) -> None:
    script = "printf '\\033[1;31mred\\033[0m\\n\\033]0;title\\007plain\\n'"
    assert server.text("run", command=script) == "\x1b[1;31mred\x1b[0m\n\x1b]0;title\x07plain\n"
    shown = server.call("run", command=script, ansi="strip")
    assert shown["content"][0]["text"] == "red\nplain\n"
    job = shown["structuredContent"]["job"]
    for action in ({"action": "tail"}, {"action": "read"}):
        assert server.text("log", job=job, ansi="strip", **action) == "red\nplain\n"
        assert "\x1b" in server.text("log", job=job, **action)
    assert server.text("job", action="wait", job=job, ansi="strip") == "red\nplain\n"
    assert server.text("job", action="wait", job=job, ansi="strip", since=0) == "red\nplain\n"
    wrong = server.call("run", command=":", ansi="colour")
    assert wrong["isError"] and "'ansi' must be one of" in wrong["content"][0]["text"]


def test_streams_apart(server: Server) -> None:
    result = server.tool("run", command="echo out; echo error >&2; echo end", streams=True)
    assert (result["stdout"], result["stderr"]) == ("out\nend\n", "error\n")
    assert "stdout" not in server.tool("run", command="echo out")
    long = server.tool("run", command="seq 200000; seq 200000 >&2", streams=True, output_bytes=1000)
    for name in ("stdout", "stderr"):
        assert long[name].startswith("1\n2\n") and long[name].endswith("\n200000\n") and len(long[name]) < 1200


def test_the_screen_of_a_program_that_draws(server: Server) -> None:
    draw = "printf 'one\\ntwo\\n\\033[1;1HOne\\033[3;5Hhere'; read x; printf '\\033[?1049h\\033[2J\\033[HFULL'; read x"
    shown = server.call("run", command=draw, terminal={"columns": 20, "rows": 5}, screen=True)
    text, shape = shown["content"][0]["text"], shown["structuredContent"]
    assert text.startswith("One\ntwo\n    here\n") and shape["screen"] == {"row": 2, "column": 8, "alternate": False}
    shown = server.call("job", action="write", job=shape["job"], text="\n", screen=True)
    assert shown["content"][0]["text"].startswith("FULL") and shown["structuredContent"]["screen"]["alternate"] is True
    server.call("job", action="resize", job=shape["job"], columns=30, rows=3)
    server.call("job", action="stop", job=shape["job"])
    for wrong in ({"command": ":", "screen": True}, {"command": ":", "screen": True, "interactive": True}):
        assert "terminal" in server.text("run", **wrong)
    pipe = server.tool("run", command="read x", interactive=True)
    assert "no terminal" in server.text("job", action="wait", job=pipe["job"], timeout_ms=1, screen=True)
    server.call("job", action="stop", job=pipe["job"])
    big = server.call("run", command=":", terminal={"columns": 1000, "rows": 1000}, screen=True)
    assert big["isError"] and "too large" in big["content"][0]["text"]


def test_a_vim_like_program_is_readable(server: Server, workspace: Path) -> None:
    """Hostile bytes to a terminal with a model: the run and the server go on."""
    (workspace / "noise").write_bytes(random.Random(11).randbytes(300_000) + b"\x1b[99999;99999H\x1b[?1049h\x1b[999L\xf0\x9f\n")
    shown = server.call("run", command="cat noise; printf '\\033c\\033[2J\\033[Hdone'", terminal={"columns": 37, "rows": 11}, screen=True)
    text = shown["content"][0]["text"]
    assert "done" in text or "failed" in text
    server.lives()


def test_logs_have_a_limit_together_and_the_oldest_make_room(pithos: str, workspace: Path) -> None:
    run_time = workspace / "run"
    run_time.mkdir(mode=0o700)
    temporary = workspace / "tmp"
    temporary.mkdir()
    (workspace / "project").mkdir()
    server = Server(pithos, workspace / "project", "--log-space", "4M", TMPDIR=str(temporary))
    try:
        jobs = [server.tool("run", command=f"head -c 1000000 /dev/zero | tr '\\0' {letter}; echo")["job"] for letter in "abcdef"]
        held = sum(path.stat().st_size for path in temporary.rglob("*.log"))
        assert held <= 4 << 20
        assert "removed to make room" in server.text("log", action="tail", job=jobs[0], bytes=100)
        assert server.text("log", action="tail", job=jobs[-1], bytes=100).endswith("f\n")
        # One alone that is over it: it goes on, and the result says what is missing and how there can be more.
        over = server.tool("run", command="head -c 9000000 /dev/zero | tr '\\0' z; echo; echo end")
        assert over["status"] == 0 and "--log-space" in over["log_stopped"]
        assert sum(path.stat().st_size for path in temporary.rglob("*.log")) <= 4 << 20
        server.lives()
    finally:
        server.close()


@pytest.mark.parametrize("size", [17 << 20, 300 << 20])
def test_a_frame_far_over_the_limit_is_answered_and_the_server_goes_on(server: Server, size: int) -> None:
    before = server.peak_kb()
    piece = b"x" * (1 << 20)
    for head, tail, wanted in (
        (b'{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"run","arguments":{"command":"', b'"}}}\n', "first"),
        (b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"run","arguments":{"command":"', b'"}},"id":4711}\n', 4711),
    ):
        os.set_blocking(server.process.stdin.fileno(), True)
        server.process.stdin.write(head)
        for _ in range(size >> 20):
            server.process.stdin.write(piece)
        server.process.stdin.write(tail)
        server.process.stdin.flush()
        answer = server.answer(wanted, PATIENCE)
        assert "limit" in answer["error"]["message"]
        server.lives()
    # What is refused is not kept.
    assert server.peak_kb() - before < 100_000


def test_a_result_says_that_its_shell_died(server: Server) -> None:
    died = server.call("run", command="echo before; kill -9 $$; echo after")
    shape = died["structuredContent"]
    assert shape["state"] == "lost" and "status" not in shape and "signal 9" in died["content"][0]["text"]
    assert died["content"][0]["text"].startswith("before\n")
    for look in (server.call("job", action="wait", job=shape["job"]), server.call("job", action="list")):
        assert "lost" in look["content"][0]["text"]
    assert "lost" in server.tool("job", action="wait", job=shape["job"])["state"]
    in_cell = server.text("js", code="await shell('kill -9 $$')")
    assert "signal 9" in in_cell
    assert "new session" in server.text("run", command="echo on")
