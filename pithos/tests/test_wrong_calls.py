"""Every action of every tool with every kind of bad argument, taken from the schemas that the server announces: whatever a client says, the next ping and the next
command are answered."""

import itertools

from server import Server

#: Handles by what is wrong with them; `NAMES` says which arguments take which.
BAD_HANDLES = ["nobody", "", "j0", "s999", "c1", "../main", "main/0", "m\u00e4in", "x" * 65, "x" * 100_000, "a b", "main\n", "\0"]
#: What may stand in any place, of a type or an extent that it should not have.
ODD_VALUES = [None, True, -1, 0, 1.5, 2**63, 2**64 - 1, "", "x", "(", "\0", [], ["x"], {}, {"x": 1}]


def actions(server: Server):
    """Every tool with every action, and a value of the right kind for each of its arguments."""
    for tool in server.request("tools/list", {})["result"]["tools"]:
        properties = tool["inputSchema"]["properties"]
        words = properties.get("action", {}).get("enum", [None])
        for word in words:
            yield tool["name"], ({"action": word} if word else {}), properties


def right(name: str, schema: dict):
    """A value that fits and costs little."""
    named = {"command": "true", "code": "1", "job": "j1", "session": "main", "pattern": "x", "until": "x", "group": "g", "to": "g"}
    named |= {"signal": "CONT", "name": "n", "cwd": "/", "timeout_ms": 50, "yield_ms": 50, "text": "t", "port": 1, "cell": "c1", "system": "nobody"}
    if name in named:
        return named[name]
    kinds = {"string": "x", "integer": max(1, schema.get("minimum", 1)), "boolean": False, "object": {}, "array": []}
    return schema["enum"][0] if "enum" in schema else kinds.get(schema.get("type"), 1)


def test_each_action_with_each_bad_handle(server: Server) -> None:
    handles = ("session", "job", "cell", "group", "to", "system", "name")
    for tool, chosen, properties in actions(server):
        for handle in [name for name in handles if name in properties]:
            rest = {name: right(name, properties[name]) for name in properties if name not in ("action", "code", "cell", handle)}
            for bad in BAD_HANDLES:
                for others in ({}, rest):
                    server.call(tool, **chosen, **others, **{handle: bad})
            server.lives()


def test_each_argument_with_each_odd_value(server: Server) -> None:
    for tool, chosen, properties in actions(server):
        for name, odd in itertools.product(properties, ODD_VALUES):
            rest = {other: right(other, properties[other]) for other in ("command", "code", "job", "session", "to", "group") if other in properties}
            arguments = rest | chosen | {"timeout_ms": 50} if "timeout_ms" in properties else rest | chosen
            if "yield_ms" in properties:
                arguments["yield_ms"] = 50
            answer = server.request("tools/call", {"name": tool, "arguments": arguments | {name: odd}})
            assert "result" in answer or "error" in answer
        server.lives()
    unknown = server.request("tools/call", {"name": "nothing", "arguments": {}})
    assert "nothing" in unknown["error"]["message"]
    server.lives()


def test_ends_in_every_order(server: Server) -> None:
    """Closed, twice closed, forked after its end, closed while busy, closed by two at once: on sessions, jobs, cells, systems."""
    server.lives()
    for first, second in itertools.product(("fork", "close"), repeat=2):
        for handle in ("main", "never", "s1"):
            server.call("session", action=first, session=handle)
            server.call("session", action=second, session=handle)
            server.lives()
    server.tool("session", action="open", name="busy")
    server.tool("run", command="while :; do :; done", session="busy", yield_ms=0)
    waiting = server.start("tools/call", {"name": "run", "arguments": {"command": "true", "session": "busy"}})
    closing = [server.start("tools/call", {"name": "session", "arguments": {"action": "close", "session": "busy"}}) for _ in range(3)]
    assert "busy" in server.answer(waiting)["result"]["content"][0]["text"]
    results = [server.answer(number)["result"].get("isError", False) for number in closing]
    assert results == [False, True, True]
    for action in ("wait", "write", "signal", "resize", "stop"):
        server.call("job", action=action, job="j1", timeout_ms=50, text="x", columns=80, rows=24)
        server.lives()
    for _ in range(2):
        server.call("actors", action="stop", system="main")
        server.call("actors", action="stop", to="nobody")
        server.lives()


def test_messages_name_the_field(server: Server) -> None:
    assert server.text("run", command="true", timeout_ms="5") == "'timeout_ms' must be of type integer, and is \"5\""
    assert server.text("run", cwd="/") == "'command' is missing"
    assert server.text("job", action="wait", jb="j1").startswith("there is no argument 'jb'; there are: ")
    assert "there is no session 'gone'; open are" not in server.text("session", action="close", session="gone")
    assert "there is no session 'gone'" in server.text("session", action="close", session="gone")
