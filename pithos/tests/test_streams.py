"""Standard streams that cannot be written: the reader has gone, the disk is full. A command says so with its status; a server lives on."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from server import Server

COMMANDS = [
    ["--help"],
    ["--version"],
    ["doctor"],
    ["doctor", "--json"],
    ["sessions"],
    ["sessions", "--json"],
    ["install"],
    ["install", "claude-code"],
    ["js", "-e", "1 + 1"],
    ["run", "--json", "echo hi"],
    ["nothing"],
]


def sink(kind: str) -> int:
    """A descriptor that takes nothing."""
    if kind == "full":
        return os.open("/dev/full", os.O_WRONLY)
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("kind", ["gone", "full"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_stream_that_takes_nothing_is_no_crash(pithos: str, workspace: Path, words: list[str], stream: str, kind: str) -> None:
    other = "stderr" if stream == "stdout" else "stdout"
    descriptor = sink(kind)
    try:
        done = subprocess.run(
            [pithos, *words],
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
            **{stream: descriptor, other: subprocess.PIPE},
        )
    finally:
        os.close(descriptor)
    told = (done.stdout or b"") + (done.stderr or b"")
    assert b"panicked" not in told and b"RUST_BACKTRACE" not in told
    assert done.returncode not in (101, 134, -signal.SIGABRT, -signal.SIGSEGV)
    if stream == "stdout" and words != ["nothing"]:
        assert done.returncode == (141 if kind == "gone" else 1), told
        assert kind == "gone" or b"No space left" in told


def test_a_server_whose_messages_nobody_reads_lives_on(pithos: str, workspace: Path) -> None:
    """Clients start servers with a pipe for standard error, and some close it."""
    descriptor = sink("gone")
    try:
        # An audit log that takes nothing: each call is worth a message.
        server = Server(pithos, workspace, "--audit", "/dev/full", stderr=descriptor)
    finally:
        os.close(descriptor)
    for _ in range(3):
        assert server.call("run", command="echo hi")["content"][0]["text"] == "hi\n"
    server.close()
