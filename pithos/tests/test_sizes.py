"""Every door through which a client sends text, from 1 KB to 16 MB: it works, or the answer says the limit; the next ping and the next command are answered."""

import time

import pytest
from server import Server

SIZES = [1 << 10, 64 << 10, 128 << 10, 212_000, 250_000, 1 << 20, 1_100_000, 4 << 20, 16 << 20]
#: Each door: what is called with a text of so many bytes, and what the result is when it is taken.
DOORS = {
    "comment": ("run", lambda text: {"command": f"echo {len(text)} # {text}"}, lambda size: f"{size}\n"),
    "here-document": ("run", lambda text: {"command": f"wc -c <<'END'\n{text}\nEND"}, lambda size: f"{size + 1}\n"),
    "word": ("run", lambda text: {"command": f"x={text}; echo ${{#x}}"}, lambda size: f"{size}\n"),
    "cwd": ("run", lambda text: {"command": "true", "cwd": f"/{text}"}, None),
    "session": ("run", lambda text: {"command": "true", "session": text}, None),
    "environment": ("run", lambda text: {"command": "echo ${#X}; unset X", "env": {"X": text}}, lambda size: f"{size}\n"),
    "environment name": ("run", lambda text: {"command": "true", "env": {text: "x"}}, None),
    "stdin": ("run", lambda text: {"command": "wc -c", "stdin": text}, lambda size: f"{size}\n"),
    "stdin that nobody reads": ("run", lambda text: {"command": "echo done", "stdin": text}, lambda size: "done\n"),
    "first input": ("run", lambda text: {"command": "echo done", "stdin": text, "interactive": True}, lambda size: "done\n"),
    "output": ("run", lambda text: {"command": f"head -c {len(text)} /dev/zero | tr '\\0' x | wc -c"}, lambda size: f"{size}\n"),
    "line of output": ("run", lambda text: {"command": f"head -c {len(text)} /dev/zero | tr '\\0' x"}, None),
    "tool argument": ("run", lambda text: {text: text}, None),
    "name": ("session", lambda text: {"action": "open", "name": text}, None),
    "closed name": ("session", lambda text: {"action": "close", "session": text}, None),
    "pattern": ("log", lambda text: {"action": "grep", "job": "j1", "pattern": text}, None),
    "until": ("job", lambda text: {"action": "wait", "job": "j1", "until": text, "timeout_ms": 100}, None),
    "signal": ("job", lambda text: {"action": "signal", "job": "j1", "signal": text}, None),
    "code": ("js", lambda text: {"code": f"/* {text} */ 6 * 7"}, lambda size: "42\n"),
    "string in code": ("js", lambda text: {"code": f"'{text}'.length"}, lambda size: f"{size}\n"),
    "value": ("js", lambda text: {"code": f"'x'.repeat({len(text)})"}, None),
    "console": ("js", lambda text: {"code": f"console.log('x'.repeat({len(text)}))"}, None),
    "command of a cell": ("js", lambda text: {"code": f"return (await shell('# ' + 'x'.repeat({len(text)}) + '\\necho yes')).output"}, lambda size: "yes\n\n"),
    "store": ("js", lambda text: {"code": f"store('a', 'x'.repeat({len(text)})); return 'kept'"}, None),
    "message": ("actors", lambda text: {"action": "send", "to": "g", "message": text}, None),
    "behaviour": ("actors", lambda text: {"action": "spawn", "group": "big", "code": f"({{ /* {text} */ receive(s) {{ return s }} }})"}, None),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_door(server: Server, door: str) -> None:
    tool, arguments, expected = DOORS[door]
    server.tool("run", command="true")
    server.tool("actors", action="spawn", group="g", code="({receive(s) { return s }})")
    for size in SIZES:
        answer = server.request("tools/call", {"name": tool, "arguments": arguments("x" * size)})
        if "error" in answer:
            assert "limit" in answer["error"]["message"], (size, answer)
            server.lives()
            continue
        result = answer["result"]
        text = result["content"][0]["text"]
        said = "limit" in text or "at most" in text or result.get("isError", False) or "state" in result.get("structuredContent", {})
        assert said or expected is None, (size, text[:300])
        if expected is not None and not result.get("isError") and "limit" not in text:
            assert text == expected(size), (size, text[:300])
        if expected is not None and size <= 64 << 10:
            assert text == expected(size), (size, text[:300])
        if expected is not None and not text.startswith(expected(size)[:1]):
            assert str(size) in text or "bytes" in text, (size, text[:300])
        assert len(text) < 600_000
        server.lives()


def test_a_job_that_does_not_read_what_is_written_to_it(server: Server) -> None:
    job = server.tool("run", command="sleep 1000", interactive=True, yield_ms=0)["job"]
    assert "bytes were written" in server.text("job", action="write", job=job, text="x" * (1 << 20))
    assert "at most" in server.text("job", action="write", job=job, text="x" * (4 << 20))
    server.lives()
    assert server.tool("job", action="stop", job=job)["stopped_by"] == "cancelled"


def test_a_cells_deadline_holds_for_whatever_it_waits_for(server: Server) -> None:
    server.tool("session", action="open", name="other")
    waits = [
        "while (true) await shell('true')",
        "while (true) { try { await shell('exit 1', {cwd: '/none'}) } catch {} }",
        "await shell('sleep 1000')",
        "await Promise.all([shell('sleep 1000'), shell('sleep 1000')])",
        "while (true) await read('/etc/passwd')",
        "while (true) await null",
        "await new Promise(done => setTimeout(done, 1e9))",
        "while (true);",
        "for (;;) { try { await shell('while :; do :; done', {timeout_ms: 1}) } catch {} }",
    ]
    for code in waits:
        start = time.monotonic()
        end = server.tool("js", code=code, session="other", timeout_ms=1000)
        assert (end["state"], end["limit"]) == ("terminated", "deadline"), code
        assert time.monotonic() - start < 20, code
        server.lives()
        # What it had started has gone with it.
        deadline = time.monotonic() + 20
        while (answer := server.call("run", command="echo free", session="other")).get("isError"):
            assert time.monotonic() < deadline, (code, answer)
            time.sleep(0.05)
        assert answer["content"][0]["text"] == "free\n"


def test_a_long_pattern_is_refused_before_it_is_parsed(server: Server) -> None:
    """What the parser makes of a pattern takes a hundred times its length, in the server's own memory, which no session's limit bounds."""
    job = server.tool("run", command="echo found")["job"]
    for tool, arguments in (("log", {"action": "grep", "job": job, "pattern": ""}), ("job", {"action": "wait", "job": job, "until": ""})):
        field = next(name for name, value in arguments.items() if value == "")
        for size, refused in ((8 << 10, False), ((8 << 10) + 1, True), (15 << 20, True)):
            answer = server.call(tool, **(arguments | {field: "f" * size}))
            assert bool(answer.get("isError")) == refused, (tool, size)
            assert not refused or f"{field}: the pattern is {size} bytes" in answer["content"][0]["text"], (tool, size)


def test_the_server_keeps_little_of_what_it_has_run(server: Server) -> None:
    """Ended jobs are remembered by the hundred: the memory is for their results, not for scripts of megabytes."""
    script = ": " + "x" * 1_900_000
    server.call("run", command=script)
    before = server.memory_kb()
    for _ in range(60):
        assert not server.call("run", command=script).get("isError")
    assert server.memory_kb() - before < 60_000, "of 60 scripts of 1.9 MB"
