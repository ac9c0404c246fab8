"""Sessions over an overlay of the workspace: what they change is theirs until it is committed."""

import json
import os
import random
import socket
import subprocess
import time
from pathlib import Path

import pytest
from server import Server


def overlaid(server: Server, **arguments) -> str:
    """A session over an overlay; without one here, the test has nothing to say."""
    opened = server.tool("session", action="open", overlay=True, **arguments)
    if opened["undo"] != "overlay":
        pytest.skip(opened["undo_note"])
    return opened["session"]


def run(server: Server, session: str, command: str) -> dict:
    result = server.tool("run", session=session, command=command)
    assert result["state"] == "done", result
    return result


def act(server: Server, action: str, session: str, **more) -> dict:
    result = server.call("session", action=action, session=session, **more)
    assert not result.get("isError"), result
    return result["structuredContent"]


def paths(rows: list[dict], workspace: Path) -> dict:
    return {os.path.relpath(row["path"], workspace): row["change"] for row in rows}


@pytest.fixture
def project(server, workspace: Path) -> Path:
    (workspace / "a").write_text("one\n")
    (workspace / "b").write_text("two\n")
    (workspace / "d" / "e").mkdir(parents=True)
    (workspace / "d" / "e" / "f").write_text("three\n")
    return workspace


def test_a_run_changes_nothing_until_it_is_committed(server, project: Path):
    session = overlaid(server)
    result = run(server, session, "echo more >> a; rm b; echo new > n; cat a; ls")
    assert paths(result["changed"]["files"], project) == {"a": "modified", "b": "deleted", "n": "added"}
    assert (project / "a").read_text() == "one\n" and (project / "b").exists() and not (project / "n").exists()
    diff = server.call("session", action="diff", session=session)
    assert "+more\n" in diff["content"][0]["text"] and diff["structuredContent"]["count"] == 3
    assert run(server, session, "test -e n && ! test -e b")["status"] == 0
    assert act(server, "commit", session)["committed"]
    assert (project / "a").read_text() == "one\nmore\n" and not (project / "b").exists()
    assert (project / "n").read_text() == "new\n"
    assert act(server, "diff", session)["count"] == 0
    assert "changed" in run(server, session, "cat a")


def test_the_shell_goes_on_where_it_was(server, project: Path):
    session = overlaid(server)
    run(server, session, "cd d; x=$'a\\nb'; declare -A m=([k]='v w'); f() { echo in f; }; set -u; shopt -s extglob; alias ll='ls -l'; set -- p 'q r'; echo 1 > 1")
    act(server, "discard", session)
    result = server.call("run", session=session, command="pwd; echo \"$x|${m[k]}|$2\"; f; set -o | grep nounset; alias ll; ls")
    assert result["content"][0]["text"] == f"{project}/d\na\nb|v w|q r\nin f\nnounset        \ton\nalias ll='ls -l'\ne\n"


def test_calls_are_undone_one_by_one_or_to_a_call(server, project: Path):
    session = overlaid(server)
    jobs = [run(server, session, f"echo {n} >> log; rm -rf d; mkdir -p d/{n}; echo {n} > a")["job"] for n in range(4)]
    text = lambda: server.text("run", session=session, command="cat log a; ls d")  # noqa: E731
    assert text().startswith("0\n1\n2\n3\n3\n3\n")
    assert act(server, "undo", session)["undone"]  # the look itself
    assert act(server, "undo", session)["undone"] == [jobs[3]]
    assert text().startswith("0\n1\n2\n2\n2\n")
    undone = act(server, "undo", session, job=jobs[1])["undone"]
    assert undone[:2] == jobs[1:3]
    assert text().startswith("0\n0\n0\n")
    act(server, "undo", session, job=jobs[0])
    assert act(server, "diff", session)["count"] == 0
    assert "there is no call" in server.text("session", action="undo", session=session)
    assert (project / "d" / "e" / "f").read_text() == "three\n"


def test_a_conflict_is_named_and_nothing_is_overwritten(server, project: Path):
    session = overlaid(server)
    run(server, session, "echo mine > a; echo mine > b; echo n > n; rm -r d")
    (project / "a").write_text("theirs\n")
    (project / "d" / "e" / "g").write_text("theirs\n")
    result = act(server, "commit", session)
    assert not result["committed"]
    assert paths([row | {"change": "x"} for row in result["conflicts"]], project) == {"a": "x", "d": "x"}
    assert (project / "a").read_text() == "theirs\n" and (project / "b").read_text() == "two\n"
    assert not (project / "n").exists()
    assert act(server, "commit", session, paths=["b", "n"])["committed"]
    assert (project / "b").read_text() == "mine\n" and (project / "n").exists()
    assert (project / "a").read_text() == "theirs\n"
    assert paths(act(server, "diff", session)["files"], project) == {"a": "modified", "d": "deleted"}
    act(server, "discard", session, paths=["a"])
    assert server.text("run", session=session, command="cat a").startswith("theirs\n")


def test_files_and_shell_go_back_together(server, project: Path):
    session = overlaid(server)
    run(server, session, "v=1; echo 1 > a; cd d")
    kept = act(server, "checkpoint", session)["checkpoint"]
    run(server, session, "v=2; echo 2 > ../a; rm -r e; cd ..; g() { :; }")
    fork = act(server, "fork", session)["session"]
    act(server, "restore", session, checkpoint=kept)
    assert server.text("run", session=session, command="echo $v; cat ../a; ls; type -t g; pwd") == f"1\n1\ne\n{project}/d\n"
    assert server.text("run", session=fork, command="echo $v; cat a; ls d; type -t g") == "2\n2\nfunction\n"
    run(server, fork, "echo fork > only-there")
    assert not (project / "only-there").exists()
    assert run(server, session, "test -e ../only-there")["status"] == 1
    assert act(server, "commit", fork)["committed"]
    assert (project / "a").read_text() == "2\n" and (project / "only-there").exists()
    assert "no checkpoint" in server.text("session", action="restore", session=session, checkpoint="c9")


def test_forks_are_apart_and_one_is_kept(server, project: Path):
    session = overlaid(server)
    run(server, session, "echo base > base")
    forks = [act(server, "fork", session)["session"] for _ in range(5)]
    for number, fork in enumerate(forks):
        run(server, fork, f"echo {number} > answer; echo {number} >> base")
    for number, fork in enumerate(forks):
        assert server.text("run", session=fork, command="cat answer base").startswith(f"{number}\nbase\n{number}\n")
    assert act(server, "commit", forks[3])["committed"]
    assert (project / "answer").read_text() == "3\n" and (project / "base").read_text() == "base\n3\n"
    assert not act(server, "commit", forks[2])["committed"], "the file below is another one now"


def test_a_layer_cannot_be_reached_from_inside(server, project: Path):
    session = overlaid(server)
    run(server, session, "echo secret-of-the-layer > inner")
    found = server.text("run", session=session, command=(
        "grep -rl secret-of-the-layer /tmp /dev /var /run 2>/dev/null | grep -vF \"$PWD/inner\"; ls /dev/shm; find / -xdev -name 'upper0-*' 2>/dev/null;"
        "for p in /proc/[0-9]*; do ls $p/root/dev/shm $p/cwd/upper0-0 2>/dev/null; done; true"
    ))
    assert "upper0" not in found and "inner" not in found, found
    for attempt in ("unshare -m true", "umount .", "mount -t tmpfs none .", "mknod w c 0 0", "setfattr -n user.overlay.opaque -v y d && getfattr -n user.overlay.opaque d"):
        result = run(server, session, attempt + " 2>/dev/null")
        assert result["status"] != 0 or attempt.startswith(("setfattr", "mknod")), attempt
    # Neither a plain session nor another overlaid one sees what is in the layer.
    other = overlaid(server)
    for name in ("main", other):
        assert run(server, name, "test -e inner")["status"] == 1


def test_protected_paths_stay_as_they_are(pithos, tmp_path: Path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    server = Server(pithos, tmp_path)
    try:
        session = overlaid(server)
        result = run(server, session, "echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git g; echo y > f; git add f; git status --short")
        assert not (tmp_path / ".git" / "hooks" / "pre-commit").exists()
        assert "x" not in (tmp_path / ".git" / "config").read_text().split()
        assert "hooks" not in json.dumps(result["changed"]) and "/g" not in json.dumps(result["changed"])
        assert act(server, "commit", session)["committed"]
        status = subprocess.run(["git", "-C", str(tmp_path), "status", "--short"], capture_output=True, check=True, text=True)
        assert status.stdout == "A  f\n"
    finally:
        server.close()


def test_what_cannot_be_done_is_said(server, project: Path):
    session = overlaid(server)
    server.tool("session", action="open", name="plain")
    for action in ("diff", "undo", "commit", "discard", "checkpoint"):
        for name, words in (("nobody", "no session"), ("plain", "overlay: true")):
            result = server.call("session", action=action, session=name)
            assert result["isError"] and words in result["content"][0]["text"], (action, name)
    run(server, session, "/bin/sleep 1000 & sleep 0.3; echo x > a")
    for action in ("undo", "commit", "discard"):
        assert "sleep" in server.text("session", action=action, session=session)
    # One that has ended and that the shell has not waited for does not count.
    run(server, session, "kill -9 $!; sleep 0.2")
    run(server, session, "while :; do :; done &")
    assert "a part of the shell" in server.text("session", action="undo", session=session)
    run(server, session, "kill $!; wait 2>/dev/null")
    # Nothing is done for a name that nothing has changed at, not even its folders.
    run(server, session, "mkdir -p d/new/er; echo 1 > d/new/x; rm -r d/e")
    for action in ("commit", "discard"):
        for wrong in (["d/new/er/q/r"], ["b"], ["a", "d/new/nothing"], ["d/e/../nothing"]):
            assert "has changed nothing at" in server.text("session", action=action, session=session, paths=wrong), (action, wrong)
        assert "the list is empty" in server.text("session", action=action, session=session, paths=[])
    assert sorted(os.listdir(project / "d")) == ["e"] and run(server, session, "cat d/new/x a")["stdout_bytes"] == 4
    act(server, "discard", session, paths=["d"])
    for wrong in (["../x"], ["/etc/passwd"]):
        assert "may write" in server.text("session", action="commit", session=session, paths=wrong)
    assert "cannot be undone" in server.text("session", action="undo", session=session, job="j999")
    job = server.tool("run", session=session, command="sleep 1000", yield_ms=0)["job"]
    assert "busy" in server.text("session", action="commit", session=session)
    server.call("job", action="stop", job=job)
    assert act(server, "commit", session)["committed"]
    server.lives()


@pytest.mark.parametrize("action", ["run", "diff", "commit", "undo", "checkpoint", "fork"])
def test_files_outlive_the_shell(server, project: Path, action: str):
    """What a session has changed is nobody's to throw away but the client's: a shell that is killed takes its variables with it and no file."""
    session = overlaid(server)
    run(server, session, "cd d; v=1; echo new > n")
    server.call("run", session=session, command="echo last > m; kill -9 $$")
    if action == "run":
        told = server.call("run", session=session, command="pwd; cat n m; echo v=$v")
        text = told["content"][0]["text"]
        assert "its files are as they were" in text and f"{project}/d\nnew\nlast\nv=\n" in text
    elif action == "diff":
        assert act(server, "diff", session)["count"] == 2
    elif action == "undo":
        act(server, "undo", session)
        assert run(server, session, "ls")["status"] == 0 and act(server, "diff", session)["count"] == 1
    elif action == "fork":
        copy = act(server, "fork", session)["session"]
        assert act(server, "diff", copy)["count"] == 2
    elif action == "checkpoint":
        act(server, "checkpoint", session)
    if action not in ("undo", "commit"):
        act(server, "discard", session, paths=["n"])
        run(server, session, "echo new > n")
    assert act(server, "commit", session)["committed"]
    assert (project / "d" / "n").read_text() == "new\n"
    assert (project / "d" / "m").exists() == (action != "undo")


PROTECTING = """name = "x"
read = ["/"]
exec = ["/usr", "/bin", "/lib", "/lib64"]
write = ["$workspace", "$tmp"]
protect = ["$workspace/.envrc", "$workspace/.mcp.json", "$workspace/.claude"]
environment = ["PATH"]
"""


def protected_only_by_name(pithos: str, workspace: Path) -> Server:
    """A server whose sessions are not watched, so that protected files that are not there can be made."""
    policy = workspace.parent / f"{workspace.name}.toml"
    policy.write_text(PROTECTING + 'denials = "off"\n')
    return Server(pithos, workspace, "--sandbox", str(policy))


def test_an_overlaid_session_is_watched_as_others_are(server, project: Path):
    session = overlaid(server)
    for script in ("echo x > .envrc", "mkdir .claude", "mkdir n && cd n && echo x > ../.mcp.json", "mkdir m; ln -s .. m/up; echo x > m/up/.envrc"):
        told = server.call("run", session=session, command=f"({script})")
        assert "the sandbox denied" in told["content"][0]["text"], script
    # What was not denied is not said to be: it is the link that is touched.
    told = server.call("run", session=session, command="ln -s /etc/passwd l; touch -h l; chown -h $(id -u) l; cp -a l k")
    assert told["structuredContent"]["status"] == 0 and "denied" not in told["content"][0]["text"]
    told = server.call("run", session=session, command="true > /etc/passwd; touch l")
    assert told["content"][0]["text"].count("the sandbox denied /etc/passwd") == 1


TALK = """
import os, socket, sys
l = socket.socket(socket.AF_UNIX)
l.bind("inside")
l.listen(9)
os.symlink(os.path.abspath("inside"), "d/link")
for path in ("inside", os.path.abspath("inside"), "d/link", "/proc/self/cwd/inside"):
    c = socket.socket(socket.AF_UNIX)
    c.connect(path)
    a, _ = l.accept()
    c.send(b"x")
    assert a.recv(9) == b"x", path
try:
    c = socket.socket(socket.AF_UNIX)
    c.connect("host")
    c.send(b"out")
except OSError as error:
    print("refused", flush=True)
"""


def test_unix_sockets_of_an_overlaid_session_are_its_own(server, project: Path, monkeypatch):
    session = overlaid(server)
    if server.tool("run", session=session, command="python3 -c 'import socket; socket.socket(socket.AF_UNIX)'")["status"] != 0:
        pytest.skip("no Unix sockets of a sandbox's own here")
    monkeypatch.chdir(project)
    with socket.socket(socket.AF_UNIX) as host:
        host.bind("host")
        host.listen(9)
        (project / "talk.py").write_text(TALK)
        result = server.call("run", session=session, command="python3 talk.py")
        text = result["content"][0]["text"]
        assert result["structuredContent"]["status"] == 0 and "refused" in text, text
        host.setblocking(False)
        while True:
            try:
                connection, _ = host.accept()
            except BlockingIOError:
                break
            connection.setblocking(True)
            assert connection.recv(9) == b""
            connection.close()
    assert not (project / "inside").exists()


def test_what_no_session_may_make_comes_by_no_commit(pithos, workspace: Path):
    """Protected files that were not there: a session that is watched cannot make them, so one that is not cannot commit them."""
    project = workspace
    server = protected_only_by_name(pithos, workspace)
    session = overlaid(server)
    made = [".envrc", ".mcp.json", ".claude/settings.json"]
    for path in made:
        run(server, session, f"mkdir -p {os.path.dirname(path) or '.'}; echo x > {path}; echo good > good")
    for paths in (None, [".envrc"], [".claude"], [".claude/settings.json", "good"]):
        words = {} if paths is None else {"paths": paths}
        assert "is not committed: policy" in server.text("session", action="commit", session=session, **words), paths
    assert act(server, "commit", session, paths=["good"])["committed"]
    assert (project / "good").exists()
    assert not any((project / path).exists() for path in (*made, ".claude"))
    server.call("session", action="discard", session=session, paths=[".envrc", ".mcp.json", ".claude"])
    run(server, session, "echo more > good")
    assert act(server, "commit", session)["committed"]
    server.close()


def test_a_cell_does_not_pass_by_the_overlay(server, project: Path):
    session = overlaid(server)
    run(server, session, "echo inside > a")
    for code in ("await read('a')", "await write('a', 'x')", "await list()"):
        assert "use shell()" in server.text("js", session=session, code=code), code
    assert "inside" in server.text("js", session=session, code="(await shell('cat a')).output")
    assert (project / "a").read_text() != "x"


def test_a_background_job_is_ended_in_a_later_call(server, project: Path):
    session = overlaid(server)
    run(server, session, "sleep 1000 &")
    result = server.tool("run", session=session, command="kill %1; wait; echo $?", yield_ms=10000)
    assert result["state"] == "done", result


def test_a_run_over_an_overlay_of_its_own(server, project: Path):
    server.tool("run", command="v=5; cd d")
    result = server.tool("run", session="main", command="echo $v > v; pwd", overlay=True)
    if result["changed"]["undo"] != "overlay":
        pytest.skip("no overlay here")
    assert paths(result["changed"]["files"], project) == {"d/v": "added"}
    assert not (project / "d" / "v").exists()
    assert act(server, "commit", result["session"])["committed"]
    assert (project / "d" / "v").read_text() == "5\n"


def test_without_an_overlay_there_are_snapshots(pithos, tmp_path: Path):
    (tmp_path / "a").write_text("one\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("f\n")
    policy = tmp_path.parent / f"{tmp_path.name}.toml"
    policy.write_text(
        'name = "x"\nread = ["/"]\nexec = ["/usr", "/bin", "/lib", "/lib64"]\nwrite = ["$workspace", "$tmp"]\nnamespaces = "off"\nenvironment = ["PATH"]\n'
    )
    server = Server(pithos, tmp_path, "--sandbox", str(policy))
    try:
        opened = server.tool("session", action="open", overlay=True)
        assert opened["undo"] == "snapshot" and "namespace" in opened["undo_note"]
        session = opened["session"]
        first = run(server, session, "echo more >> a; rm -r d; echo n > n")
        assert first["changed"]["undo"] == "snapshot"
        assert paths(first["changed"]["files"], tmp_path)["a"] == "modified"
        assert (tmp_path / "n").exists(), "a snapshot is no overlay, and says so"
        assert "+more\n" in server.text("session", action="diff", session=session)
        run(server, session, "echo again >> a")
        act(server, "undo", session)
        assert (tmp_path / "a").read_text() == "one\nmore\n"
        act(server, "discard", session)
        assert (tmp_path / "a").read_text() == "one\n" and (tmp_path / "d" / "f").read_text() == "f\n"
        assert not (tmp_path / "n").exists()
    finally:
        server.close()


@pytest.mark.parametrize("look", ["cat a", "ls -l", "cat a; sleep 0.1; true", ":"])
@pytest.mark.parametrize("change", ["echo mine >> a", "sed -i s/$/-mine/ a", "rm a", "mv a moved", "chmod 700 a", "ln -sf b a"])
def test_what_is_replaced_below_after_a_look_is_not_lost(server, project: Path, look: str, change: str):
    """A file that another program renames into place, as editors and commits do, is seen by the next run, and by the commit of what that run made of it."""
    session = overlaid(server)
    run(server, session, look)
    (project / "fresh").write_text("theirs\n")
    (project / "fresh").rename(project / "a")
    run(server, session, change)
    before = server.text("run", session=session, command="cat a moved 2>/dev/null; true")
    result = server.call("session", action="commit", session=session)
    if result["structuredContent"].get("conflicts"):
        assert (project / "a").read_text() == "theirs\n"
        return
    # It was made of what was there: nothing of the others is gone that the run has not itself taken away.
    assert "one" not in before
    if change in ("echo mine >> a", "sed -i s/$/-mine/ a", "chmod 700 a"):
        assert (project / "a").read_text().startswith("theirs")


@pytest.mark.parametrize("change", ["echo {0} >> a", "sed -i s/$/-{0}/ a", "cp a t; echo {0} >> t; mv t a"])
def test_two_sessions_that_commit_one_after_another_lose_nothing(server, project: Path, change: str):
    first, second = overlaid(server), overlaid(server)
    for session in (first, second):
        assert server.text("run", session=session, command="cat a") == "one\n"
    run(server, first, change.format("first"))
    act(server, "commit", first)
    assert server.text("run", session=second, command="cat a") == (project / "a").read_text()
    run(server, second, change.format("second"))
    act(server, "commit", second)
    text = (project / "a").read_text()
    assert "first" in text and "second" in text, text
    # Both at the same time: the second is told.
    run(server, first, change.format("third"))
    run(server, second, change.format("fourth"))
    act(server, "commit", second)
    result = server.call("session", action="commit", session=first)["structuredContent"]
    assert len(result["conflicts"]) == 1 and "third" not in (project / "a").read_text()


def test_a_replaced_link_is_committed(server, project: Path):
    (project / "link").symlink_to("a")
    (project / "other").symlink_to("nowhere")
    session = overlaid(server)
    run(server, session, "ln -sfn b link; ln -sfn /etc/passwd other; ln -s new made")
    act(server, "commit", session)
    assert os.readlink(project / "link") == "b" and os.readlink(project / "other") == "/etc/passwd"
    run(server, session, "rm link; ln -s d link; mv other other2; rm made; echo file > made")
    act(server, "commit", session)
    assert os.readlink(project / "link") == "d" and os.readlink(project / "other2") == "/etc/passwd"
    assert (project / "made").read_text() == "file\n" and not (project / "other").is_symlink()


def test_checkpoints_outlive_a_discard(server, project: Path):
    session = overlaid(server)
    run(server, session, "echo 1 > n; echo mine >> a")
    checkpoint = act(server, "checkpoint", session)["checkpoint"]
    run(server, session, "echo 2 > n")
    act(server, "discard", session)
    assert run(server, session, "test -e n")["status"] == 1
    act(server, "restore", session, checkpoint=checkpoint)
    assert server.text("run", session=session, command="cat n a") == "1\none\nmine\n"
    # What it lies over counts from when the change was made, and not from when it came back.
    act(server, "discard", session)
    (project / "a").write_text("theirs\n")
    act(server, "restore", session, checkpoint=checkpoint)
    assert act(server, "commit", session)["conflicts"] and (project / "a").read_text() == "theirs\n"


def tree_of(folder: Path) -> dict:
    """Every path below a folder and what is there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else "folder" if path.is_dir() else path.read_bytes()
    return found


def test_a_server_that_is_killed_in_a_commit_leaves_the_old_or_the_new_state(pithos: str, tmp_path: Path):
    """At any moment of it: the next server of the user finishes the commit or takes it back."""
    seed = 191
    chance = random.Random(seed)
    states, whole = set(), 0.0
    for trial in range(14):
        workspace = tmp_path / f"w{trial}"
        for number in range(80):
            place = workspace / f"d{number % 7}" / f"f{number}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"old {number}\n" * 40)
        (workspace / "link").symlink_to("d0")
        server = Server(pithos, workspace)
        try:
            session = overlaid(server)
            change = """for f in d[0-4]/f*; do echo new >> $f; done; rm -r d5; rm d6/f6; ln -sfn d1 link; mkdir -p n/m
                for i in {1..40}; do echo $i > n/m/$i; done; mv d6/f13 moved; chmod 600 d6/f20; rm -r d4; echo file > d4"""
            run(server, session, change)
            new = server.text("run", session=session, command="find . -mindepth 1 | sort | sed 's,^./,,'").splitlines()
            old = tree_of(workspace)
            begun = time.monotonic()
            asked = server.start("tools/call", {"name": "session", "arguments": {"action": "commit", "session": session}})
            if trial == 0:
                # How long one takes, so that the others are killed inside it.
                assert server.answer(asked)["result"]["structuredContent"]["committed"]
                whole = time.monotonic() - begun
                committed = tree_of(workspace)
                assert sorted(committed) == new
                continue
            time.sleep(whole * chance.random())
        finally:
            server.close()
        # It is another server that finds what is left.
        again = Server(pithos, workspace)
        try:
            again.lives()
            after = tree_of(workspace)
        finally:
            again.close()
        assert after in (old, committed), f"seed {seed}, trial {trial}: half of it: {set(after) ^ set(old)}, {set(after) ^ set(committed)}"
        states.add("old" if after == old else "new")
    assert states, "nothing was tried"


@pytest.mark.parametrize(
    ("before", "change", "same"),
    [
        (":", "echo x >> a; rm b; echo n > n; mkdir -p m/n; ln -s a l; rm -r d", True),
        ("cd d/e; echo mine > own", "echo x >> f; rm own; echo n > ../../n", True),
        # The folder that it is in is one of the layer only since the call.
        ("cd d/e", "echo x >> f", False),
        # What is open would still be what it was.
        ("exec 5< a", "echo x >> a", False),
        (":", "chmod 751 .", False),
    ],
)
def test_an_undo_keeps_the_shell_where_nothing_of_the_files_is_in_use(server, project: Path, before: str, change: str, same: bool):
    session = overlaid(server)
    run(server, session, f"kept=1; {before}")
    look = "pwd; cd " + str(project) + "; find . -printf '%p %y %m %l\\n' | sort; cat a b d/e/f d/e/own n 2>/dev/null; cd - > /dev/null; echo $kept"
    seen = server.text("run", session=session, command=look)
    shell = server.text("run", session=session, command="echo $BASHPID")
    for _ in range(3):
        job = run(server, session, change)["job"]
        act(server, "undo", session, job=job)
        assert server.text("run", session=session, command=look) == seen
    assert (server.text("run", session=session, command="echo $BASHPID") == shell) == same
    # What is made now is in the layer, and comes below.
    run(server, session, "echo after > after; echo after >> " + str(project / "d/e/f"))
    assert act(server, "commit", session)["committed"]
    assert (project / "after").exists() or (project / "d/e/after").exists()
    assert (project / "d/e/f").read_text() == "three\nafter\n" and (project / "a").read_text() == "one\n"


def test_what_was_undone_leaves_no_content_behind(server, project: Path):
    """A build that is tried and undone a hundred times is kept no more than once."""
    session, size = overlaid(server), 10_007 + os.getpid() % 1000

    def kept() -> int:
        state = [Path(os.environ.get("TMPDIR", "/tmp")), *(Path(os.environ[name]) for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME") if os.environ.get(name))]
        walks = (walk for folder in state for below in folder.glob("*pithos*") for walk in os.walk(below))
        return sum((Path(root) / name).lstat().st_size == size for root, _, names in walks for name in names if (Path(root) / name).is_file())

    run(server, session, f"head -c {size} /dev/urandom > z")
    assert kept() > 0, "the place is another one"
    act(server, "undo", session)
    for _ in range(20):
        run(server, session, f"head -c {size} /dev/urandom > z")
        act(server, "undo", session)
    assert kept() <= 2
    server.lives()
