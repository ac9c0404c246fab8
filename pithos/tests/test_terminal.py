"""Runs on a terminal: what programs find there, typing, the keyboard's signals, a new size, and what is left behind."""

from server import Server

SIZE = {"columns": 100, "rows": 40}


def test_a_script_finds_a_terminal_of_the_size_that_was_asked_for(server: Server) -> None:
    found = server.call("run", command='[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && echo "$TERM" && : </dev/tty && echo own', terminal=SIZE)
    assert found["content"][0]["text"] == "40 100\nxterm-256color\nown\n"
    assert found["structuredContent"]["status"] == 0
    assert server.text("run", command="[ -t 1 ] || echo none") == "none\n"


def test_typing_and_the_end_of_input(server: Server) -> None:
    job = server.tool("run", command="read -p 'name? ' name; echo hello $name; cat", terminal=SIZE, yield_ms=300)
    assert job["state"] == "running" and job["waiting_for_input"]["prompt"] == "name? "
    written = server.call("job", action="write", job=job["job"], text="ann\n", timeout_ms=300)
    assert "hello ann\n" in written["content"][0]["text"]
    server.tool("job", action="write", job=job["job"], text="typed\n", close_stdin=True)
    ended = server.call("job", action="wait", job=job["job"], timeout_ms=10000)
    assert ended["structuredContent"]["state"] == "done" and ended["structuredContent"]["status"] == 0
    # Once as the terminal's echo, once from cat.
    assert ended["content"][0]["text"].count("typed\n") == 2


def test_a_new_size_reaches_the_program(server: Server) -> None:
    watch = "/bin/bash -c 'trap \"stty size\" WINCH; echo ready; while :; do sleep 0.05; done'"
    job = server.tool("run", command=watch, terminal=SIZE, background=True)["job"]
    assert server.tool("job", action="wait", job=job, until="^ready$", timeout_ms=10000)["matched"]
    server.tool("job", action="resize", job=job, columns=33, rows=11)
    assert server.tool("job", action="wait", job=job, until="^11 33$", timeout_ms=10000)["matched"]
    server.tool("job", action="stop", job=job)
    plain = server.tool("run", command="read x", interactive=True, yield_ms=0)["job"]
    assert "no terminal" in server.text("job", action="resize", job=plain, columns=80, rows=24)


def test_the_interrupt_key_ends_the_program_and_the_session_goes_on(server: Server) -> None:
    # No shell in it: dash loses the signal for good when it comes while dash starts a command.
    watch = "kept=1; echo ready >watched; /usr/bin/tail -f watched | /bin/cat"
    job = server.tool("run", command=watch, terminal=SIZE, yield_ms=0)["job"]
    assert server.tool("job", action="wait", job=job, until="^ready$", timeout_ms=10000)["matched"]
    server.tool("job", action="write", job=job, text="\x03")
    ended = server.tool("job", action="wait", job=job, timeout_ms=10000)
    assert ended["state"] == "done" and ended["status"] == 130
    # The next run has a terminal of its own, and the one after it none.
    assert server.text("run", command="echo $kept; tty | grep -c pts", terminal=SIZE) == "1\n1\n"
    assert server.text("run", command="tty; : </dev/tty || echo none", session="main").count("no") >= 2
