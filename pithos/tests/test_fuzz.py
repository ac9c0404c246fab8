"""Random sequences of tool calls, right and wrong, from the schemas that the server announces: after each of them a ping and a command are answered, and in the end
nothing is left. `PITHOS_FUZZ_SECONDS` for longer, `PITHOS_FUZZ_SEED` to see a failure again; the seed is in its message."""

import os
import random
import signal
import time

from processes import below_in_order, gone_within
from server import Server
from test_wrong_calls import BAD_HANDLES, ODD_VALUES, actions, right

#: Seconds of each run within the tests.
SECONDS = float(os.environ.get("PITHOS_FUZZ_SECONDS", "20"))
SEED = int(os.environ.get("PITHOS_FUZZ_SEED", "20261123"))
#: Sizes of text around those at which something changes: buffers, pipes, frames, arguments.
SIZES = [0, 1, 4095, 4096, 65_535, 65_536, 131_072, 212_992, 1_000_000, 4_000_000]
#: Harmless commands that still change something.
COMMANDS = ["true", "false", "cd /", "x=1", "exit 3", "echo out; echo err >&2", "sleep 0.01 & wait", "set -e; false", "exec >/dev/null", "kill -9 $$", "read x", "yes | head -c 100000"]
#: Seconds until what is left of a server must be gone.
OWN_PATIENCE = 5.0


def value(rng: random.Random, name: str, schema: dict):
    """Mostly what fits, sometimes what does not."""
    kind = rng.random()
    if name == "command" and kind < 0.7:
        return rng.choice(COMMANDS)
    if kind < 0.6:
        return right(name, schema)
    if kind < 0.75:
        return rng.choice(["main", "s1", "s2", "j1", f"j{rng.randrange(40)}", "c1", *BAD_HANDLES])
    if kind < 0.9:
        return rng.choice(ODD_VALUES)
    return rng.choice("x: \n") * rng.choice(SIZES)


def arguments(rng: random.Random, chosen: dict, properties: dict) -> dict:
    picked = {name: value(rng, name, schema) for name, schema in properties.items() if name != "action" and rng.random() < 0.5}
    # So that no call takes long, whatever it asks for.
    for name in ("timeout_ms", "yield_ms"):
        if name in properties and rng.random() < 0.95:
            picked[name] = rng.choice([0, 1, 50, 100])
    return chosen | picked


def test_random_calls_leave_the_server_whole(server: Server) -> None:
    rng = random.Random(SEED)
    known = list(actions(server))
    deadline = time.monotonic() + SECONDS
    calls = 0
    while time.monotonic() < deadline:
        tool, chosen, properties = rng.choice(known)
        sent = arguments(rng, chosen, properties)
        answer = server.request("tools/call", {"name": tool, "arguments": sent})
        shown = {name: str(given)[:60] for name, given in sent.items()}
        assert "result" in answer or "error" in answer, f"seed {SEED}, call {calls}: {tool} {shown}"
        assert server.request("ping", {})["result"] == {}, f"seed {SEED}, call {calls}: {tool} {shown}"
        if calls % 5 == 0:
            server.lives()
        calls += 1
    server.lives()
    server.process.stdin.close()
    assert not gone_within(server.marker, OWN_PATIENCE), f"seed {SEED}, after {calls} calls"


def test_killing_any_worker_at_any_time_leaves_the_others(server: Server) -> None:
    """Any process below the guardian, sessions, cells and what they run, but the guardian itself: without that there is no server."""
    rng = random.Random(SEED)
    deadline = time.monotonic() + SECONDS / 2
    rounds = 0
    while time.monotonic() < deadline:
        started = [
            server.start("tools/call", {"name": "run", "arguments": {"command": "/bin/sleep 0.2 | /bin/cat", "session": "main", "yield_ms": 500}}),
            server.start("tools/call", {"name": "js", "arguments": {"code": "await new Promise(done => setTimeout(done, 100)); 1"}}),
        ]
        time.sleep(rng.random() * 0.2)
        below = below_in_order(server.process.pid)
        # The first two are the guardian's processes, outside and inside.
        for victim in rng.sample(below[2:], min(len(below) - 2, rng.randrange(1, 4))):
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for number in started:
            answer = server.answer(number)
            assert "result" in answer or "error" in answer, f"seed {SEED}, round {rounds}"
        server.lives(killed=True)
        rounds += 1
    server.process.stdin.close()
    assert not gone_within(server.marker, OWN_PATIENCE), f"seed {SEED}, after {rounds} rounds"
