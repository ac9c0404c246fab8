"""The journal: every call is in it however it ends, nothing secret is, and nobody who is journalled can write it."""

import hashlib
import json
import os
import pty
import random
import string
import subprocess
import threading
import tty
from pathlib import Path

import pytest
from server import Server


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where sessions may not write."""
    return tmp_path_factory.mktemp("elsewhere")


def close(server: Server) -> None:
    """Lets the server end by itself, with its journal written."""
    server.process.stdin.close()
    server.process.wait(60)
    server.process.stdout.close()


def lines(path: Path, kind: str = "call") -> list[dict]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(line["v"] == 1 and line["kind"] in ("start", "call", "dropped") for line in found)
    return [line for line in found if line["kind"] == kind]


def test_every_call_is_recorded_once_however_it_ends(pithos: str, workspace: Path, elsewhere: Path) -> None:
    """Good, wrong, unknown and cancelled calls in random order: as many lines as calls, numbered without a gap."""
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    chance = random.Random(5)
    expected = []
    for number in range(60):
        kind = chance.choice(["good", "fails", "wrong", "unknown", "shape", "cancel"])
        if kind == "good":
            text = server.text("run", command=f"echo {number}")
            expected.append(("run", "good", hashlib.sha256(text.encode()).hexdigest()))
        elif kind == "fails":
            server.call("run", command="exit 3")
            expected.append(("run", "good", None))
        elif kind == "wrong":
            server.call("job", action="wait", job="j99999")
            expected.append(("job", "wrong", None))
        elif kind == "unknown":
            name = chance.choice(["x", "", "run ", "ü" * 1000, "\0", "RUN"])
            assert "error" in server.answer(server.start("tools/call", {"name": name, "arguments": {}}))
            expected.append((None, "unknown_tool", None))
        elif kind == "shape":
            server.call("run", command=[1, {"a": None}])
            expected.append(("run", "wrong", None))
        else:
            asked = server.start("tools/call", {"name": "run", "arguments": {"command": "sleep 60"}})
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}})
            expected.append(("run", None, None))
            server.answer(server.start("ping", {}))
    close(server)
    found = sorted(lines(journal), key=lambda line: line["n"])
    assert [line["n"] for line in found] == list(range(1, len(expected) + 1))
    for line, (tool, ended, digest) in zip(found, expected, strict=True):
        assert tool in (None, line["tool"]) and ended in (None, line["ended"]), (line, tool, ended)
        assert digest in (None, line["text_sha256"]) and len(json.dumps(line)) < 200_000
    assert len(lines(journal, "start")) == 1


def test_what_cells_call_is_recorded_too(pithos: str, workspace: Path, elsewhere: Path) -> None:
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    server.call("js", code="await tools.pithos.run({command: 'echo one; PASSWORD=abcdefghijk'}); try { await tools.pithos.job({action: 'wait', job: 'x'}) } catch {}; 1")
    close(server)
    found = [(line["n"], line["tool"], line.get("by"), line["ended"]) for line in sorted(lines(journal), key=lambda line: line["n"])]
    assert found == [(1, "js", None, "good"), (2, "run", "cell", "good"), (3, "job", "cell", "wrong")]
    assert "abcdefghijk" not in journal.read_text()


def test_no_secret_reaches_the_disk(pithos: str, workspace: Path, elsewhere: Path) -> None:
    journal = elsewhere / "j"
    chance = random.Random(11)
    secret = lambda: "".join(chance.choices(string.ascii_letters + string.digits, k=24))
    own = secret()
    told = [own]
    server = Server(pithos, workspace, "--audit", str(journal), SERVICE_TOKEN=own)
    for name in ("DB_PASSWORD", "api_key", "GITHUB_TOKEN", "clientSecret"):
        told += [value := secret()]
        server.call("run", command="true", env={name: value})
        server.call("run", command=f"export {name}='{value}'; curl -H 'Authorization: Bearer {value}' x; false")
        server.call("js", code=f"const {name} = '{value}'; ({{{name}: {name}}})")
    server.call("run", command=f"echo {own} > /dev/null; cd /{own}")
    told += [shown := secret()]
    (workspace / ".env").write_text(f"X={shown}\n")
    server.call("js", code="(await shell('cat .env')).output")
    server.call("run", command="cat .env; cat .env >&2; false", streams=True)
    told += [given := secret()]
    server.call("run", command="cat > /dev/null", stdin=given)
    job = server.tool("run", command="read -r x; echo done", interactive=True, yield_ms=200)["job"]
    told += [typed := secret()]
    server.call("job", action="write", job=job, text=f"{typed}\n")
    close(server)
    text = journal.read_text()
    for value in told:
        assert value not in text
    assert sum(line.get("redacted", 0) > 0 for line in lines(journal)) >= 12
    assert journal.stat().st_mode & 0o7777 == 0o600


def test_a_journal_that_others_could_write_or_read_is_refused(pithos: str, workspace: Path, elsewhere: Path) -> None:
    (elsewhere / "real").touch(0o600)
    (elsewhere / "open").touch(0o644)
    (elsewhere / "open").chmod(0o644)
    (elsewhere / "link").symlink_to(elsewhere / "real")
    (elsewhere / "inside").symlink_to(workspace)
    os.mkfifo(elsewhere / "pipe", 0o600)
    cases = {
        workspace / "j": "sessions may write there",
        workspace / "sub" / ".." / "j": "sessions may write there",
        elsewhere / "inside" / "j": "sessions may write there",
        elsewhere / "open": "mode is 644",
        elsewhere / "link": "it is a link",
        elsewhere / "pipe": "neither a file nor a device",
        elsewhere: "neither a file nor a device",
        elsewhere / "missing" / "j": "No such file",
        Path("/"): "no name of a file",
    }
    (workspace / "sub").mkdir()
    for path, why in cases.items():
        command = [pithos, "serve", "--cwd", str(workspace), "--audit", str(path)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and (why in done.stderr or path == elsewhere and "Is a directory" in done.stderr), (path, done)
    assert not (workspace / "j").exists() and (elsewhere / "open").read_bytes() == b""


def test_the_journal_is_bounded(pithos: str, workspace: Path, elsewhere: Path) -> None:
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal), "--audit-space", "1M")
    for number in range(60):
        server.call("run", command=f"true {number} # {'x ' * 50_000}")
    close(server)
    files = sorted(elsewhere.iterdir())
    assert [file.name for file in files] == ["j", "j.1", "j.2", "j.3"]
    assert sum(file.stat().st_size for file in files) <= 1 << 20
    assert all(line["cut"] for file in files for line in lines(file))
    assert "true 59" in journal.read_text()


def test_calls_do_not_wait_for_a_journal_that_cannot_be_written(pithos: str, workspace: Path) -> None:
    server = Server(pithos, workspace, "--audit", "/dev/full", stderr=subprocess.PIPE)
    for _ in range(20):
        assert server.text("run", command="echo hi") == "hi\n"
    server.process.stdin.close()
    said = server.process.stderr.read()
    assert server.process.wait(60) == 0 and b"cannot be written: No space left" in said
    server.process.stdout.close()
    server.process.stderr.close()


def test_people_read_it_with_what_was_put_aside(pithos: str, workspace: Path, elsewhere: Path) -> None:
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal), "--audit-space", "1M")
    for number in range(30):
        server.call("run", command=f"true {number} '\x1b]52;c;x\x07\u202e'", stdin="x " * 20_000)
    server.call("job", action="wait", job="none")
    close(server)
    show = lambda *more: subprocess.run([pithos, "journal", *more, str(journal)], capture_output=True, text=True, timeout=60)
    done = show()
    assert done.returncode == 0 and done.stderr == "" and not any(c in done.stdout for c in "\x1b\x07\u202e")
    shown = done.stdout.splitlines()
    kept = sum(len(file.read_text().splitlines()) for file in elsewhere.iterdir())
    assert len(shown) == kept and "wrong" in shown[-1] and "none" in shown[-1]
    assert show("--lines", "3").stdout.splitlines() == shown[-3:]
    assert len(show("--grep", "true 29 ").stdout.splitlines()) == 1
    assert [json.loads(line)["v"] for line in show("--json").stdout.splitlines()] == [1] * kept
    with journal.open("a") as file:
        file.write("half\n{}\n" + "x" * (5 << 20) + "\n")
    done = show()
    assert done.stdout.splitlines() == shown and "3 line(s) are no records" in done.stderr
    assert show("--grep", "nowhere").returncode == 1 and subprocess.run([pithos, "journal", "/dev/zero"], capture_output=True, timeout=60).returncode == 1


FLOOD = 6000


@pytest.mark.parametrize("action", ["list", "open"])
def test_a_flood_of_a_client_drops_no_line(pithos: str, workspace: Path, elsewhere: Path, action: str) -> None:
    """Calls by the thousand at once, cheap ones and wrong ones, with commands among them: the client waits, and every call is in the journal."""
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    flooding = threading.Thread(target=lambda: [server.start("tools/call", call) for call in flood(action)])
    flooding.start()
    for number in range(1, FLOOD + 1):
        server.answer(number + 1)
    flooding.join()
    close(server)
    assert lines(journal, "dropped") == []
    found = lines(journal)
    assert sorted(line["n"] for line in found) == list(range(1, FLOOD + 1))
    ran = {line["arguments"]["command"] for line in found if line["tool"] == "run"}
    assert ran == {f": EVIL {number}" for number in range(0, FLOOD, 1000)}


def flood(action: str) -> list[dict]:
    """Calls, each thousandth of them a command."""
    calls = []
    for number in range(FLOOD):
        run = {"name": "run", "arguments": {"command": f": EVIL {number}", "session": "main"}}
        cheap = {"name": "session", "arguments": {"action": action, "name": "main", "paths": ["x" * 50] * 20}}
        calls.append(cheap if number % 1000 else run)
    return calls


def test_a_flood_of_a_cell_drops_no_line(pithos: str, workspace: Path, elsewhere: Path) -> None:
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    code = """
        const list = async () => { for (let i = 0; i < 150; i++) await tools.pithos.session({action: 'list'}) };
        await Promise.all(Array.from({length: 60}, list));
        await tools.pithos.run({command: ': EVIL'});
    """
    assert server.tool("js", code=code, timeout_ms=100_000, yield_ms=100_000)["state"] == "done"
    close(server)
    assert lines(journal, "dropped") == []
    assert sorted(line["n"] for line in lines(journal)) == list(range(1, 9003))


def test_of_a_journal_that_stands_still_what_only_looks_goes_first(pithos: str, workspace: Path) -> None:
    """A terminal that nobody reads is a disk that hangs: calls are answered all the same, and the places go to those that change something."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    server = Server(pithos, workspace, "--audit", os.ttyname(slave))
    runs = 100
    for number in range(runs):
        server.tool("run", command=f": EVIL {number}")
        asked = [server.start("tools/call", {"name": "session", "arguments": {"action": "list"}}) for _ in range(60)]
        for one in asked:
            server.answer(one)
    read = []

    def drain() -> None:
        while piece := os.read(master, 1 << 16):
            read.append(piece)

    draining = threading.Thread(target=drain, daemon=True)
    draining.start()
    close(server)
    os.write(slave, b"\n\0")
    while not (read and read[-1].endswith(b"\0")):
        draining.join(0.05)
    found = [json.loads(line) for line in b"".join(read).rstrip(b"\n\0").splitlines()]
    calls = [line for line in found if line["kind"] == "call"]
    dropped = [line for line in found if line["kind"] == "dropped"]
    assert len(calls) + sum(line["count"] for line in dropped) == runs * 61 and dropped
    assert sum(line["changing"] for line in dropped) == 0
    ran = [line["arguments"]["command"] for line in calls if line["tool"] == "run"]
    assert sorted(ran) == sorted(f": EVIL {number}" for number in range(runs))
