"""The page's own code over a document that can only show text: a picture with a hostile text in every place that has one. No browser is needed, and none is replaced: what a
browser makes of the page's policy is not seen here."""

import copy
import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_console import PARTS

HERE = Path(__file__).parent
APP = HERE.parent / "server" / "console" / "app.js"


def picture(texts) -> dict:
    """A picture in which each text is the next of `texts`."""
    text = lambda: next(texts)
    tools = [{"tool": text(), "calls": 5, "wrong": 1, "sum_us": 100, "buckets": [5]} for _ in range(3)]
    group = lambda: {"name": text(), "actors": 1, "version": text(), "messages_handled": 1, "messages_waiting": 2, "failed": 0, "restarts": text()}
    client = lambda number: {
        "client": number,
        "sessions": [{"session": text(), "cwd": text(), "runs": 1, "busy_with": text(), "alive": False}, {"session": text(), "cwd": None, "runs": text(), "busy_with": None, "alive": True}],
        "sessions_more": 3,
        "jobs": [{"job": text(), "session": text(), "state": text(), "status": text(), "ms": 5, "bytes": 9, "command": text()} for _ in range(2)],
        "jobs_more": 0,
        "systems": [{"system": text(), "error": text()}, {"system": text(), "live": 3, "groups": [group(), group()], "groups_more": 0}],
    }
    now = dict.fromkeys(["clients", "sessions", "sessions_busy", "jobs", "jobs_running", "cells_running", "actors", "messages_waiting", "server_bytes", "workers_bytes", "processes"], 1)
    counters = {"up_s": 3, "under_way": text(), "tools": tools, "journal": {"written": 1, "dropped": 0, "failed": 0, "bytes": 1}}
    return {"pid": text(), "now": now, "counters": counters, "clients": [client(1), client(text())]}


def texts_of(element: list) -> list[str]:
    name, text, children = element
    return [text, *(found for child in children for found in texts_of(child))]


def test_whatever_a_text_is_it_is_shown_and_nothing_else() -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("needs node")
    chance = random.Random(9)

    def hostile():
        while True:
            yield "".join(chance.choices(PARTS, k=chance.randint(1, 6))) + "\ud800"

    pictures = [picture(hostile()) for _ in range(200)]
    pictures.append(copy.deepcopy(pictures[0]) | {"clients": []})
    done = subprocess.run([node, str(HERE / "node" / "page.mjs"), str(APP)], input=json.dumps(pictures), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert len(shown) == len(pictures)
    for places in shown:
        for place in places:
            for text in texts_of(place):
                assert not re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text), text
    assert any("<script>alert(1)</script>" in text for places in shown for place in places for text in texts_of(place))
