"""Cells call tools: the server's own, and those of the servers that it was told of."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from server import Server

OTHER = '''
import json, os, sys, time
def send(m):
    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    method, params = m.get("method"), m.get("params") or {}
    if method == "initialize":
        send({"id": m["id"], "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "other", "version": "1"}}})
    elif method == "tools/list":
        tools = [
            {"name": "add", "description": "Adds */ two", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}, "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}},
            {"name": "say-it", "inputSchema": {"type": "object"}},
            {"name": "fail", "inputSchema": {"type": "object"}},
            {"name": "slow", "inputSchema": {"type": "object"}},
            {"name": "wait", "inputSchema": {"type": "object"}},
            {"name": "die", "inputSchema": {"type": "object"}},
            {"name": "big", "inputSchema": {"type": "object"}},
        ]
        send({"id": m["id"], "result": {"tools": tools}})
    elif method == "tools/call":
        name, given = params["name"], params.get("arguments") or {}
        if name == "add":
            answer = {"content": [{"type": "text", "text": "x"}], "structuredContent": {"sum": given["a"] + given["b"]}}
        elif name == "say-it":
            answer = {"content": [{"type": "text", "text": os.environ.get("WORD", "")}, {"type": "text", "text": str(os.getpid())}]}
        elif name == "big":
            answer = {"content": [{"type": "text", "text": "x" * (5 << 20)}]}
        elif name == "slow":
            time.sleep(60)
        elif name == "wait":
            continue
        elif name == "die":
            os._exit(3)
        else:
            answer = {"content": [{"type": "text", "text": "it went wrong"}], "isError": True}
        send({"id": m["id"], "result": answer})
    elif "id" in m:
        send({"id": m["id"], "result": {}})
'''


@pytest.fixture
def config(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("config")
    (folder / "other.py").write_text(OTHER)
    servers = {
        "other": {"command": sys.executable, "args": [str(folder / "other.py")], "env": {"WORD": "from ${PITHOS_TEST_WORD}"}},
        "absent": {"command": "/no/such/program"},
        "silent": {"command": "/bin/true"},
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return folder / "mcp.json"


@pytest.fixture
def coder(pithos: str, workspace: Path, config: Path):
    server = Server(pithos, workspace, "--mcp-config", str(config), PITHOS_TEST_WORD="here")
    yield server
    server.close()


def js(server: Server, code: str, **arguments) -> dict:
    return server.tool("js", code=code, **arguments)


def test_own_tools_answer_a_cell_as_they_answer_a_client(server: Server, workspace: Path) -> None:
    result = js(server, """
        const made = await tools.pithos.run({command: 'x=kept; echo one; echo two >&2; exit 3', streams: true});
        const again = await tools.pithos.run({command: 'echo $x'});
        const log = await tools.pithos.log({action: 'tail', job: made.job});
        const {sessions} = await tools.pithos.session({action: 'list'});
        ({status: made.status, stdout: made.stdout, text: again.text, log: log.text, sessions: sessions.length})
    """)
    assert result["state"] == "done", result
    assert result["value"]["status"] == 3 and result["value"]["stdout"] == "one\n" and result["value"]["text"] == "kept\n", result
    assert "one" in result["value"]["log"]
    many = js(server, "(await Promise.all(Array.from({length: 20}, (_, i) => tools.pithos.run({command: `echo ${i}`, background: true})))).length")
    assert many["value"] == 20


def test_what_is_wrong_is_said_and_can_be_caught(coder: Server) -> None:
    for code, words in [
        ("tools.pithos.run({})", "'command' is missing"),
        ("tools.pithos.run({command: ':', comand: 1})", "there is no argument 'comand'"),
        ("tools.pithos.nothing()", "it has: run, job"),
        ("tools.pithos.js({code: '1'})", "a cell starts no cells"),
        ("tools.nobody.x()", "there are: pithos, absent, other, silent"),
        ("tools.other.nothing()", "it has: add, say-it"),
        ("tools.other.fail()", "it went wrong"),
        ("tools.other.add(1)", "must be an object"),
        ("tools.other.big()", "over the limit"),
        ("tools.other.add({a: 'x'.repeat(5e6), b: 1})", "over the limit"),
        ("tools.absent.x()", "cannot be started"),
        ("tools.silent.x()", "does not answer"),
        ("tools.declarations('nobody')", "there are: pithos"),
    ]:
        result = js(coder, f"try {{ await {code}; 'no error' }} catch (error) {{ error.message }}".replace("try {", "let said; try {").replace("'no error' }", "said = 'no error' }").replace("{ error.message }", "{ said = error.message }") + "\nsaid")
        assert words in result["value"], (code, result)
    assert js(coder, "tools.then === undefined && tools.other.then === undefined && await tools === tools")["value"] is True
    assert js(coder, "tools.other = 1")["state"] == "error"
    assert js(coder, "1 + 1")["value"] == 2


def test_other_servers_are_started_once_and_when_they_are_needed(coder: Server) -> None:
    first = js(coder, "const {sum} = await tools.other.add({a: 2, b: 3}); const said = await tools.other['say-it'](); [sum, said]")["value"]
    assert first[0] == 5 and first[1].startswith("from here\n"), first
    assert js(coder, "tools.other['say-it']()")["value"] == first[1]
    # One that ends is an error of its call, and another is started for the next.
    assert js(coder, "await tools.other.die()")["state"] == "error"
    deadline = time.monotonic() + 20
    while (other := js(coder, "await tools.other['say-it']().catch(() => '')")["value"]) == "":
        assert time.monotonic() < deadline
    assert other != first[1]
    slow = js(coder, "await tools.other.slow()", timeout_ms=300)
    assert slow["state"] == "terminated" and slow["limit"] == "deadline", slow
    assert coder.probe()


def test_a_server_that_hangs_is_ended_and_one_that_is_slow_is_not(coder: Server) -> None:
    """A call that is given up does not take the next ones along: whoever does not even answer a ping is started again."""
    say = "(await tools.other['say-it']()).split('\\n')[1]"
    first = js(coder, say)["value"]
    hung = js(coder, "await Promise.all([1, 2, 3].map(() => tools.other.slow()))", timeout_ms=300)
    assert hung["limit"] == "deadline", hung
    second = js(coder, say, timeout_ms=60_000, yield_ms=60_000)
    assert second["state"] == "done" and second["value"] != first, second
    # One that works on its calls beside each other answers, and keeps what it has.
    patient = js(coder, "await tools.other.wait()", timeout_ms=300)
    assert patient["limit"] == "deadline", patient
    assert js(coder, say, timeout_ms=60_000, yield_ms=60_000)["value"] == second["value"]


def test_a_server_takes_the_others_along(pithos: str, workspace: Path, config: Path) -> None:
    server = Server(pithos, workspace, "--mcp-config", str(config))
    pid = int(js(server, "await tools.other['say-it']()")["value"].split("\n")[1])
    assert Path(f"/proc/{pid}").exists()
    server.close()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_cell_that_ends_ends_what_it_called(server: Server) -> None:
    result = js(server, "await tools.pithos.run({command: '/bin/sleep 1000'})", timeout_ms=500)
    assert result["limit"] == "deadline"
    assert server.sleepers_after(10) == []
    assert js(server, "await tools.pithos.run({command: '/bin/sleep 1000 & echo'}); tools.pithos.run({command: 'sleep 1000'}); 'left'")["value"] == "left"


def test_declarations_are_typescript(coder: Server, tmp_path: Path) -> None:
    text = js(coder, "await tools.declarations()")["value"]
    assert "run(argument: { " in text and "; command: string; " in text
    assert "add(argument: { a: number; b: number }): Promise<{ sum: number }>;" in text
    assert '"say-it"(argument?: Record<string, unknown>): Promise<unknown>;' in text
    assert "/** Adds * / two */" in text and "// tools: the server \"absent\" cannot be started" in text
    assert "add(" not in js(coder, "await tools.declarations('pithos')")["value"]
    if not shutil.which("tsc"):
        return
    (tmp_path / "a.ts").write_text(text + "\nconst x: Promise<{sum: number}> = tools.other.add({a: 1, b: 2});\n")
    subprocess.run(["tsc", "--noEmit", "--strict", "--target", "es2022", str(tmp_path / "a.ts")], check=True)


def test_the_value_is_that_of_the_last_expression(server: Server) -> None:
    for code, value in [
        ("1 + 1", 2),
        ("const a = 20; a + 1", 21),
        ("const a: number = 20;\nconst f = async () => a;\nawait f()", 20),
        ("let a = []\na.push(1)\na", [1]),
        ("const a = 1; return 5", 5),
        ("const a = 1; if (a) return 7; 8", 7),
        ("for (const x of [1]) x;\n({a: 1})", {"a": 1}),
        ("'use strict'; `a${1}`; // said", "a1"),
        ("await Promise.resolve(3); /* last */ 4 ;", 4),
        ("const s = '}); ('; s", "}); ("),
    ]:
        result = js(server, code)
        assert result["state"] == "done" and result["value"] == value, (code, result)
    for code in ("const a = 1", "let a; a = undefined; void a", ""):
        assert js(server, code).get("value") is None, code
    wrong = server.call("js", code="const a = 1;\na.b.c")
    assert "cell:2" in wrong["content"][0]["text"], wrong


def test_the_file_is_not_for_sessions_to_change(pithos: str, workspace: Path) -> None:
    (workspace / "servers.json").write_text('{"mcpServers": {}}')
    server = Server(pithos, workspace, "--mcp-config", str(workspace / "servers.json"))
    try:
        assert server.tool("run", command="echo x >servers.json; mv servers.json other")["status"] != 0
        assert (workspace / "servers.json").read_text() == '{"mcpServers": {}}'
    finally:
        server.close()
    for text, words in [("{", "EOF"), ('{"mcpServers": {"a": {"url": "http://127.0.0.1"}}}', "url")]:
        (workspace / "servers.json").write_text(text)
        done = subprocess.run([pithos, "serve", "--mcp-config", str(workspace / "servers.json")], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=workspace)
        assert done.returncode == 1 and words in done.stderr and "--mcp-config" in done.stderr
