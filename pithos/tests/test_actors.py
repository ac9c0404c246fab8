"""The `actors` tool: state per actor, supervision, limits, a hot swap under load, crashes."""

import os
import signal
import time

import pytest
from server import Server

COUNTER = """({
  init: start => ({count: start ?? 0}),
  receive(state, message, actor) {
    if (message === 'read') actor.reply(state.count);
    else if (message === 'fail') throw new Error('as asked');
    else if (message === 'loop') for (;;);
    else if (message === 'eat') { const all = []; for (;;) all.push(new Uint8Array(10_000_000)); }
    else if (message === 'stop') actor.stop();
    else if (message.to) actor.send(message.to, message.what);
    else state.count += message;
  }
})"""


def spawn(server: Server, **more) -> dict:
    return server.tool("actors", action="spawn", **{key: value for key, value in ({"group": "counter", "code": COUNTER} | more).items() if value is not None})


def read(server: Server, to: str):
    return server.tool("actors", action="ask", to=to, message="read")["replies"][0]


def test_every_actor_has_a_state_of_its_own(server: Server) -> None:
    assert spawn(server, count=3, argument=10)["count"] == 3
    server.tool("actors", action="send", to="counter/1", message=5)
    server.tool("actors", action="send", to="counter", message=1, repeat=2)
    asked = server.tool("actors", action="ask", to="counter", message="read")
    assert (asked["replies"], asked["sum"]) == ([12, 17, 12], 41)
    assert spawn(server, code=None, count=1)["first"] == 3
    assert read(server, "counter/3") == 0


def test_actors_send_to_each_other_across_groups(server: Server) -> None:
    spawn(server)
    spawn(server, group="other")
    server.tool("actors", action="send", to="counter/0", message={"to": "other/0", "what": 7})
    # The ask of counter/0 comes after its send, so the message lies in the other mailbox by then.
    read(server, "counter/0")
    assert read(server, "other/0") == 7


def test_a_spawn_tells_how_init_went(server: Server) -> None:
    """What is sent after a spawn meets actors that live: their init has run, and who could not begin is named."""
    code = """({ init: (below, actor) => { if (Number(actor.id.split('/')[1]) >= below) throw new RangeError('too many'); return 0; },
      receive(state, message, actor) { actor.reply(state); } })"""
    none = server.call("actors", action="spawn", group="some", code=code, count=3, argument=0)
    assert none["isError"] and "none of 3 actors could be started: init: RangeError: too many" in none["content"][0]["text"]
    # The attempt left nothing in the way of the next.
    some = spawn(server, group="some", code=code, count=40, argument=10)
    assert (some["count"], some["failed"], some["failures"][0]["times"]) == (10, 30, 30)
    assert "too many" in some["failures"][0]["message"]
    asked = server.tool("actors", action="ask", to="some", message="read")
    assert (asked["replied"], asked["failed"]) == (10, 0)


HOARDER = """({
  init: () => [],
  receive(state, message, actor) {
    if (message === 'garbage') new Uint8Array(1_000_000);
    else if (message === 'read');
    else if (message.text) state.push('x'.repeat(message.text) + state.length);
    else state.push(new Uint8Array(message.bytes));
    actor.reply(state.length);
  }
})"""


@pytest.mark.parametrize("held", [{"bytes": 30_000_000}, {"text": 8_000_000}])
def test_who_hoards_is_ended_and_nobody_else(server: Server, held: dict) -> None:
    """An actor that takes more and more, a little with each message, beside others that do their work."""
    spawn(server, group="group", code=HOARDER, count=5)
    for _ in range(80):
        server.tool("actors", action="ask", to="group/2", message=held)
        asked = server.tool("actors", action="ask", to="group", message="garbage")
        if any("out of heap" in failure["message"] for failure in asked.get("failures", [])):
            break
    else:
        pytest.fail("nobody was ended")
    assert asked["failed"] == 1 and "its state held about" in asked["failures"][0]["message"]
    asked = server.tool("actors", action="ask", to="group", message="read")
    assert (asked["replied"], asked["failed"]) == (4, 0)
    refused = server.call("actors", action="ask", to="group/2", message="read")
    assert "has ended" in refused["content"][0]["text"]


def test_a_group_that_is_full_without_a_hoarder_says_so_and_can_make_room(server: Server) -> None:
    count = 400
    spawn(server, group="group", code=HOARDER, count=count)
    asked = server.tool("actors", action="ask", to="group", message={"bytes": 1_100_000}, timeout_ms=60_000)
    assert asked["failed"] > 0 and all("together" in failure["message"] for failure in asked["failures"])
    stopped = server.tool("actors", action="stop", to="group/0")
    assert stopped["stopped"] == 1
    for index in range(1, 100):
        server.call("actors", action="stop", to=f"group/{index}")
    deadline = time.monotonic() + 60
    while server.tool("actors", action="ask", to="group/150", message="read")["replied"] != 1:
        assert time.monotonic() < deadline


def ring(count: int, receive: str) -> str:
    """Actors in a ring: what one receives it may hand on to the next."""
    return f"""({{
      init(_, actor) {{ const index = Number(actor.id.split('/')[1]); return {{next: 'ring/' + (index + 1) % {count}, hops: 0, ended: 0}}; }},
      receive(state, message, actor) {{ if (message === 'read') actor.reply(state.ended); else {{ {receive} }} }}
    }})"""


def test_a_hot_swap_under_load_loses_nothing(server: Server) -> None:
    count = 100_000
    on = "state.hops++; actor.send(state.next, message)"
    assert spawn(server, group="ring", code=ring(count, on), count=count)["count"] == count
    # From now on so many messages are under way all the time.
    assert server.tool("actors", action="send", to="ring", message="hop")["accepted"] == count
    swap = {"action": "swap", "group": "ring", "timeout_ms": 60_000}
    swapped = server.tool("actors", code=ring(count, f"state.second = true; {on}"), **swap)
    assert (swapped["actors"], swapped["pending"], swapped["version"]) == (count, 0, 2)
    assert swapped["handled_meanwhile"] > 0
    # The third version hands nothing on, so every message ends somewhere.
    assert server.tool("actors", code=ring(count, "state.ended++"), **swap)["pending"] == 0
    asked = server.tool("actors", action="ask", to="ring", message="read", timeout_ms=60_000)
    assert (asked["replied"], asked["failed"], asked["sum"]) == (count, 0, count)


@pytest.mark.parametrize(("message", "why"), [("fail", "as asked"), ("loop", "fuel"), ("eat", "heap")])
def test_what_ends_one_actor_ends_no_other(server: Server, message: str, why: str) -> None:
    spawn(server, count=2)
    server.tool("actors", action="send", to="counter", message=3)
    ended = server.tool("actors", action="ask", to="counter/0", message=message, timeout_ms=60_000)
    assert ended["failed"] == 1 and why in ended["failures"][0]["message"]
    assert read(server, "counter/1") == 3
    gone = server.call("actors", action="ask", to="counter/0", message="read")
    assert gone["isError"] and "has ended" in gone["content"][0]["text"]
    group = server.tool("actors", action="tree")["systems"][0]["groups"][0]
    assert (group["actors"], group["failed"]) == (1, 1) and why in group["log"][0]


def test_a_permanent_actor_comes_back_fresh(server: Server) -> None:
    spawn(server, restart="permanent", argument=40)
    server.tool("actors", action="send", to="counter/0", message=2)
    assert read(server, "counter/0") == 42
    server.tool("actors", action="ask", to="counter/0", message="fail")
    for _ in range(200):
        answer = server.call("actors", action="ask", to="counter/0", message="read")
        if not answer.get("isError") and answer["structuredContent"]["replies"]:
            break
    assert answer["structuredContent"]["replies"] == [40]
    assert server.tool("actors", action="tree")["systems"][0]["groups"][0]["restarts"] == 1


def test_a_behaviour_that_is_none_is_refused_with_the_reason(server: Server) -> None:
    for code, why in [("({})", "receive"), ("({receive(", "SyntaxError"), ("undefined.x", "TypeError")]:
        answer = server.call("actors", action="spawn", group="bad", code=code)
        assert answer["isError"] and why in answer["content"][0]["text"]
    answer = server.call("actors", action="ask", to="nobody", message=1)
    assert answer["isError"] and "there is no group" in answer["content"][0]["text"]


def test_a_group_and_a_system_end(server: Server) -> None:
    spawn(server, count=1000)
    assert server.tool("actors", action="stop", to="counter")["stopped"] == 1000
    spawn(server, count=10)
    server.tool("actors", action="stop")
    assert not server.workers("actors")
    answer = server.call("actors", action="ask", to="counter", message="read")
    assert answer["isError"] and "no actor system" in answer["content"][0]["text"]


def test_a_killed_system_costs_only_itself(server: Server) -> None:
    server.tool("run", command="x=kept")
    spawn(server, count=10)
    spawn(server, system="second")
    first, second = sorted(server.workers("actors"))
    os.kill(first, signal.SIGKILL)
    answer = server.call("actors", action="ask", to="counter", message="read")
    assert answer["isError"] and "its actors are lost" in answer["content"][0]["text"]
    assert server.tool("actors", action="ask", system="second", to="counter", message="read")["replies"] == [0]
    assert server.workers("actors") == [second]
    assert server.text("run", command="echo $x") == "kept\n"
    assert spawn(server)["count"] == 1


def test_everything_that_lives_stands_in_one_tree(server: Server) -> None:
    server.tool("session", action="open", name="mine")
    server.tool("run", command="/bin/sleep 100", session="mine", yield_ms=10)
    spawn(server)
    branches = {node["name"]: node.get("children", []) for node in server.tool("actors", action="tree")["server"]["children"]}
    assert set(branches) == {"sessions", "jobs", "cells", "actors"}
    assert [node["name"] for node in branches["sessions"]] == ["mine"]
    assert [node["name"] for node in branches["jobs"]] == ["j1"]
    assert [node["name"] for node in branches["actors"]] == ["main"]


def test_a_stopped_actor_stays_stopped_whatever_its_policy(server: Server) -> None:
    code = "({init: n => ({n}), receive: (state, message, actor) => { actor.reply(state.n); return state; }})"
    for restart in ("permanent", "transient", "temporary"):
        server.tool("actors", action="spawn", group=restart, code=code, argument=7, count=3, restart=restart)
        assert server.tool("actors", action="stop", to=f"{restart}/1")["stopped"] == 1
        assert server.call("actors", action="ask", to=f"{restart}/1", message=1)["isError"]
        assert server.tool("actors", action="ask", to=restart, message=1)["replied"] == 2
        tree = server.tool("actors", action="tree")["systems"][0]["groups"]
        row = next(row for row in tree if row["name"] == restart)
        assert (row["actors"], row["restarts"]) == (2, 0), row


def test_a_swap_that_cannot_migrate_leaves_the_old_code_running(server: Server) -> None:
    code = "({init: () => ({n: 0}), receive: (state, message, actor) => { state.n++; actor.reply(['old', state.n]); }})"
    server.tool("actors", action="spawn", group="g", code=code, count=4)
    for migrate in ("throw new Error('cannot')", "for (;;);", "return (function f() { return f() + 1 })()", "null.x"):
        new = f"({{migrate(state) {{ {migrate} }}, receive: (state, message, actor) => actor.reply('new')}})"
        failed = server.call("actors", action="swap", group="g", code=new)
        assert failed["isError"] and "version 1" in failed["content"][0]["text"], failed
    answer = server.tool("actors", action="ask", to="g", message=1)
    assert answer["replied"] == 4 and answer["replies"] == [["old", 1]] * 4, answer
    # Who comes later begins with what the others run.
    server.tool("actors", action="spawn", group="g", count=1)
    assert server.tool("actors", action="ask", to="g/4", message=1)["replies"] == [["old", 1]]
    # Some can, and some cannot: each goes on with what it has.
    some = """({migrate(state) { if (state.n > 1) throw new Error('too many'); return state; },
      receive: (state, message, actor) => { state.n++; actor.reply(['new', state.n]); }})"""
    server.tool("actors", action="ask", to="g/0", message=1)
    swapped = server.tool("actors", action="swap", group="g", code=some)
    assert (swapped["actors"], swapped["kept_their_version"]) == (4, 1), swapped
    assert "too many" in swapped["failures"][0]["message"]
    replies = server.tool("actors", action="ask", to="g", message=1)["replies"]
    assert replies == [["old", 3]] + [["new", 2]] * 4, replies
