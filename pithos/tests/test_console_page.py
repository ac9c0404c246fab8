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
    group = lambda: {"name": text(), "actors": 1, "version": text(), "messages_handled": 1, "messages_waiting": 2, "failed": 1, "restarts": text()}
    job = lambda: {"job": text(), "session": text(), "state": text(), "status": text(), "ms": 5, "bytes": 9, "command": text(), "denied": 2, "input": True, "waiting": text()}
    session = lambda: {"session": text(), "cwd": text(), "runs": text(), "busy_with": text(), "alive": False, "undo": text(), "undo_note": text(), "open_s": 1}
    client = lambda number: {
        "client": number,
        "sessions": [session(), session() | {"cwd": None, "busy_with": None, "alive": True}, session() | {"session": "s", "alive": True, "undo": "overlay"}],
        "sessions_more": 3,
        "jobs": [job(), job(), job() | {"waiting": None}, job() | {"job": "j", "state": "running"}],
        "jobs_more": 0,
        "systems": [{"system": text(), "error": text()}, {"system": text(), "live": 3, "groups": [group(), group()], "groups_more": 0}],
    }
    now = dict.fromkeys(["clients", "sessions", "sessions_busy", "jobs", "jobs_running", "cells_running", "actors", "messages_waiting", "server_bytes", "workers_bytes", "processes"], 1)
    counters = {"up_s": 3, "under_way": text(), "tools": tools, "journal": {"written": 1, "dropped": 2, "failed": 0, "bytes": 1}}
    questions = [{"question": 1, "client": 1, "host": text(), "port": text(), "job": text(), "s": 1}]
    return {"pid": text(), "now": now, "counters": counters, "clients": [client(1), client(text())], "questions": questions}


def scenes(texts) -> list[dict]:
    """Every page, with a hostile text in every place."""
    text = lambda: next(texts)
    change = lambda: {"path": text(), "change": text(), "kind": text(), "bytes": 3}
    point = lambda: {"checkpoint": text(), "session": text(), "files": 1, "bytes": 2, "created_s": 3}
    told = {"text": text(), "structured": {"count": 2, "files": [change(), change()], "checkpoints": [point(), point()]}}
    denial = lambda: {"client": 1, "job": text(), "session": text(), "kind": text(), "subject": text(), "rule": text(), "how_to_allow": text(), "call": text(), "ago_s": 1}
    call = lambda: {"n": 1, "client": 1, "by": text(), "time": 1.5, "ended": text(), "ms": 2, "status": 3, "tool": text(), "action": text(), "text": text(), "session": text(), "job": text(), "changed": 2, "denials": 1, "checkpoint": text()}
    tree = {"name": text(), "state": text(), "children": [{"name": text(), "state": text(), "children": [{"name": text(), "state": text()}]}]}
    ended = {"state": text(), "status": 1, "stopped_by": text(), "failure": text(), "pipelines": [[0, 1], [2]], "script": text(), "killed": [{"pid": 1, "command": text()}], "processes": [{"pid": 2, "command": text()}]}
    of = lambda page, where=(), **data: {"picture": picture(texts), "page": page, "where": list(where), "data": data}
    return [
        of("now"),
        of("session", (1, "s"), diff=told, checkpoints=told),
        of("session", (1, "s"), diff={"error": text()}, checkpoints=None),
        of("session", (1, text())),
        of("job", (1, "j"), told=ended, found={"text": text(), "structured": {"more": True}}),
        of("job", (1, text()), told=ended, found={"error": text()}),
        of("job", (1, text()), told=None),
        of("actors", trees={"1": {"structured": {"server": tree}}, "2": {"error": text()}}),
        of("denials", denials={"denials": [denial(), denial()], "more": 4}),
        of("timeline", timeline={"calls": [call(), call()]}),
    ]


def texts_of(element: list) -> list[str]:
    _, text, children, properties = element
    return [text, *properties, *(found for child in children for found in texts_of(child))]


def test_whatever_a_text_is_it_is_shown_and_nothing_else() -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("needs node")
    chance = random.Random(9)

    def hostile():
        while True:
            yield "".join(chance.choices(PARTS, k=chance.randint(1, 6))) + "\ud800"

    texts = hostile()
    all_scenes = [scene for _ in range(20) for scene in scenes(texts)]
    all_scenes.append(copy.deepcopy(all_scenes[0]) | {"picture": all_scenes[0]["picture"] | {"clients": []}})
    done = subprocess.run([node, str(HERE / "node" / "page.mjs"), str(APP)], input=json.dumps(all_scenes), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert len(shown) == len(all_scenes)
    pages = set()
    for scene, places in zip(all_scenes, shown, strict=True):
        found = [text for place in places for text in texts_of(place)]
        for text in found:
            assert not re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text), text
        if any("<script>alert(1)</script>" in text for text in found):
            pages.add(scene["page"])
    assert pages == {scene["page"] for scene in all_scenes}, "every page has shown a text that is none of its own"
