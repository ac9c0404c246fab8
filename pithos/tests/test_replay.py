"""`pithos replay`: the calls of a journal again, over overlays; equal, or the first difference is named."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from server import Server
from test_journal import close, elsewhere  # noqa: F401
from test_overlay import overlaid, tree_of


def replay(pithos: str, workspace: Path, journal: Path, *more: str) -> subprocess.CompletedProcess:
    command = [pithos, "replay", "--cwd", str(workspace), *more, str(journal)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def recorded(pithos: str, workspace: Path, elsewhere: Path) -> Path:  # noqa: F811
    """A journal of calls of every kind; what they did to the workspace is taken back."""
    journal = elsewhere / "j"
    (workspace / "tool").write_text("#!/bin/sh\necho one\n")
    (workspace / "tool").chmod(0o755)
    server = Server(pithos, workspace, "--audit", str(journal))
    over = overlaid(server, name="over")
    server.call("run", command="v=1; ./tool; echo made > made; cat made; exit_of() { return 3; }; exit_of")
    server.call("run", session=over, command="./tool > out; rm tool; test -e tool || cat out")
    server.call("session", action="diff", session=over)
    server.call("js", code="const r = await shell('echo $v; ./tool'); store('x', r.output); r.status")
    server.call("js", code="load('x')")
    server.call("run", session="nowhere", command="echo x")
    fork = server.tool("session", action="fork", session=over)["session"]
    server.call("run", session=fork, command="cat out")
    server.call("session", action="close", session="main")
    server.call("run", command="echo ${v-none}; echo again > again")
    server.call("js", code="await tools.pithos.session({action: 'open', name: 'inner'}); await tools.pithos.run({session: 'inner', command: 'echo in > inner; cat inner'}); 'ran'")
    close(server)
    for name in ("made", "again", "inner"):
        (workspace / name).unlink()
    return journal


def test_an_equal_run_is_equal_and_changes_nothing(pithos: str, workspace: Path, recorded: Path, tmp_path_factory):
    before = tree_of(workspace)
    cast = tmp_path_factory.mktemp("cast") / "film.cast"
    ran = replay(pithos, workspace, recorded, "--cast", str(cast))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "12 call(s) are as they were; 0 were not run" in ran.stdout
    assert tree_of(workspace) == before
    assert cast.stat().st_mode & 0o777 == 0o600
    for there in (cast, recorded):
        before = there.read_bytes()
        refused = replay(pithos, workspace, recorded, "--cast", str(there))
        assert refused.returncode != 0 and "exists" in refused.stderr, refused
        assert there.read_bytes() == before
    head, *events = [json.loads(line) for line in cast.read_text().splitlines()]
    assert head["version"] == 2 and len(events) == 24
    assert all(kind == "o" and at >= 0 for at, kind, _ in events)
    assert any(text == "one\r\nmade\r\n[exit status 3]\r\n" or text.startswith("one\r\nmade\r\n") for _, _, text in events)


#: What a cell learns by chance, each as an expression; all of it is the same again in a replay.
CHANCES = [
    "Date.now()",
    "new Date().toISOString()",
    "performance.now() + performance.timeOrigin",
    "Math.random()",
    "Array.from({length: 50}, () => Math.random()).join()",
    "String(Temporal.Now.instant())",
    "(() => { const end = Date.now() + 30; let looks = 0; while (Date.now() < end) looks++; return looks; })()",
    "await new Promise(done => setTimeout(() => done(Date.now()), 20))",
    "await new Promise(done => { let at = []; const timer = setInterval(() => { at.push(performance.now()); if (at.length > 5) { clearInterval(timer); done(at.join()); } }, 3); })",
    "(await Promise.race([1, 2, 3, 4].map(n => shell(`echo ${n}`)))).output",
    "await (async () => { const came = []; await Promise.all([5, 6, 7, 8].map(async n => { await shell(`sleep 0.0${n % 2}; echo ${n}`); came.push(n); })); return came.join(); })()",
    "await Promise.race([shell('sleep 0.03; echo slow').then(r => r.output), new Promise(done => setTimeout(done, 30, 'timer'))])",
    "(await shell('echo $$ > /dev/null; echo same')).output",
]


def test_cells_learn_again_what_they_learned_by_chance(pithos: str, workspace: Path, elsewhere: Path):  # noqa: F811
    journal = elsewhere / "j"
    chance = random.Random(7)
    server = Server(pithos, workspace, "--audit", str(journal))
    overlaid(server, name="over")
    calls = 1
    for expression in CHANCES:
        result = server.call("js", session="over", code=expression)
        assert result["structuredContent"]["state"] == "done", result
        calls += 1
    for _ in range(12):
        # Each the sum of several, in one cell.
        code = "const all = [];\n" + "".join(f"all.push({chance.choice(CHANCES)});\n" for _ in range(5)) + "console.log(all.length); all.join('|')"
        result = server.call("js", session="over", code=code, yield_ms=chance.choice([1, 60_000]))
        cell = result["structuredContent"]["cell"]
        calls += 1
        if result["structuredContent"]["state"] == "running":
            server.call("js", cell=cell, yield_ms=60_000)
            calls += 1
    close(server)
    ran = replay(pithos, workspace, journal)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{calls} call(s) are as they were; 0 were not run" in ran.stdout
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert sum("tape" in line for line in lines) == len(CHANCES) + 12


def test_a_cell_that_learned_more_than_a_tape_holds_says_so(pithos: str, workspace: Path, elsewhere: Path):  # noqa: F811
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    overlaid(server, name="over")
    code = "for (let n = 0; n < 3000; n++) await new Promise(done => setTimeout(done)); performance.now()"
    assert server.tool("js", session="over", code=code)["state"] == "done"
    close(server)
    ran = replay(pithos, workspace, journal)
    assert ran.returncode == 1 and "more than a journal keeps" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("#!/bin/sh\necho two\n", "its output"),
        ("#!/bin/sh\necho one; echo x > more\n", "call 3, run"),
        ("#!/bin/sh\necho one; kill -9 $PPID\n", "call 2, run"),
    ],
)
def test_a_changed_tool_is_named_by_its_first_call(pithos: str, workspace: Path, recorded: Path, tool: str, expected: str):
    (workspace / "tool").write_text(tool)
    before = tree_of(workspace)
    ran = replay(pithos, workspace, recorded)
    assert ran.returncode == 1 and expected in ran.stdout, ran.stdout + ran.stderr
    assert ran.stdout.startswith("call ") and tree_of(workspace) == before


def test_a_session_that_was_not_there_yet_is_not_there(pithos: str, workspace: Path, elsewhere: Path):  # noqa: F811
    """What is said of `main` before its first use is an error, then and again."""
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    assert server.call("session", action="close", session="main")["isError"]
    assert server.call("session", action="fork", session="main")["isError"]
    server.call("session", action="open", name="main")
    server.call("run", command="echo there")
    server.call("session", action="close", session="main")
    server.call("run", command="echo again")
    close(server)
    ran = replay(pithos, workspace, journal)
    assert ran.returncode == 0 and "6 call(s) are as they were; 0 were not run" in ran.stdout, ran.stdout


def test_what_a_call_left_that_is_not_run_is_a_reason(pithos: str, workspace: Path, elsewhere: Path):  # noqa: F811
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    server.call("run", command="x=kept: : " + "x" * 100_000)
    server.call("run", command="x=set; : " + "x" * 100_000)
    server.call("run", command="echo $x")
    close(server)
    ran = replay(pithos, workspace, journal)
    assert ran.returncode == 1 and "perhaps because 2 call(s) before it were not run" in ran.stdout, ran.stdout


def test_what_cannot_be_run_again_is_said(pithos: str, workspace: Path, elsewhere: Path):  # noqa: F811
    journal = elsewhere / "j"
    server = Server(pithos, workspace, "--audit", str(journal))
    session = overlaid(server)
    server.call("run", session=session, command="echo 1 > n")
    server.call("session", action="commit", session=session)
    server.call("run", command=": " + "x" * 100_000)
    close(server)
    (workspace / "n").unlink()
    ran = replay(pithos, workspace, journal)
    assert ran.returncode == 0 and "2 call(s) are as they were; 2 were not run" in ran.stdout, ran.stdout
    assert "commits nothing" in ran.stdout and "not whole" in ran.stdout and not (workspace / "n").exists()
    for wrong in (elsewhere / "absent", Path(os.devnull), workspace):
        assert replay(pithos, workspace, wrong).returncode == 1
    empty = elsewhere / "empty"
    empty.write_text("")
    assert "no server began" in replay(pithos, workspace, empty).stderr
