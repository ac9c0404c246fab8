"""`pithos run` and `pithos js` as commands: what a user, a script or another program would do with them."""

import hashlib
import json
import os
import pty
import random
import resource
import select
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import gone_within

#: Seconds for anything to happen.
PATIENCE = 60.0


@pytest.fixture
def run(pithos: str, workspace: Path):
    """Runs `pithos run ...` in the workspace."""

    def call(*words, **options) -> subprocess.CompletedProcess:
        return subprocess.run([pithos, "run", *words], cwd=workspace, capture_output=True, timeout=PATIENCE, **options)

    return call


def test_bytes_go_through_unchanged(run) -> None:
    every = bytes(range(256)) * 3
    ended = run("cat", input=every)
    assert (ended.stdout, ended.stderr, ended.returncode) == (every, b"", 0)
    assert run("printf 'no newline'").stdout == b"no newline"
    assert run("printf 'a\\0b'").stdout == b"a\0b"
    assert run(":").stdout == b""
    both = run("echo out; echo error >&2; printf '\\377' >&2; exit 3")
    assert (both.stdout, both.stderr, both.returncode) == (b"out\n", b"error\n\xff", 3)


#: Ways in which a run ends, and what it leaves in its private folder.
LEAVINGS = {
    "nothing": (":", ()),
    "a file": ("echo x > /tmp/file", ()),
    "a tree": ("mkdir -p $TMPDIR/a/b && touch $TMPDIR/a/b/c && ln -s / $TMPDIR/link", ()),
    "a closed folder": ("mkdir /tmp/closed && touch /tmp/closed/file && chmod 0 /tmp/closed", ()),
    "a failure": ("echo x > /tmp/file; exit 3", ()),
    "a signal": ("echo x > /tmp/file; kill -9 $$", ()),
    "a time-out": ("echo x > /tmp/file; sleep 100", ("--timeout", "0.3")),
}


@pytest.mark.parametrize("place", ["below the temporary folder", "elsewhere"])
def test_a_run_leaves_nothing_of_its_own(pithos: str, tmp_path: Path, place: str) -> None:
    """Whatever it wrote, however it ended, and also when everything of it was killed at once."""
    state, temporary = tmp_path / "state", tmp_path / "tmp"
    workspace = temporary / "work" if place.startswith("below") else tmp_path / "work"
    for folder in (state, temporary, workspace):
        folder.mkdir(parents=True)
    environment = os.environ | {"XDG_STATE_HOME": str(state), "TMPDIR": str(temporary)}
    environment.pop("XDG_RUNTIME_DIR", None)

    def left() -> list[str]:
        places = [*state.glob("pithos/*"), *temporary.glob("pithos-*/*")]
        return [str(path) for path in places if path.name not in ("machine.json", "checkpoints")]

    for name, (script, options) in LEAVINGS.items():
        subprocess.run([pithos, "run", *options, script], cwd=workspace, env=environment, capture_output=True, timeout=PATIENCE)
        assert left() == [], name
    killed = subprocess.Popen([pithos, "run", "echo x > /tmp/file; echo begun; sleep 100"], cwd=workspace, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    assert killed.stdout.readline() == b"begun\n" and left()
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    deadline = time.monotonic() + PATIENCE
    while left():
        assert time.monotonic() < deadline, left()
        time.sleep(0.01)


def test_every_status_comes_back(run) -> None:
    for status in (0, 1, 2, 42, 124, 126, 127, 128, 200, 255):
        assert run(f"exit {status}").returncode == status
        assert run("--", "sh", "-c", f"exit {status}").returncode == status
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
        assert run(f"kill -{number} $$").returncode == 128 + number, number
        assert run("--", "sh", "-c", f"kill -{number} $$").returncode == 128 + number, number
        assert run(f"sh -c 'kill -{number} $$'").returncode == 128 + number, number
    assert run("no-such-program").returncode == 127
    assert run("--", "no-such-program").returncode == 127
    assert run("--", "/etc/passwd").returncode == 126
    assert run("if").returncode == 2


def test_arguments_are_not_looked_at(run) -> None:
    script = "import os, sys; sys.stdout.buffer.write(b'\\0'.join(os.fsencode(word) for word in sys.argv[1:]))"
    odd = ["", " ", "a b", "'", '"', "$HOME", "`id`", "*", "\\", "\n", "-n", "--", "--help", "~", "ü", b"\xff\xfe", "a;b", "#", "!", "{a,b}"]
    ended = run("--", "python3", "-c", script, *odd)
    assert ended.stdout.split(b"\0") == [word if isinstance(word, bytes) else word.encode() for word in odd]
    shuffled = random.Random(7)
    for _ in range(10):
        words = ["".join(shuffled.choices("ab '\"\\$`*?[]{}()<>|&;#~!\n\t-=", k=12)) for _ in range(5)]
        assert run("--", "python3", "-c", script, *words).stdout.split(b"\0") == [word.encode() for word in words], words


def test_no_time_is_named_as_it_was_given(run) -> None:
    for time in ("-1", "nan", "1e300", "x"):
        done = run("--timeout", time, "true")
        assert done.returncode == 2 and f"'{time}' is no" in done.stderr.decode() and "float" not in done.stderr.decode(), done


def test_usage_is_told(run) -> None:
    for words in ([], ["a", "b"], ["--"], ["--unknown", "x"], ["a", "--", "b"], ["--timeout", "x", "true"]):
        ended = run(*words)
        assert ended.returncode == 2 and ended.stderr.startswith(b"pithos: "), words
    assert run("--sandbox", "nowhere.toml", "true").returncode == 2


@pytest.mark.parametrize("words", [["pwd"], ["--", "pwd"]])
def test_the_folder_is_what_cwd_says_wherever_it_is_started(pithos: str, workspace: Path, words: list[str]) -> None:
    """Also below `/tmp`, of which the sandbox has another one, so that the folder of the start is not in it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as below:
        os.makedirs(f"{below}/a/b")
        for start in ("/", "/tmp", below, f"{below}/a/b", "/usr", str(workspace)):
            for folder in ("/usr", "/etc", str(workspace), f"{below}/a"):
                ended = subprocess.run([pithos, "run", "--cwd", folder, *words], cwd=start, capture_output=True, timeout=PATIENCE)
                assert (ended.returncode, ended.stdout.decode()) == (0, f"{folder}\n"), (start, folder, ended)
            for wrong, why in (("/nonexistent", b"No such file"), ("/etc/passwd", b"no folder")):
                ended = subprocess.run([pithos, "run", "--cwd", wrong, *words], cwd=start, capture_output=True, timeout=PATIENCE)
                assert ended.returncode not in (0, 1) and f"--cwd {wrong}".encode() in ended.stderr and why in ended.stderr, (start, ended)


def test_what_is_left_behind_ends_without_a_word(run) -> None:
    for number in range(20):
        ended = run(f"(while :; do ls /; done) >/dev/null & sleep 77 & echo {number}")
        assert (ended.returncode, ended.stdout.decode(), ended.stderr) == (0, f"{number}\n", b""), ended


def test_many_at_once_all_start(run) -> None:
    """What the process outside does while the mounts are made comes at other moments each time; now and then it kept them from becoming read-only."""
    with ThreadPoolExecutor(6) as pool:
        ended = list(pool.map(lambda number: run("--", "sh", "-c", f"exit {number % 3}"), range(360)))
    assert [one.returncode for one in ended] == [number % 3 for number in range(360)], [one.stderr for one in ended if one.stderr]


def test_as_json_it_has_its_output(run) -> None:
    told = json.loads(run("--json", "echo out; echo error >&2; exit 3").stdout)
    assert (told["stdout"], told["stderr"], told["status"]) == ("out\n", "error\n", 3), told


def test_input_is_the_caller_s(run, workspace: Path) -> None:
    (workspace / "file").write_bytes(b"from a file\n")
    with (workspace / "file").open() as file:
        assert run("cat", stdin=file).stdout == b"from a file\n"
    assert run("cat", stdin=subprocess.DEVNULL).stdout == b""
    # What the command leaves is there for the next.
    with (workspace / "file").open() as file:
        assert run("--", "head", "-c", "5", stdin=file).stdout == b"from "


def test_output_comes_as_it_is_written(pithos: str, workspace: Path) -> None:
    command = [pithos, "run", "echo first; read line; echo got $line; read line; echo got $line"]
    with subprocess.Popen(command, cwd=workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"first\n"
        for word in (b"one\n", b"two\n"):
            process.stdin.write(word)
            process.stdin.flush()
            assert process.stdout.readline() == b"got " + word


def test_a_hundred_megabytes_pass_in_flat_memory(pithos: str, workspace: Path) -> None:
    size = 100 << 20
    command = [pithos, "run", f"head -c {size} /dev/zero | tr '\\0' x"]
    digest, count = hashlib.sha256(), 0
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with subprocess.Popen(command, cwd=workspace, stdout=subprocess.PIPE) as process:
        while piece := process.stdout.read(1 << 20):
            digest.update(piece)
            count += len(piece)
    assert (count, process.returncode) == (size, 0)
    assert digest.hexdigest() == hashlib.sha256(b"x" * size).hexdigest()
    peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak_kb <= max(before, 60_000), peak_kb


def test_who_reads_too_little_ends_the_writer(pithos: str, workspace: Path) -> None:
    line = f"'{pithos}' run 'yes; echo after: $? >&2' | head -n 1"
    ended = subprocess.run(["bash", "-c", line], cwd=workspace, capture_output=True, timeout=PATIENCE)
    assert ended.stdout == b"y\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_passed_on(pithos: str, workspace: Path, number: signal.Signals) -> None:
    for command in (["trap 'echo caught; exit 7' $SIG; echo ready; while :; do sleep 0.05; done"], ["--", "sh", "-c", "trap 'echo caught; exit 7' $SIG; echo ready; while :; do sleep 0.05; done"]):
        words = [word.replace("$SIG", number.name.removeprefix("SIG")) for word in command]
        with subprocess.Popen([pithos, "run", *words], cwd=workspace, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(number)
            assert process.stdout.read() == b"caught\n"
            assert process.wait(PATIENCE) == 7
        with subprocess.Popen([pithos, "run", "echo ready; sleep 1000; echo no"], cwd=workspace, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(number)
            assert process.stdout.read() == b""
            assert process.wait(PATIENCE) == 128 + number
    assert not gone_within(str(workspace), PATIENCE)


def test_nothing_is_left(pithos: str, workspace: Path, run) -> None:
    assert run("sleep 1000 & (setsid sleep 1000 &) ; echo started").stdout == b"started\n"
    assert not gone_within(str(workspace), PATIENCE)
    for number in (signal.SIGKILL, signal.SIGTERM):
        with subprocess.Popen([pithos, "run", "sleep 1000 & setsid sleep 1000 & echo ready; sleep 1000"], cwd=workspace, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(number)
        assert not gone_within(str(workspace), PATIENCE)


def test_time_is_kept(run) -> None:
    ended = run("--timeout", "0.5", "echo before; sleep 1000")
    assert (ended.stdout, ended.returncode) == (b"before\n", 124) and b"time was over" in ended.stderr
    stubborn = run("--timeout", "0.5", "trap '' TERM; echo before; sleep 1000 & wait; sleep 1000")
    assert (stubborn.stdout, stubborn.returncode) == (b"before\n", 124)


def test_the_sandbox_is_that_of_a_server(run, workspace: Path) -> None:
    assert run("echo in > inside; cat inside").stdout == b"in\n"
    outside = workspace.parent / f"outside-{os.getpid()}"
    run(f"echo out > {outside}")
    assert not outside.exists()
    denied = run("echo out > /etc/pithos-was-here")
    assert denied.returncode != 0 and not Path("/etc/pithos-was-here").exists() and b"/etc/pithos-was-here" in denied.stderr
    assert run("--sandbox", "read-only", "echo in > inside2").returncode != 0
    assert run("echo $TMPDIR > file; echo x > /tmp/y && cat /tmp/y").stdout == b"x\n"


def test_a_terminal_is_the_command_s(pithos: str, workspace: Path) -> None:
    child, master = pty.fork()
    if child == 0:
        os.chdir(workspace)
        os.execv(pithos, [pithos, "run", "test -t 0 && test -t 1 && test -t 2 && echo terminal; read line; echo got $line"])
    seen = b""
    deadline = time.monotonic() + PATIENCE
    typed = False
    while b"got typed" not in seen and time.monotonic() < deadline:
        if select.select([master], [], [], 1)[0]:
            seen += os.read(master, 4096)
        if b"terminal" in seen and not typed:
            os.write(master, b"typed\n")
            typed = True
    os.waitpid(child, 0)
    os.close(master)
    assert b"got typed" in seen, seen


def js(pithos: str, workspace: Path, *words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([pithos, "js", *words], cwd=workspace, capture_output=True, text=True, timeout=PATIENCE, **options)


def test_programs_of_javascript(pithos: str, workspace: Path) -> None:
    (workspace / "program.js").write_text("#!/usr/bin/env pithos-js\nconsole.log('out');\nconsole.error('error');\nconst {output} = await shell('echo $((6 * 7))');\nconsole.log(output.trim());\n")
    ended = js(pithos, workspace, "program.js")
    assert (ended.stdout, ended.stderr, ended.returncode) == ("out\n42\n", "error\n", 0)
    assert js(pithos, workspace, "-", input="console.log('from stdin')").stdout == "from stdin\n"
    assert js(pithos, workspace, "-e", "6 * 7").stdout == "42\n"
    failed = js(pithos, workspace, "-e", "console.log('before'); throw new Error('as asked')")
    assert failed.stdout == "before\n" and "as asked" in failed.stderr and failed.returncode == 1
    missing = js(pithos, workspace, "6 * 7")
    assert missing.returncode == 1 and "-e" in missing.stderr
    assert json.loads(js(pithos, workspace, "--json", "-e", "[1, 2]").stdout)["value"] == [1, 2]
    for code, shown in [("({a: 1n})", "1n"), ("10n ** 30n", "1000"), ("() => 1", "Function"), ("Symbol('s')", "Symbol(s)"), ("const a = []; a.push(a); a", "Circular"), ("(10n ** 10000n)", "BigInt")]:
        told = json.loads(js(pithos, workspace, "--json", "-e", code).stdout)
        assert "value" not in told and shown in told["shown"] and len(told["shown"]) < 5000 and "no JSON" in told["note"], told
    assert "shown" not in json.loads(js(pithos, workspace, "--json", "-e", "undefined").stdout)
    lines = js(pithos, workspace, "-e", "for (let i = 0; i < 200000; i++) console.log('line ' + i)").stdout
    assert lines == "".join(f"line {number}\n" for number in range(200_000))
    for words in ([], ["a", "b"], ["-e", "1", "file"]):
        assert js(pithos, workspace, *words).returncode == 2, words


def test_what_javascript_prints_comes_as_it_is_printed(pithos: str, workspace: Path) -> None:
    code = "console.log('first'); await new Promise(done => setTimeout(done, 600000))"
    with subprocess.Popen([pithos, "js", "-e", code], cwd=workspace, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "first\n"
        process.kill()
    assert not gone_within(str(workspace), PATIENCE)


def test_logs_are_asked_of_all_servers(pithos: str, tmp_path: Path) -> None:
    # A socket's path is short.
    with tempfile.TemporaryDirectory(prefix="p") as run_time:
        logs_of_all(pithos, tmp_path, {"XDG_RUNTIME_DIR": run_time})


def logs_of_all(pithos: str, tmp_path: Path, place: dict[str, str]) -> None:
    from server import Server

    def log(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([pithos, "log", *words], env=os.environ | place, capture_output=True, text=True, timeout=PATIENCE)

    nobody = log("j1")
    assert nobody.returncode == 1 and "no server" in nobody.stderr
    servers = []
    try:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            servers.append(Server(pithos, tmp_path / name, **place))
            servers[-1].call("run", command=f"echo from {name}")
        several = log("j1")
        assert several.returncode == 1 and all(f"--server {server.process.pid}" in several.stderr for server in servers)
        assert log("--server", str(servers[1].process.pid), "j1").stdout == "from two\n"
        servers[0].call("run", command="echo second of one")
        assert log("j2").stdout == "second of one\n"
        unknown = log("j77")
        assert unknown.returncode == 1 and all(str(server.process.pid) in unknown.stderr for server in servers)
    finally:
        for server in servers:
            server.close()
