"""What a server over HTTP shows to people: `/metrics`, the page and its stream. Everything needs a credential, nothing can be changed, and what guests write is data."""

import http.client
import json
import random
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 60.0
#: The files of the page.
CONSOLE = Path(__file__).parent.parent / "server" / "console"


class Http:
    """A server over HTTP, with a page."""

    def __init__(self, pithos: str, workspace: Path, *arguments: str) -> None:
        self.pithos = pithos
        token = workspace / "token"
        command = [pithos, "serve", "--http", "127.0.0.1:0", "--token-file", str(token), "--cwd", str(workspace), *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/mcp ", self.process.stderr.readline()).group(1))
        self.token = {"Authorization": f"Bearer {token.read_text().strip()}"}
        self.own = {"Host": f"127.0.0.1:{self.port}"}
        self.session = None

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, dict, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host=True)
        for name, value in ({"Host": self.own["Host"]} | {name.replace("_", "-"): value for name, value in headers.items()}).items():
            if value is not None:
                connection.putheader(name, value)
        data = (body or "").encode()
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        result = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return result

    def rpc(self, method: str, params: dict) -> dict:
        headers = self.token | {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        status, answered, body = self.ask("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), **headers)
        assert status == 200, (status, body)
        self.session = answered.get("mcp-session-id", self.session)
        lines = [line.removeprefix("data:").strip() for line in body.decode().split("\n") if line.startswith("data:")]
        return json.loads(next(line for line in reversed([*lines, body.decode()]) if line.startswith("{")))

    def call(self, tool: str, **arguments) -> dict:
        if not self.session:
            client = {"name": "test", "version": "1"}
            self.rpc("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
            headers = self.token | {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": self.session}
            self.ask("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), **headers)
        return self.rpc("tools/call", {"name": tool, "arguments": arguments})["result"]

    def invited(self) -> str:
        """The address of the page, with a word that signs in once."""
        done = subprocess.run([self.pithos, "console"], capture_output=True, text=True, timeout=PATIENCE, check=True)
        return re.search(rf"http://127\.0\.0\.1:{self.port}/console/#\w+", done.stdout).group()

    def invitation(self) -> str:
        return self.invited().split("#")[1]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def sign_in(self) -> str:
        status, headers, _ = self.ask("POST", "/console/login", json.dumps({"word": self.invitation()}), **self.page())
        assert status == 204 and all(part in headers["set-cookie"] for part in ("HttpOnly", "SameSite=Strict", "Path=/console"))
        return headers["set-cookie"].split(";")[0]

    def page(self) -> dict:
        """What a browser says of a request of the page."""
        return {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}

    def picture(self, **headers: str) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", "/console/events", headers=headers)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("content-type")) == (200, "text/event-stream")
        event, data, end = answer.readline(), answer.readline(), answer.readline()
        connection.close()
        assert (event, end) == (b"event: overview\n", b"\n")
        return json.loads(data.removeprefix(b"data: "))


@pytest.fixture
def server(pithos: str, workspace: Path) -> Iterator[Http]:
    server = Http(pithos, workspace, "--console")
    yield server
    server.stop()


def test_without_the_flag_there_is_no_page(pithos: str, workspace: Path) -> None:
    server = Http(pithos, workspace)
    for path in ("/console", "/console/", "/console/app.js", "/console/events"):
        assert server.ask("GET", path, **server.token)[0] == 404
    assert server.ask("GET", "/metrics", **server.token)[0] == 200
    server.stop()


def test_who_gets_what(server: Http) -> None:
    """A table of requests: every route by every credential, method, host and origin."""
    cookie = {"Cookie": server.sign_in()}
    files = ["/console/", *(f"/console/{path.name}" for path in CONSOLE.glob("*.*") if path.name != "index.html")]
    data = [f"/console/{name}" for name in ("events", "follow", "me", "job", "grep", "log", "diff", "checkpoints", "tree", "denials", "timeline", "history", "machine")]
    changes = [f"/console/{name}" for name in ("login", "logout", "act", "answer")]
    for path in files:
        assert server.ask("GET", path)[0] == 200
    for path in [*data, "/metrics", "/console/x", "/console/../metrics"]:
        assert server.ask("GET", path)[0] == 401, path
        for wrong in ("Bearer ", "Bearer x", server.token["Authorization"][:-1], "Basic eA=="):
            assert server.ask("GET", path, Authorization=wrong)[0] == 401, (path, wrong)
        for wrong in ("x", f"pithos_console_{server.port}=", cookie["Cookie"][:-1], cookie["Cookie"].replace(str(server.port), "1")):
            assert server.ask("GET", path, Cookie=wrong)[0] == 401, (path, wrong)
    assert server.ask("GET", "/metrics", **cookie)[0] == 401, "a page's cookie is for the page"
    assert server.ask("GET", "/metrics", **server.token)[0] == 200
    for path in ("follow?client=1&job=j1", "job?client=1&job=j1", "grep?client=1&job=j1&pattern=x", "diff?client=1&session=main", "tree?client=7", "job", "output"):
        assert server.ask("GET", f"/console/{path}", **cookie)[0] == 404, path
    for path in [*files, *data, "/metrics", *changes]:
        good = server.token | cookie
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"):
            if method == ("POST" if path in changes else "GET"):
                continue
            assert server.ask(method, path, **good, **server.page())[0] == 405, (method, path)
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "127.0.0.1:1", f"localhost.:{server.port}", "", None):
            assert server.ask("GET", path, **good, Host=host)[0] in (400, 421), (path, host)
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.port}", f"http://localhost:{server.port}", "http://127.0.0.1", f"http://127.0.0.1:{server.port}/"):
            for method in ("GET", "POST"):
                assert server.ask(method, path, **good, Origin=origin)[0] == 403, (path, origin)
        for site in ("cross-site", "same-site"):
            assert server.ask("GET", path, **good, Sec_Fetch_Site=site)[0] == 403
    for path in changes:
        assert server.ask("POST", path, "{}", **cookie)[0] == 403, "who changes something says where it comes from"


def test_acting_needs_the_right_to_it(server: Http, pithos: str, tmp_path: Path) -> None:
    """A table of who may not act, by server, credential, word and type; each with an action that would work."""
    cookie = {"Cookie": server.sign_in()}
    word = json.loads(server.ask("GET", "/console/me", **cookie)[2])
    assert word["act"] is False, "a page looks, unless it is said"
    server.call("run", command="sleep 1000", background=True)
    stop = json.dumps({"client": 1, "tool": "job", "arguments": {"action": "stop", "job": "j1"}})
    assert server.ask("POST", "/console/act", stop, **cookie, **server.page(), X_Pithos_Page=word["word"])[0] == 403
    (tmp_path / "work").mkdir()
    other = Http(pithos, tmp_path / "work", "--console=act")
    try:
        cookie = {"Cookie": other.sign_in()}
        word = {"X_Pithos_Page": json.loads(other.ask("GET", "/console/me", **cookie)[2])["word"]}
        other.call("run", command="sleep 1000", background=True)
        post = lambda body=stop, path="/console/act", **headers: other.ask("POST", path, body, **headers)[0]
        form = other.page() | {"Content-Type": "application/x-www-form-urlencoded"}
        assert post(**other.page(), **word) == 401, "without a cookie"
        assert post(**other.page(), **other.token, **word) == 401, "the token is a client's"
        assert post(**other.page(), **cookie) == 403, "without the page's word"
        assert post(**other.page(), **cookie, X_Pithos_Page=word["X_Pithos_Page"][:-1]) == 403
        assert post(**other.page(), **cookie, X_Pithos_Page=cookie["Cookie"].split("=")[1]) == 403
        assert post(**form, **cookie, **word) == 415
        assert post(**other.page() | {"Origin": "http://evil.example"}, **cookie, **word) == 403
        assert post(**cookie, **word) == 403, "without an origin"
        for body in ("", "[]", '"x"', json.dumps({"client": 1, "tool": "run", "arguments": {"command": "touch x"}}), stop.replace('"stop"', '"wait"'), stop.replace('"job"', '"js"', 1)):
            assert post(body, **other.page(), **cookie, **word) == 403, body
        for body in (stop.replace("1", "9", 1), stop.replace("1", "null", 1)):
            assert post(body, **other.page(), **cookie, **word) == 404, body
        assert post(json.dumps({"client": 1, "tool": "job", "arguments": {"action": "write", "job": "j1", "text": "x" * 100_000}}), **other.page(), **cookie, **word) == 400
        for body in ("{}", '{"question": 1, "reply": "no"}', '{"question": 1, "reply": "maybe"}'):
            assert post(body, "/console/answer", **other.page(), **cookie, **word) in (400, 404)
        assert other.call("job", action="list")["structuredContent"]["jobs"][0]["state"] == "running", "nothing of all this stopped it"
        status, _, answered = other.ask("POST", "/console/act", stop, **other.page(), **cookie, **word)
        assert (status, json.loads(answered)["ended"], json.loads(answered)["structured"]["state"]) == (200, "good", "stopped")
    finally:
        other.stop()


@pytest.fixture
def acting(pithos: str, tmp_path: Path) -> Iterator[Http]:
    """A server whose page may act, with a journal."""
    (tmp_path / "work").mkdir()
    server = Http(pithos, tmp_path / "work", "--console=act", "--audit", str(tmp_path / "audit"))
    yield server
    server.stop()


def act(server: Http, tool: str, **arguments) -> dict:
    """What the page does when a button is pressed."""
    if not hasattr(server, "signed"):
        server.signed = {"Cookie": server.sign_in()}
        server.signed["X_Pithos_Page"] = json.loads(server.ask("GET", "/console/me", **server.signed)[2])["word"]
    status, _, body = server.ask("POST", "/console/act", json.dumps({"client": 1, "tool": tool, "arguments": arguments}), **server.signed, **server.page())
    assert status == 200, (status, body)
    return json.loads(body)


def look(server: Http, path: str) -> dict:
    if not hasattr(server, "signed"):
        act(server, "job", action="stop", job="j0")
    status, _, body = server.ask("GET", f"/console/{path}", **server.signed)
    assert status == 200, (path, status)
    return json.loads(body)


def test_what_a_person_does_is_in_the_journal(acting: Http, tmp_path: Path) -> None:
    """Every kind of action, good and wrong; each is a line `by: console`, and what is typed is in none."""
    work = tmp_path / "work"
    acting.call("session", action="open", name="s", overlay=True)
    if acting.call("session", action="list")["structuredContent"]["sessions"][0]["undo"] != "overlay":
        pytest.skip("there is no overlay here")
    acting.call("run", session="s", command="echo 1 > a; echo 2 > b; echo 3 > c")
    assert {file["path"] for file in look(acting, "diff?client=1&session=s")["structured"]["files"]} == {str(work / name) for name in "abc"}
    assert act(acting, "session", action="commit", session="s", paths=[str(work / "a")])["ended"] == "good"
    assert act(acting, "session", action="discard", session="s", paths=[str(work / "b")])["ended"] == "good"
    assert (work / "a").exists() and not (work / "c").exists()
    assert act(acting, "session", action="checkpoint", session="s", name="p")["ended"] == "good"
    assert look(acting, "checkpoints?client=1")["structured"]["checkpoints"][0]["checkpoint"] == "p"
    assert act(acting, "session", action="fork", checkpoint="p", name="f")["ended"] == "good"
    acting.call("run", session="s", command="echo 4 > d")
    assert act(acting, "session", action="undo", session="s")["ended"] == "good"
    assert act(acting, "session", action="close", session="f")["ended"] == "good"
    assert act(acting, "session", action="close", session="f")["ended"] == "wrong"
    assert act(acting, "session", action="close", sesion="f")["ended"] == "wrong"
    job = acting.call("run", session="s", command="read x; echo got $x", interactive=True, yield_ms=100)["structuredContent"]["job"]
    assert act(acting, "job", action="write", job=job, text="hunter2\n")["structured"]["state"] == "done"
    lines = journalled(tmp_path / "audit", 9)
    done = [(line["tool"], line["arguments"]["action"], line["ended"]) for line in lines if line.get("by") == "console"]
    actions = ["commit", "discard", "checkpoint", "fork", "undo", "close", "close", "close"]
    assert done[-9:] == [*(("session", action, "good") for action in actions[:6]), ("session", "close", "wrong"), ("session", "close", "wrong"), ("job", "write", "good")]
    assert "hunter2" not in (tmp_path / "audit").read_text()
    assert all(line["client"] == 1 for line in lines if line.get("by") == "console")
    timeline = look(acting, "timeline")["calls"]
    assert [(call["tool"], call["action"], call["ended"]) for call in timeline if call["by"] == "console"] == done
    assert next(call for call in timeline if call["tool"] == "run")["changed"] == 3
    assert "hunter2" not in json.dumps(timeline)


def test_what_a_person_does_is_replayed(acting: Http, pithos: str, tmp_path: Path) -> None:
    """An undo through the page changes what later calls see, also when the journal is run again; and without it, the replay would be another."""
    acting.call("session", action="open", name="s", overlay=True)
    if acting.call("session", action="list")["structuredContent"]["sessions"][0]["undo"] != "overlay":
        pytest.skip("there is no overlay here")
    acting.call("run", session="s", command="echo 1 > a")
    assert act(acting, "session", action="undo", session="s")["ended"] == "good"
    acting.call("run", session="s", command="ls")
    journalled(tmp_path / "audit", 1)
    acting.process.terminate()
    acting.process.wait()
    replay = [pithos, "replay", "--cwd", str(tmp_path / "work"), str(tmp_path / "audit")]
    done = subprocess.run(replay, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = [line for line in (tmp_path / "audit").read_text().splitlines(keepends=True) if '"undo"' not in line or '"by":"console"' not in line]
    (tmp_path / "audit").write_text("".join(kept))
    done = subprocess.run(replay, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "run" in done.stdout, done.stdout + done.stderr


def journalled(path: Path, console: int) -> list[dict]:
    """The lines of a journal, once it has so many of the page."""
    deadline = time.monotonic() + PATIENCE
    while True:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        if sum(line.get("by") == "console" for line in lines) >= console:
            return lines
        assert time.monotonic() < deadline, lines
        time.sleep(0.05)


def test_what_the_page_looks_at_is_still_news_to_the_client(acting: Http) -> None:
    """The client is shown what it has not seen, whoever else has seen it."""
    job = acting.call("run", command="echo one; read x; echo two; read x", interactive=True, yield_ms=5000)["structuredContent"]["job"]
    assert look(acting, f"job?client=1&job={job}")["state"] == "running"
    assert "two" in act(acting, "job", action="write", job=job, text="x\n")["text"]
    calls = look(acting, "timeline")["last"]
    for path in (f"job?client=1&job={job}", f"grep?client=1&job={job}&pattern=two", f"log?client=1&job={job}", "tree?client=1", "denials", "history"):
        assert look(acting, path)
    assert "two" in acting.call("job", action="wait", job=job, timeout_ms=100)["content"][0]["text"]
    assert look(acting, "timeline")["last"] == calls + 1, "who looks is no call"


def followed(server: Http, path: str) -> Iterator[tuple[str, dict]]:
    """The events of a stream, as long as there are any."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("GET", f"/console/{path}", headers=server.token)
    answer = connection.getresponse()
    assert answer.status == 200
    while event := answer.readline():
        data, end = answer.readline(), answer.readline()
        assert end == b"\n"
        yield event.decode().removeprefix("event: ").strip(), json.loads(data.removeprefix(b"data: "))
    connection.close()


def test_output_is_followed_whole_whatever_it_is(server: Http) -> None:
    """Random texts cut anywhere: what the pieces say together is what was written, and offsets add up."""
    chance = random.Random(5)
    for size in (0, 1, 3, 1000, 65_535, 65_536, 65_537, 200_000):
        text = "".join(chance.choices([*"ab \n", "é", "中", "😀", "\x1b[31m", "\r"], k=size))
        job = server.call("run", command="cat", stdin=text)["structuredContent"]["job"]
        events = list(followed(server, f"follow?client=1&job={job}&from=0"))
        assert (events[0][0], events[-1][0]) == ("begin", "end")
        pieces = [data for name, data in events if name == "output"]
        assert "".join(piece["text"] for piece in pieces) == text
        assert not pieces or pieces[-1]["at"] == pieces[-1]["total"] == len(text.encode())


def test_a_page_is_not_sent_what_it_cannot_show(server: Http) -> None:
    """100 MB of output: what is sent is bounded, what is left out is said, and the end is there."""
    job = server.call("run", command="yes 'a line of a hundred bytes or so, which is what a line of a build has, more or less: see' | head -c 100000000; echo the end", yield_ms=100_000)["structuredContent"]["job"]
    sent, left_out, last = 0, 0, ""
    for name, data in followed(server, f"follow?client=1&job={job}&from=0"):
        left_out += data["bytes"] if name == "skipped" else 0
        if name == "output":
            sent, last = sent + len(data["text"].encode()), data["text"]
    assert sent + left_out == 100_000_008 and sent < 2_000_000 and last.endswith("the end\n")


def test_an_invitation_signs_in_once(server: Http) -> None:
    word = server.invitation()
    body = json.dumps({"word": word})
    form = server.page() | {"Content-Type": "application/x-www-form-urlencoded"}
    assert server.ask("POST", "/console/login", body, **form)[0] == 415
    for wrong in ("", "{", "[]", '{"word": 1}', '{"word": ""}', json.dumps({"word": word[1:]}), json.dumps({"word": "x" * 100_000})):
        assert server.ask("POST", "/console/login", wrong, **server.page())[0] in (400, 401)
    status, headers, _ = server.ask("POST", "/console/login", body, **server.page())
    assert status == 204
    cookie = {"Cookie": headers["set-cookie"].split(";")[0]}
    assert server.ask("POST", "/console/login", body, **server.page())[0] == 401
    assert server.picture(**cookie)["now"]["clients"] == 0
    assert server.ask("POST", "/console/logout", "{}", **cookie, **server.page())[0] == 204
    assert server.ask("GET", "/console/events", **cookie)[0] == 401


def test_every_answer_says_what_a_browser_may_do_with_it(server: Http) -> None:
    cookie = {"Cookie": server.sign_in()}
    for path in ("/console", "/console/", "/console/app.js", "/console/me", "/console/act", "/metrics", "/console/x"):
        for headers in ({}, cookie, {"Host": "evil.example"}):
            answered = server.ask("GET", path, **headers)[1]
            policy = answered["content-security-policy"]
            assert "default-src 'none'" in policy and "require-trusted-types-for 'script'" in policy and "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy and "http" not in policy and "*" not in policy
            assert answered["x-content-type-options"] == "nosniff" and answered["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in answered


PARTS = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td></table><svg onload=alert(1)>", "javascript:alert(1)", "\n\nevent: x\ndata: {}\n\n",
         "\r\n", "\r", "\u2028", "\u2029", "\u202e", "\x1b]52;c;eA==\x07", "\x1b[2J", "\0", "&lt;b&gt;", "\"'`", "{{7*7}}", "${7*7}", "\\u003cscript>", "]]>", "<!--", "\ufeff", "é", "😀"]


def test_hostile_texts_stay_data(server: Http) -> None:
    """Commands and output made of what breaks out of HTML, of streams of events, of terminals: the stream stays one event a picture, and the text is whole in it."""
    chance = random.Random(3)
    cookie = {"Cookie": server.sign_in()}
    commands = []
    for _ in range(30):
        text = "".join(chance.choices(PARTS, k=4)).replace("\0", "")
        commands.append("true '" + text.replace("'", "") + "'")
        server.call("run", command=commands[-1])
    hostile = "".join(PARTS).replace("\0", "")
    job = server.call("run", command="cat; false", stdin=hostile)["structuredContent"]["job"]
    shown = [row["command"] for row in server.picture(**cookie)["clients"][0]["jobs"]]
    for command in commands:
        first = command.split("\n")[0].removesuffix("\r")[:80]
        assert first in shown, (first, shown)
    status, headers, body = server.ask("GET", f"/console/log?client=1&job={job}", **cookie)
    assert status == 200 and headers["content-type"] == "application/json"
    assert json.loads(body)["text"] == hostile
    done = subprocess.run([server.pithos, "top"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\ufeff]", done.stdout)


def test_metrics_add_up(server: Http) -> None:
    """After random calls every counter is what was called, every histogram grows, and every line is of the format."""
    chance = random.Random(1)
    counts = {"good": 0, "wrong": 0}
    for _ in range(40):
        wrong = chance.random() < 0.4
        counts["wrong" if wrong else "good"] += 1
        server.call("job", action="wait", job="j999") if wrong else server.call("job", action="list")
    server.call("run", command="sleep 100", background=True)
    server.call("actors", action="spawn", group="g", code="({receive() {}})", count=7)
    status, headers, body = server.ask("GET", "/metrics", **server.token)
    assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
    values, kinds = {}, {}
    for line in body.decode().splitlines():
        if line.startswith("# TYPE"):
            _, _, name, kind = line.split(" ")
            assert name not in kinds
            kinds[name] = kind
        elif not line.startswith("# HELP"):
            found = re.fullmatch(r'([a-z_]+)(\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})? ([0-9.e+-]+)', line)
            assert found, line
            name = found.group(1)
            assert name in kinds or re.sub(r"_(bucket|sum|count)$", "", name) in kinds, line
            assert (name, found.group(2)) not in values
            values[name, found.group(2)] = float(found.group(3))
    for ended, count in counts.items():
        assert values["pithos_calls_total", f'{{tool="job",ended="{ended}"}}'] == count
    buckets = [value for (name, labels), value in values.items() if name.endswith("_bucket") and 'tool="job"' in labels]
    assert buckets == sorted(buckets) and buckets[-1] == values["pithos_call_duration_seconds_count", '{tool="job"}'] == 40
    assert values["pithos_jobs_running", None] == 1 and values["pithos_actors", None] == 7
    assert values["pithos_clients", None] == 1 and values["pithos_calls_under_way", None] == 0
    assert values["pithos_server_resident_bytes", None] > 1e6 and values["pithos_workers_resident_bytes", None] > 1e6


def test_pages_that_do_not_read_hold_nobody_up(server: Http) -> None:
    """All places taken by pages that never read; calls go on, a further page is told, and places come back."""
    held = []
    for _ in range(20):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("GET", "/console/events", headers=server.token)
        held.append((connection, connection.getresponse()))
    assert [answer.status for _, answer in held].count(200) == 16 and held[-1][1].status == 503
    for number in range(20):
        assert server.call("run", command=f"echo {number}")["content"][0]["text"] == f"{number}\n"
    for connection, answer in held:
        answer.close()
        connection.close()
    deadline = time.monotonic() + PATIENCE
    while not opens(server):
        assert time.monotonic() < deadline
        time.sleep(0.2)


def opens(server: Http) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("GET", "/console/events", headers=server.token)
    status = connection.getresponse().status
    connection.close()
    return status == 200


def test_a_session_reaches_neither_the_page_nor_its_words(server: Http) -> None:
    """Not over the network, which it has not, and not through the control socket."""
    said = server.call("run", command=f"exec 3<>/dev/tcp/127.0.0.1/{server.port} && echo reached; {server.pithos} console; {server.pithos} top --json")["content"][0]["text"]
    assert "reached" not in said and "/console/#" not in said and '"counters"' not in said
