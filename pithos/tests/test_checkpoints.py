"""Checkpoints of the whole: files, shell, the stores of cells and the list of jobs, beyond the life of session and server."""

import json
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest
from server import Server
from test_overlay import act, overlaid, run, tree_of


def seen(server: Server, session: str) -> dict:
    """Everything of a session that a checkpoint speaks of."""
    describe = r"""
        declare -p plain list assoc exported counter 2>&1; declare -f greet; alias; trap; umask; shopt -p extglob; set +o | grep pipefail
        printf '%s|' "$@"; pwd; find . -type f -exec cat {} + | sort; find . | sort; stat -c '%n %a' a 2>/dev/null
    """
    ran = server.call("run", session=session, command=describe)["content"][0]["text"]
    stored = server.tool("js", session=session, code="({n: load('n'), o: load('o')})")["value"]
    return {"ran": ran, "stored": stored}


CHANGE = r"""
    plain=$'one\ntwo'; list=(a 'b c' "d'e"); declare -A assoc=([k]='v w' [x]=y); declare -x exported=out; declare -i counter=7
    greet() { echo "hello $1"; }; alias ll='ls -l'; trap 'echo bye' EXIT; umask 027; shopt -s extglob; set -o pipefail; set -- p 'q r'
    mkdir -p sub/deep; echo in > sub/deep/f; echo more >> a; rm b; chmod 750 a; ln -s a link; cd sub
"""


@pytest.fixture
def project(server, workspace: Path) -> Path:
    (workspace / "a").write_text("one\n")
    (workspace / "b").write_text("two\n")
    return workspace


def checkpoints(server: Server) -> list[str]:
    return [row["checkpoint"] for row in server.tool("session", action="checkpoints")["checkpoints"]]


def test_the_whole_comes_back_after_a_restart(pithos: str, server, project: Path):
    session = overlaid(server, name="work")
    run(server, session, CHANGE)
    server.tool("js", session=session, code="store('n', 3); store('o', {deep: [1, null, 'x']})")
    run(server, session, "(exit 3)")
    before, diff = seen(server, session), server.text("session", action="diff", session=session)
    made = act(server, "checkpoint", session, name="base")
    assert made["checkpoint"] == "base" and made["named"] and made["expires_s"] is None and made["files"] >= 5
    server.close()
    again = Server(pithos, project)
    try:
        assert checkpoints(again) == ["base"]
        forks = [again.tool("session", action="fork", checkpoint="base")["session"] for _ in range(3)]
        for fork in forks:
            assert seen(again, fork) == before
            assert again.text("session", action="diff", session=fork) == diff
        # Each is a copy of its own.
        run(again, forks[0], "plain=other; echo changed > ../a; echo x > ../new")
        again.tool("js", session=forks[0], code="store('n', 4)")
        assert seen(again, forks[1]) == before
        session = overlaid(again)
        restored = act(again, "restore", session, checkpoint="base")
        assert [job["status"] for job in restored["jobs"]][:2] == [0, 3]
        assert "plain=" in restored["jobs"][0]["command"] and seen(again, session) == before
        assert act(again, "commit", forks[1])["committed"]
        assert (project / "a").read_text() == "one\nmore\n" and not (project / "b").exists()
    finally:
        again.close()


def test_a_fork_has_the_stores_of_cells_and_a_new_session_of_a_name_has_not(server, project: Path):
    server.tool("js", code="store('n', 1)")
    fork = server.tool("session", action="fork", session=overlaid(server))["session"]
    assert server.tool("js", session=fork, code="load('n') ?? 'none'")["value"] == "none"
    server.tool("session", action="open", name="t")
    server.tool("js", session="t", code="store('n', 2)")
    copy = server.tool("session", action="fork", session="t")["session"]
    assert server.tool("js", session=copy, code="load('n')")["value"] == 2
    server.tool("js", session=copy, code="store('n', 3)")
    assert server.tool("js", session="t", code="load('n')")["value"] == 2
    server.tool("session", action="close", session="t")
    server.tool("session", action="open", name="t")
    assert server.tool("js", session="t", code="load('n') ?? 'none'")["value"] == "none"
    run(server, "main", ":")
    assert server.tool("js", session="main", code="load('n')")["value"] == 1, "no session is the one that runs have"


def test_names_times_and_deletion(server, project: Path):
    session = overlaid(server)
    for name, ttl_s in [(None, None), ("kept", None), ("short", 1), (None, 1000)]:
        act(server, "checkpoint", session, **{key: value for key, value in (("name", name), ("ttl_s", ttl_s)) if value})
    assert set(checkpoints(server)) >= {"c1", "kept", "c2"}
    time.sleep(1.1)
    assert sorted(checkpoints(server)) == ["c1", "c2", "kept"]
    assert server.tool("session", action="delete", checkpoint="c1")["checkpoint"] == "c1"
    assert sorted(checkpoints(server)) == ["c2", "kept"]
    for wrong, message in [
        ({"action": "delete", "checkpoint": "c1"}, "no checkpoint"),
        ({"action": "restore", "session": session, "checkpoint": "../kept"}, "no checkpoint"),
        ({"action": "fork", "checkpoint": ""}, "no checkpoint"),
        ({"action": "fork"}, "needs a session"),
        ({"action": "fork", "checkpoint": "kept", "session": session}, "not both"),
        ({"action": "delete"}, "needs a checkpoint"),
        ({"action": "checkpoint", "session": session, "name": "kept"}, "already"),
        ({"action": "checkpoint", "session": session, "name": "../x"}, "cannot name"),
        ({"action": "checkpoint", "session": "main"}, "main"),
    ]:
        result = server.call("session", **wrong)
        assert result["isError"] and message in result["content"][0]["text"], (wrong, result)
    server.lives()


def test_room_is_made_by_those_without_a_name(pithos: str, workspace: Path):
    server = Server(pithos, workspace, "--checkpoint-space", "64K")
    try:
        session = overlaid(server)
        run(server, session, "head -c 20000 /dev/zero | tr '\\0' x > f")
        for _ in range(5):
            act(server, "checkpoint", session)
        assert len(checkpoints(server)) <= 3
        while not server.call("session", action="checkpoint", session=session, name=f"n{len(checkpoints(server))}-{random.random()}").get("isError"):
            assert len(checkpoints(server)) <= 3
        refused = server.call("session", action="checkpoint", session=session)
        assert refused["isError"] and "delete some" in refused["content"][0]["text"]
        run(server, session, "head -c 200000 /dev/zero > big")
        refused = server.call("session", action="checkpoint", session=session)
        assert refused["isError"] and "may have" in refused["content"][0]["text"]
    finally:
        server.close()


def test_no_session_sees_or_makes_one(server, project: Path, state: Path):
    session = overlaid(server)
    act(server, "checkpoint", session, name="mine")
    store = state / "pithos" / "checkpoints"
    assert list(store.glob("*/mine/record.json"))
    for place in (session, "main"):
        looked = server.text("run", session=place, command=f"ls -R {state}/pithos; cat {state}/pithos/checkpoints/*/mine/*")
        assert "mine" not in looked.replace("checkpoints/*/mine", ""), looked
        wrote = f"mkdir -p {store}/x; mv {state}/pithos {state}/other; ln -s /tmp {store}/y; echo forged > {store}/forged"
        server.call("run", session=place, command=wrote)
    assert {len(path.name) for path in store.iterdir()} == {32} and not list(store.parent.parent.glob("other"))
    assert server.tool("session", action="checkpoints")["checkpoints"][0]["checkpoint"] == "mine"


def test_a_commit_takes_nothing_from_a_checkpoint(server, project: Path):
    session = overlaid(server)
    run(server, session, "mkdir d; echo 1 > d/f; echo first > n")
    act(server, "commit", session)
    run(server, session, "echo second > n")
    before = {"n": "second\n", "a": "one\n", "b": "two\n", "d/f": "1\n"}
    act(server, "checkpoint", session, name="point")
    for change in ["echo third > n; echo 2 >> a; rm b; rm -r d; mkdir -p e/g; echo new > e/g/h; chmod 600 n", "rm n; mkdir n b; echo x > n/y; ln -sf /nowhere a"]:
        run(server, session, change)
        committed = act(server, "commit", session)
        assert committed["committed"] and committed["checkpoints_gone"] == []
        fork = server.tool("session", action="fork", checkpoint="point")["session"]
        found = server.text("run", session=fork, command="find . -type f | sort | while read f; do echo \"$f:$(cat $f)\"; done; find . -type d | sort")
        expected = "".join(f"./{name}:{before[name]}" for name in sorted(before)) + ".\n./d\n"
        assert found == expected
        server.tool("session", action="close", session=fork)
    # Going back to it and committing puts the old state into the tree.
    act(server, "restore", session, checkpoint="point")
    assert act(server, "commit", session)["committed"]
    assert {name: (project / name).read_text() for name in before} == before and not (project / "e").exists()


@pytest.mark.parametrize("seed", range(6))
def test_a_server_that_is_killed_leaves_old_or_new(pithos: str, tmp_path: Path, state: Path, seed: int):
    """Killed at a generated moment while one checkpoint after another is made, deleted and gone back to: each that is there is whole."""
    pick = random.Random(seed)
    workspace = tmp_path / "w"
    workspace.mkdir()
    server = Server(pithos, workspace)
    session = overlaid(server)
    tree = {"f0": "0"}
    known: dict[str, str] = {}
    killed = threading.Event()

    def kill() -> None:
        time.sleep(pick.uniform(0.05, 1.5))
        killed.set()
        os.kill(server.process.pid, signal.SIGKILL)

    threading.Thread(target=kill).start()
    attempted = None
    try:
        for number in range(10_000):
            name = f"n{number}"
            run(server, session, f"v={number}; rm -f f*; for i in {{1..{pick.randint(1, 30)}}}; do echo {number} > f$i; done")
            attempted = ("put", name, str(number))
            act(server, "checkpoint", session, name=name)
            known[name] = str(number)
            if number % 3 == 2:
                gone = pick.choice(sorted(known))
                attempted = ("delete", gone, known[gone])
                server.tool("session", action="delete", checkpoint=gone)
                del known[gone]
    except (AssertionError, BrokenPipeError, KeyError, json.JSONDecodeError):
        assert killed.wait(10)
    server.close()
    again = Server(pithos, workspace)
    try:
        there = set(checkpoints(again))
        kind, name, value = attempted
        assert there | {name} == set(known) | {name}, (there, known, attempted)
        expected = dict(known) | ({name: value} if name in there else {})
        for name in sorted(there):
            fork = again.tool("session", action="fork", checkpoint=name)["session"]
            assert again.text("run", session=fork, command="echo $v; sort -u f*") == f"{expected[name]}\n{expected[name]}\n"
            again.tool("session", action="close", session=fork)
        assert again.call("session", action="checkpoint", session=overlaid(again), name="after").get("isError") is not True
    finally:
        again.close()
    assert tree_of(workspace) == {} and tree


def test_requests_that_come_together_are_all_carried_out(server, project: Path):
    """The guardian reads several of them at once: each is answered, however they are mixed."""
    session = overlaid(server)
    run(server, session, "echo x > n")
    act(server, "checkpoint", session, name="p")
    pick = random.Random(1)
    for _ in range(6):
        kinds = [
            {"action": "fork", "checkpoint": "p"},
            {"action": "open", "overlay": True},
            {"action": "open"},
            {"action": "fork", "checkpoint": "p"},
        ]
        asked = [server.start("tools/call", {"name": "session", "arguments": pick.choice(kinds)}) for _ in range(6)]
        opened = [server.answer(number)["result"]["structuredContent"]["session"] for number in asked]
        asked = [server.start("tools/call", {"name": "run", "arguments": {"session": one, "command": "echo $$"}}) for one in opened]
        assert all(server.answer(number)["result"]["structuredContent"]["status"] == 0 for number in asked)
        for one in opened:
            server.start("tools/call", {"name": "session", "arguments": {"action": "close", "session": one}})
    server.lives()


def test_another_workspace_does_not_find_them(pithos: str, tmp_path: Path):
    places = [tmp_path / "one", tmp_path / "two"]
    for number, place in enumerate(places):
        place.mkdir()
        server = Server(pithos, place)
        try:
            assert checkpoints(server) == []
            act(server, "checkpoint", overlaid(server), name=f"of-{number}")
            assert checkpoints(server) == [f"of-{number}"]
        finally:
            server.close()
