"""Whatever a client sends as a message, it gets exactly one answer, and the next request is answered too. Lines are made from a grammar of faults and by
mutation of good ones, from a seed that a failure names."""

import http.client
import json
import random
import re
import subprocess
import time
from pathlib import Path

import pytest
from server import Server

SEED = 20261
#: Mutated lines of each run.
MUTATED = 400
#: Codes of JSON-RPC for what is no message.
REFUSALS = {-32700, -32600, -32601, -32602}


def call(command: str, identity: object = 1) -> bytes:
    params = {"name": "run", "arguments": {"command": command}}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}).encode()


def faults() -> list[bytes]:
    """Lines of every kind that is no good request; each is to be answered once."""
    surrogate = b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"run","arguments":{"command":"echo \\ud83d"}}}'
    lines = [
        surrogate,
        surrogate.replace(b"\\ud83d", b"\\udc00\\ud83d"),
        surrogate.replace(b"\\ud83d", b"\xff\xfe"),
        surrogate.replace(b"\\ud83d", b"\\u00"),
        surrogate.replace(b"\\ud83d", b"\\x"),
        surrogate.replace(b"\\ud83d", b"\x01"),
        surrogate[:-1],
        surrogate + b"}",
        surrogate + b" " + surrogate,
        b"[" + surrogate + b"]",
        b"nonsense",
        b"{",
        b"}",
        b"[]",
        b"[1,2]",
        b"7",
        b"null",
        b'"text"',
        b"{}",
        b"\x00",
        b"\xff\xff",
        b"Content-Length: 20",
        b"GET / HTTP/1.1",
        b'{"jsonrpc":"2.0","id":12}',
        b'{"jsonrpc":"1.0","id":13,"method":"ping"}',
        b'{"id":13,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":14,"method":7}',
        b'{"jsonrpc":"2.0","id":14,"method":null}',
        b'{"jsonrpc":"2.0","id":15,"method":"ping","result":{}}',
        b'{"jsonrpc":"2.0","id":15,"method":"no/such"}',
        b'{"jsonrpc":"2.0","id":15,"method":""}',
        b'{"jsonrpc":"2.0","method":{}}',
    ]
    for identity in (b"null", b"true", b"1.5", b"{}", b"[]", b"99999999999999999999999", b"1e400", b"[[1]]", b'"\\ud800"'):
        lines.append(b'{"jsonrpc":"2.0","id":' + identity + b',"method":"ping"}')
    for params in (b"7", b"null", b"[]", b'"x"', b"{}", b'{"name":7}', b'{"name":"run","arguments":[]}', b'{"name":"nobody"}'):
        lines.append(b'{"jsonrpc":"2.0","id":16,"method":"tools/call","params":' + params + b"}")
    for depth in (100, 120, 124, 125, 126, 127, 128, 200, 5_000, 1_000_000):
        for begin, end in ((b"[", b"]"), (b'{"a":', b"}")):
            inner = begin * depth + b"1" + end * depth
            lines.append(b'{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"run","arguments":{"command":' + inner + b"}}}")
            lines.append(b'{"jsonrpc":"2.0","id":17,"method":"ping","params":{"_meta":' + inner + b"}}")
            lines.append(b'{"jsonrpc":"2.0","id":' + inner + b',"method":"ping"}')
            # Without its end.
            lines.append(b'{"jsonrpc":"2.0","id":17,"method":"ping","params":' + begin * depth)
    return lines


def mutated(seed: int, count: int) -> list[bytes]:
    """Good lines with a few bytes of them changed, left out, doubled or cut."""
    chance = random.Random(seed)
    good = [
        call("echo a", 21),
        call("echo b", "text"),
        b'{"jsonrpc":"2.0","id":22,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":23,"method":"tools/list","params":{"cursor":"x"}}',
        b'{"jsonrpc":"2.0","id":24,"method":"tools/call","params":{"name":"session","arguments":{"action":"list"}}}',
    ]
    spice = [b"\\ud83d", b"\xff", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"null", b"1e999", b'"id":5,', b"\x00", b"-", b" "]
    lines = []
    while len(lines) < count:
        line = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(line) + 1)
            kind = chance.randrange(5)
            if kind == 0:
                line[at:at] = chance.choice(spice)
            elif kind == 1:
                del line[at : at + chance.randint(1, 8)]
            elif kind == 2:
                line[at : at + 1] = bytes([chance.randrange(256)])
            elif kind == 3:
                line[at:at] = line[at : at + chance.randint(1, 30)]
            else:
                line = line[: max(1, at)]
            if not line:
                break
        line = bytes(line).replace(b"\n", b" ")
        if wants_answer(line):
            lines.append(line)
    return lines


def wants_answer(line: bytes) -> bool:
    """Whether it is neither nothing nor a notification nor a response."""
    if not line.strip(b" \t\r\n\x0c"):
        return False
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return True
    if not isinstance(message, dict) or "id" in message:
        return not (isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message))
    return "method" not in message and "result" not in message and "error" not in message or not isinstance(message.get("method", ""), str)


def answered_once(server: Server, line: bytes) -> dict:
    """The one answer: it comes, and nothing else comes before the answer of a `ping` behind it."""
    server.process.stdin.write(line + b"\n")
    server.process.stdin.flush()
    first = server.next_message(30)
    server.count += 1
    server.send({"jsonrpc": "2.0", "id": f"ping {server.count}", "method": "ping"})
    second = server.next_message(30)
    assert second.get("id") == f"ping {server.count}", f"not one answer to {line[:200]!r}: {first} and {second}"
    return first


@pytest.fixture
def server(pithos: str, workspace: Path):
    server = Server(pithos, workspace)
    yield server
    server.close()


def test_every_hostile_line_is_answered_once(server: Server) -> None:
    for line in faults():
        answer = answered_once(server, line)
        wrong = answer.get("error", {}).get("code") in REFUSALS or answer.get("result", {}).get("isError")
        assert wrong or b"_meta" in line or b"echo" in line, f"{line[:200]!r}: {answer}"
        if b'"id":17,' in line and not line.endswith((b"[", b":")):
            assert answer["id"] == 17, f"{line[:100]!r}: {answer}"
    assert answered_once(server, faults()[0])["error"]["code"] == -32700
    server.lives()


def test_every_mutated_line_is_answered_once(server: Server) -> None:
    for line in mutated(SEED, MUTATED):
        answered_once(server, line)
    server.lives()


def test_an_id_that_is_in_use_is_refused(server: Server) -> None:
    slow = call("sleep 1; echo slow", 31)
    server.process.stdin.write(slow + b"\n" + call("echo quick", 31) + b"\n")
    server.process.stdin.flush()
    first, second = server.next_message(), server.next_message()
    assert (first["id"], first["error"]["code"]) == (31, -32600), first
    assert second["id"] == 31 and second["result"]["content"][0]["text"] == "slow\n", second
    # It is free again.
    assert answered_once(server, call("echo again", 31))["result"]["content"][0]["text"] == "again\n"
    # That of a call that was taken back is not.
    server.process.stdin.write(call("sleep 30", 32) + b"\n")
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 32}})
    assert answered_once(server, call("echo again", 32))["error"]["code"] == -32600
    server.lives()


def test_a_line_over_the_limit_is_answered_once(server: Server) -> None:
    for line in (call("x" * (17 << 20), 41), b"x" * (17 << 20), b'{"id":42,' + b" " * (40 << 20)):
        answer = answered_once(server, line)
        assert answer["error"]["code"] == -32600 and "limit" in answer["error"]["message"], answer
    server.lives()


def test_what_comes_before_the_beginning_ends_nothing(pithos: str, workspace: Path) -> None:
    lines = [
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b"nonsense",
        b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
        # Without a line end.
        b'{"jsonrpc":"2.0","id":3,"method":"ping"}',
    ]
    done = subprocess.run([pithos, "serve", "--cwd", workspace], input=b"\n".join(lines), capture_output=True, timeout=60)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("id") for answer in answers] == [None, 2, 3], (answers, done.stderr)
    assert answers[2]["result"] == {}


@pytest.fixture
def web(pithos: str, workspace: Path):
    """Asks a server over HTTP: status and body of a message in an MCP session."""
    token = workspace / "token"
    command = [pithos, "serve", "--http", "127.0.0.1:0", "--token-file", str(token), "--cwd", str(workspace)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = int(re.search(r"http://127\.0\.0\.1:(\d+)/mcp ", process.stderr.readline()).group(1))
            headers = {
                "Authorization": f"Bearer {token.read_text().strip()}",
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            }

            def post(body: bytes, wait: bool = True) -> tuple[int, bytes] | http.client.HTTPConnection:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("POST", "/mcp", body=body, headers=headers)
                if not wait:
                    return connection
                answer = connection.getresponse()
                if session := answer.getheader("mcp-session-id"):
                    headers["mcp-session-id"] = session
                result = answer.status, answer.read()
                connection.close()
                return result

            client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            status, body = post(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}).encode())
            assert status == 200, body
            post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
            yield post
        finally:
            process.kill()


def answers_in(body: bytes) -> list[dict]:
    """The messages of a body, which is JSON or a stream of events."""
    if body.startswith(b"{"):
        return [json.loads(body)]
    events = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    return [json.loads(event) for event in events if event]


def test_every_hostile_message_over_http_is_answered_once(web) -> None:
    for line in [line for line in faults() if len(line) < 3 << 20] + mutated(SEED + 1, MUTATED // 4):
        status, body = web(line)
        answers = answers_in(body)
        assert len(answers) == 1, f"{line[:200]!r}: {status} {body[:500]!r}"
        if "error" in answers[0] and answers[0]["error"]["code"] in (-32700, -32600):
            assert status == 400, (line[:200], status, answers)
    assert answers_in(web(b'{"jsonrpc":"2.0","id":51,"method":"ping"}')[1])[0]["result"] == {}
    assert web(b"")[0] == 400
    assert web(b'{"jsonrpc":"2.0","method":"notifications/nobody"}')[0] == 202


def test_an_id_that_is_in_use_is_refused_over_http(web) -> None:
    slow = web(call("sleep 1; echo slow", 61), wait=False)
    time.sleep(0.3)
    assert answers_in(web(call("echo quick", 61))[1])[0]["error"]["code"] == -32600
    assert answers_in(slow.getresponse().read())[0]["result"]["content"][0]["text"] == "slow\n"
    assert answers_in(web(call("echo again", 61))[1])[0]["result"]["content"][0]["text"] == "again\n"
