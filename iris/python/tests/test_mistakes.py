"""Mistakes of users, and that they are told: times that are no numbers, references of another system, `top` without a terminal."""

import os
import pty
import select
import subprocess
import sys
import time

import pytest

import iris
import iris.tools
from conftest import wait_until

NAN = float("nan")


def nothing(message):
    pass


def test_a_time_that_is_no_number_is_an_error(system):
    ref = system.spawn(nothing)
    child = iris.Child("child", nothing, shutdown=NAN)
    mistakes = [
        lambda: ref.send_after(NAN, 1),
        lambda: ref.send_interval(NAN, 1),
        lambda: ref.ask_sync(1, timeout=NAN),
        lambda: system.join(timeout=NAN),
        lambda: system.stop(timeout=NAN),
        lambda: system.stop(drain=NAN),
        lambda: system.spawn(iris.actor(lambda message: None, virtual=True, idle_timeout=NAN)),
        lambda: system.supervise(iris.Supervisor(period=NAN)),
        lambda: system.supervise(iris.Supervisor(backoff=(NAN, 1.0))),
        lambda: system.supervise(iris.Supervisor(children=[child])),
        lambda: system.selective_recv_blocking(system.spawn_observed_handler(), lambda message: True, NAN),
    ]
    for mistake in mistakes:
        with pytest.raises(ValueError, match="NaN|longer than nothing"):
            mistake()
    assert ref.send_after(1e300, 1) and ref.send_interval(float("inf"), 1)


def test_a_reference_of_another_system_is_not_taken_for_ones_own(system):
    with iris.System() as other:
        mine, foreign = system.spawn(nothing), other.spawn(nothing)
        assert mine.pid == foreign.pid, "or this test shows nothing"
        mistakes = [
            lambda: system.stop(foreign),
            lambda: system.exit(pid=foreign),
            lambda: system.join(foreign, timeout=0),
            lambda: system.register("name", foreign),
            lambda: system.join_group("group", foreign),
            lambda: system.is_alive(foreign),
            lambda: system.mailbox_size(foreign),
            lambda: system.hot_swap(foreign, nothing),
            lambda: system.rollback_behavior(foreign),
            lambda: system.spawn(nothing, parent=foreign),
            lambda: system.spawn(nothing, link=foreign),
            lambda: system.spawn(nothing, monitor=foreign),
            lambda: system.supervise(iris.Supervisor(), parent=foreign),
            lambda: mine.link(foreign),
        ]
        for mistake in mistakes:
            with pytest.raises(ValueError, match="different system"):
                mistake()
        assert mine.alive and system.actor_count() == 1
        # What goes by way of the reference itself reaches its own actor.
        assert system.send(foreign, 1)


def top(*arguments, **how):
    return subprocess.Popen([sys.executable, "-m", "iris", "top", *arguments], **how)


def test_top_needs_a_terminal_and_says_so(system, tmp_path):
    path = iris.tools.serve(system, str(tmp_path / "socket"))
    done = top("--socket", path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, error = done.communicate(timeout=20)
    assert done.returncode == 2 and out == b"" and b"--once" in error


def test_q_ends_top_and_the_terminal_is_as_it_was(system, tmp_path):
    import termios

    path = iris.tools.serve(system, str(tmp_path / "socket"))
    system.spawn(nothing)
    mine, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    running = top("--socket", path, "--interval", "30", stdin=theirs, stdout=theirs, stderr=theirs)
    try:
        screen = b""
        while b"idle" not in screen:
            assert select.select([mine], [], [], 20)[0], screen
            screen += os.read(mine, 1 << 16)
        begun = time.monotonic()
        os.write(mine, b"xq")
        assert running.wait(timeout=20) == 0 and time.monotonic() - begun < 10
        wait_until(lambda: termios.tcgetattr(theirs)[:4] == before[:4])
    finally:
        running.kill()
        os.close(mine)
        os.close(theirs)
