"""A host that the policy does not name is asked about, where the policy says `ask`; what the person said holds for whom they said it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from server import Server

pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
CURL = "curl -sS -m 20 --noproxy ''"


class Person(Server):
    """A client with somebody in front of it, who says what `said` has for a host."""

    def __init__(self, pithos: str, workspace: Path, hosts: str, said: dict, capabilities: dict) -> None:
        self.said, self.questions = said, []
        self.process = subprocess.Popen([pithos, "serve", "--cwd", str(workspace), "--hosts", hosts], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.marker, self.count, self.answers, self.unread = "", 0, {}, b""
        self.ask_for("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask_for(self, method: str, params: dict) -> dict:
        wanted = self.start(method, params)
        while True:
            message = self.next_message()
            if message.get("method") == "elicitation/create":
                self.reply(message)
            elif message.get("id") == wanted and "method" not in message:
                return message["result"]

    def reply(self, message: dict) -> None:
        text = message["params"]["message"]
        self.questions.append(text)
        assert message["params"]["requestedSchema"]["properties"]["allow"]["enum"], message
        answer = next(answer for host, answer in self.said.items() if host in text)
        result = {"action": answer} if answer in ("decline", "cancel") else {"action": "accept", "content": {"allow": answer}}
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def run(self, command: str) -> dict:
        result = self.ask_for("tools/call", {"name": "run", "arguments": {"command": command}})
        return result["structuredContent"]


def refused(result: dict) -> dict[str, str]:
    return {row["subject"]: row["rule"] for row in result.get("denials", []) if row["call"] == "proxy"}


def asking(pithos: str, workspace: Path, said: dict, capabilities: dict | None = None, hosts: str = "ask") -> Person:
    person = Person(pithos, workspace, hosts, said, {"elicitation": {}} if capabilities is None else capabilities)
    if "HTTPS_PROXY" not in json.dumps(person.ask_for("tools/call", {"name": "run", "arguments": {"command": "env"}})):
        person.close()
        pytest.skip("no private loopback here")
    return person


def get(host: str) -> str:
    return f"{CURL} https://{host}/ >/dev/null 2>&1; true"


def test_what_a_person_said_holds_for_whom_they_said_it(pithos: str, workspace: Path) -> None:
    said = {"once.invalid": "this command", "always.invalid": "every command until the server ends", "never.invalid": "no, and do not ask again", "declined.invalid": "decline", "away.invalid": "cancel", "odd.invalid": "whatever"}
    person = asking(pithos, workspace, said)
    try:
        for host, allowed in [("once.invalid", True), ("always.invalid", True), ("never.invalid", False), ("declined.invalid", False), ("away.invalid", False), ("odd.invalid", False)]:
            result = person.run(get(host) + "; " + get(host))
            assert (f"{host}:443" not in refused(result)) == allowed, (host, result)
            assert len(person.questions) == 1 and host in person.questions[0] and "port 443" in person.questions[0], person.questions
            person.questions.clear()
        person.run(get("always.invalid"))
        assert person.questions == []
        person.run(get("once.invalid"))
        assert len(person.questions) == 1
        person.questions.clear()
        # A refusal holds for every later command, a window that was closed only for its own.
        for host in ("never.invalid", "declined.invalid"):
            assert "refused it" in refused(person.run(get(host)))[f"{host}:443"]
        assert person.questions == []
        person.run(get("away.invalid"))
        assert len(person.questions) == 1
    finally:
        person.close()


def test_nobody_is_asked_about_addresses_or_worn_down(pithos: str, workspace: Path) -> None:
    person = asking(pithos, workspace, {"": "decline"})
    try:
        for target in ("169.254.169.254:80", "[::1]:80", "localhost:80", "intranet:80"):
            assert target in refused(person.run(f"{CURL} http://{target}/ >/dev/null 2>&1; true"))
        odd = "a.b%0aAllowed%20by%20root"
        person.run(f"{CURL} -x socks5h://j0:x@127.0.0.2:3128 'http://{odd}/' >/dev/null 2>&1; true")
        assert person.questions == []
        person.run(f"for n in $(seq 20); do {CURL} https://h$n.invalid/ >/dev/null 2>&1; done; true")
        assert len(person.questions) == 5
    finally:
        person.close()


def test_without_anybody_to_ask_it_is_refused(pithos: str, workspace: Path) -> None:
    person = asking(pithos, workspace, {}, capabilities={})
    try:
        rule = refused(person.run(get("some.invalid")))["some.invalid:443"]
        assert "the client has no elicitation" in rule
    finally:
        person.close()
    person = asking(pithos, workspace, {"": "this command"}, hosts="npm")
    try:
        assert "hosts does not contain it" in refused(person.run(get("some.invalid")))["some.invalid:443"]
        assert person.questions == []
    finally:
        person.close()
    assert os.path.exists(workspace)


def test_a_question_goes_with_the_command_that_wanted_to_know(pithos: str, workspace: Path) -> None:
    """Nobody answers: the command ends, its question is withdrawn, and the next one is asked at once."""
    person = asking(pithos, workspace, {})
    try:
        for number in range(3):
            host = f"silent{number}.invalid"
            wanted = person.start("tools/call", {"name": "run", "arguments": {"command": get(host), "timeout_ms": 2000}})
            asked, withdrawn, result = None, None, None
            while result is None or withdrawn is None:
                message = person.next_message()
                if message.get("method") == "elicitation/create":
                    assert asked is None and host in message["params"]["message"], message
                    asked = message["id"]
                elif message.get("method") == "notifications/cancelled":
                    withdrawn = message["params"]["requestId"]
                elif message.get("id") == wanted and "method" not in message:
                    result = message["result"]["structuredContent"]
            assert asked is not None and withdrawn == asked
            # An answer that comes too late is for nobody.
            person.send({"jsonrpc": "2.0", "id": asked, "result": {"action": "accept", "content": {"allow": "every command until the server ends"}}})
        person.said = {"": "decline"}
        assert "refused it" in refused(person.run(get("silent0.invalid")))["silent0.invalid:443"]
    finally:
        person.close()
