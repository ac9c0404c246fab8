"""What one call leaves for the next, and what a call that cannot be carried out says."""

import json
import subprocess
from pathlib import Path

import pytest
from server import Server


def test_the_environment_of_a_call_is_of_that_call(server: Server) -> None:
    server.tool("run", command="export KEPT=old OTHER=1; PLAIN=shell; readonly FIXED=1")
    shown = "echo ${KEPT-unset} ${PLAIN-unset} ${NEW-unset} $(env | grep -c -E '^(KEPT|PLAIN|NEW)=')"
    assert server.text("run", command=shown, env={"KEPT": "new", "PLAIN": "out", "NEW": "1"}) == "new out 1 3\n"
    assert server.text("run", command=shown) == "old shell unset 1\n"
    # What the script itself sets stays.
    server.tool("run", command="NEW=$NEW:more; export KEPT=again; unset PLAIN", env={"NEW": "a", "KEPT": "b", "PLAIN": "c"})
    assert server.text("run", command=shown) == "again unset a:more 2\n"
    # A failure half-way sets nothing.
    failed = server.call("run", command="echo ran", env={"AAA": "1", "FIXED": "2", "ZZZ": "3"})
    assert failed["isError"] and "FIXED" in failed["content"][0]["text"], failed
    assert server.text("run", command="echo ${AAA-unset} ${ZZZ-unset} $FIXED") == "unset unset 1\n"
    # What the shell reads for itself follows as well.
    assert server.text("run", command="IFS=$IFS; x=a,b; echo $x", env={"IFS": ","}) == "a b\n"
    assert server.text("run", command="x=a,b; echo $x") == "a,b\n"
    assert server.call("run", command="true", env={"PATH": "/nowhere"}).get("isError") is not True
    assert server.text("run", command="ls . >/dev/null && echo found") == "found\n"


@pytest.mark.parametrize(
    "arguments",
    [
        {"env": {"not good": "1"}},
        {"env": {"": "1"}},
        {"env": {"1A": "1"}},
        {"env": {"A=B": "1"}},
        {"cwd": "/no/such/folder"},
        {"cwd": "no-such"},
        {"cwd": "a-file"},
        {"cwd": "-"},
        {"cwd": ""},
    ],
)
def test_a_call_that_cannot_begin_is_an_error(server: Server, workspace: Path, arguments: dict) -> None:
    (workspace / "a-file").write_text("")
    server.tool("run", command="mkdir d; cd d; cd ..; CDPATH=/")
    for more in ({}, {"streams": True}, {"interactive": True}, {"terminal": {}}):
        result = server.call("run", command="echo ran", **arguments, **more)
        assert result["isError"] and "ran" not in result["content"][0]["text"].split(), result
    background = server.call("run", command="echo ran", background=True, yield_ms=0, **arguments)
    if not background.get("isError"):
        job = background["structuredContent"]["job"]
        assert server.tool("job", action="wait", job=job)["state"] == "failed"
    assert server.text("run", command="echo on") == "on\n"


def test_a_working_directory_is_what_it_names(server: Server, workspace: Path) -> None:
    (workspace / "tmp" / "inner").mkdir(parents=True)
    server.tool("run", command="CDPATH=/; cd() { echo hijacked; }; export() { echo hijacked; }")
    result = server.tool("run", command="pwd", cwd="tmp", env={"A": "b"})
    assert result["cwd"] == str(workspace / "tmp")
    assert server.text("run", command="unset -f cd export; pwd", cwd="./inner") == f"{workspace}/tmp/inner\n"


def test_a_working_directory_that_is_no_path_is_called_that(server: Server) -> None:
    for call in (server.text("run", command="true", cwd="x" * (2 << 20)), server.text("session", action="open", cwd="x" * (2 << 20))):
        assert "are no path" in call and "into a file" not in call, call


def test_a_trap_before_every_command_does_not_blind_the_session(server: Server) -> None:
    for action in ("exit 7", "return 1", "kill -INT $$", "exec true", "false"):
        server.call("run", command=f"shopt -s extdebug; trap '{action}' DEBUG", session=None)
        assert server.text("run", command="echo sees", env={"A": "1"}) == "sees\n", action
    assert server.text("run", command="trap 'echo before $BASH_COMMAND' DEBUG; true").startswith("before true")


def test_a_named_session_that_died_is_renewed_and_says_so(server: Server) -> None:
    server.tool("session", action="open", name="work")
    server.tool("run", session="work", command="x=1")
    assert server.tool("run", session="work", command="kill -9 $$")["state"] == "lost"
    again = server.call("run", session="work", command="echo ${x-gone}")
    assert not again.get("isError") and again["content"][0]["text"].startswith("gone\n"), again
    assert any("new session 'work'" in note for note in again["structuredContent"]["notes"])
    assert server.text("run", session="work", command="echo on") == "on\n"
    assert server.call("run", session="nobody", command="true")["isError"]


@pytest.mark.parametrize("length", [4095, 4096, 4097, 16_000, 70_000, 200_000])
def test_a_long_line_is_shown_as_far_as_it_was_asked_for(server: Server, length: int) -> None:
    command = f"printf '%0{length}d\\n' 7"
    line = "7".rjust(length, "0") + "\n"
    assert server.text("run", command=command, output_bytes=262_144) == line
    apart = server.tool("run", command=f"{command}; {command} >&2", output_bytes=262_144, streams=True)
    assert (apart["stdout"], apart["stderr"]) == (line, line)
    # Of a cell, by default.
    value = server.tool("js", code=f"(await shell({json.dumps(command)})).output.length")["value"]
    assert value == length + 1
    short = server.call("run", command=command, output_bytes=2000)
    assert len(short["content"][0]["text"]) < 2400 and short["structuredContent"]["truncated"]


def test_what_a_cell_throws_and_prints_is_bounded_and_says_so(server: Server) -> None:
    for code in (
        "throw new Error('x'.repeat(10_000_000))",
        "throw 'x'.repeat(10_000_000)",
        "throw {message: 'x'.repeat(10_000_000)}",
        "await shell('x'.repeat(1_000_000) + ' 2>&1; exit 1').then(r => { throw new Error(r.output + 'y'.repeat(9e6)) })",
    ):
        result = server.call("js", code=code)
        text = result["content"][0]["text"]
        assert len(text) < 100_000 and ("bytes in all" in text or "more characters" in text), (code, len(text), text[:200])
        assert len(json.dumps(result)) < 300_000
    long = server.call("js", code="console.log('a'.repeat(5_000_000)); console.log('next'); return 7")
    text = long["content"][0]["text"]
    assert text.startswith("aaa") and "\nnext\n" in text and "5000000 bytes in all" in text and text.endswith("7\n")
    assert long["structuredContent"]["console_truncated"] and len(text) < 100_000


def test_a_folder_that_is_no_text_is_refused_with_words(pithos: str, workspace: Path) -> None:
    folder = bytes(workspace) + b"/no\xfftext"
    Path(folder.decode(errors="surrogateescape")).mkdir()
    for words in (["js", "-e", "1"], ["serve"], ["run", "--json", "true"]):
        done = subprocess.run([pithos, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert done.returncode in (1, 125) and b"UTF-8" in done.stderr and b"panicked" not in done.stderr, done
    # This one passes bytes through.
    done = subprocess.run([pithos, "run", "echo here"], cwd=folder, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"here\n"), done


@pytest.mark.parametrize("words", [["--cwd", "/nope", "true"], ["--cwd", "/nope", "--", "true"], ["--cwd", "/nope", "--json", "true"]])
def test_a_command_that_is_not_started_has_a_status_of_its_own(pithos: str, words: list[str]) -> None:
    done = subprocess.run([pithos, "run", *words], capture_output=True, timeout=60)
    assert done.returncode == 125 and b"/nope" in done.stderr, done


def test_doctor_says_each_thing_once(pithos: str) -> None:
    done = subprocess.run([pithos, "doctor"], capture_output=True, text=True, timeout=60)
    heads = [line[6:54].strip().removeprefix("the ") for line in done.stdout.splitlines() if line[2:5] in ("yes", "NO ")]
    assert len(heads) == len(set(heads)) and heads, heads


@pytest.mark.parametrize("signal", ["INT", "TERM"])
@pytest.mark.parametrize("command", ["while :; do :; done", "/bin/sleep 60", "while :; do /bin/true; done"])
def test_a_signal_reaches_a_run_however_early_it_comes(server: Server, signal: str, command: str) -> None:
    for number in range(15):
        server.tool("session", action="open", name=f"n{number}")
        job = server.tool("run", command=command, session=f"n{number}", yield_ms=0)["job"]
        server.tool("job", action="signal", job=job, signal=signal)
        # A loop of programs goes on when one of them is ended by TERM: that is what the shell does.
        if command.endswith("/bin/true; done") and signal == "TERM":
            server.tool("job", action="stop", job=job)
        assert server.tool("job", action="wait", job=job, timeout_ms=20_000)["state"] in ("done", "stopped")
        server.tool("session", action="close", session=f"n{number}")


@pytest.mark.parametrize("words", [["echo a"], ["--", "/bin/echo", "a"], ["echo a; exit $?"], ["sh -c 'echo a'"]])
def test_a_closed_standard_output_stays_closed(pithos: str, words: list[str]) -> None:
    shell = subprocess.run(["sh", "-c", '"$@" >&-', "sh", pithos, "run", *words], capture_output=True, timeout=60)
    assert shell.returncode != 0 and shell.stderr, shell
    # One that leads to nowhere on purpose is none of these.
    nowhere = subprocess.run([pithos, "run", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
    assert (nowhere.returncode, nowhere.stderr) == (0, b""), nowhere
    without = subprocess.run(["sh", "-c", '"$@" <&-', "sh", pithos, "run", *words], capture_output=True, timeout=60)
    assert (without.returncode, without.stdout) == (0, b"a\n"), without
