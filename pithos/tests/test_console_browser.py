"""The page in a real browser: what it shows in two themes and two widths, what keys and buttons do, and that whatever guests write stays text. In no scene may the browser
report an error of the page's code, a violation of its policy, or a request for anything but the page's own server."""

import http.server
import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import SIZES, THEMES, Page, chromium
from test_console import CONSOLE, PARTS, Http

PAGES = ("now", "actors", "denials", "timeline", "machine")


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with chromium() as browser:
        yield browser


@pytest.fixture
def acting(pithos: str, workspace: Path) -> Iterator[Http]:
    server = Http(pithos, workspace, "--console=act")
    yield server
    server.stop()


def open_page(browser, server: Http, size: str = "wide", theme: str = "light") -> Page:
    page = Page(browser, size, theme)
    page.tab.goto(server.invited())
    page.tab.locator(".view").wait_for()
    assert page.tab.url.split("#")[0].endswith("/console/") and len(page.tab.url) < 80, "the word is not left in the address"
    return page


def visit(page: Page, place: str) -> None:
    page.tab.evaluate("(place) => { location.hash = place }", f"/{place}")
    page.tab.locator("h1.page").wait_for()


def furnish(server: Http) -> None:
    """Something of everything."""
    server.call("run", command="printf '\\033[1;32mok\\033[0m plain \\033[31mred\\033[0m\\n'; ls -l / | head -3")
    server.call("run", command="cat /etc/shadow; touch /usr/x")
    server.call("session", action="open", name="work", overlay=True)
    server.call("run", session="work", command="printf 'one\\ntwo\\n' > a.txt; mkdir d; echo x > d/b.txt")
    server.call("session", action="checkpoint", session="work", name="before")
    server.call("session", action="open", name="repl")
    server.call("run", session="repl", command="echo 'Your name?'; read x; echo hello $x", interactive=True, yield_ms=20_000)
    server.call("run", command="while echo tick; do sleep 0.2; done", background=True)
    server.call("run", session="main", command="printf '\\033[44mdrawn\\033[0m'; sleep 1000", terminal={"columns": 40, "rows": 6}, yield_ms=300)
    server.call("actors", action="spawn", group="crawlers", code="({receive() {}})", count=12)
    server.call("js", code="1 + 1")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
def test_every_page_shows_what_there_is(browser, acting: Http, tmp_path_factory, size: str, theme: str) -> None:
    furnish(acting)
    page = open_page(browser, acting, size, theme)
    wanted = {
        "now": "waits for input", "actors": "crawlers", "denials": "/etc/shadow", "timeline": "printf", "machine": "Calls a second",
        "session/1/work": "Changes", "job/1/j1": "plain", "job/1/j6": "drawn",
    }
    for place, text in wanted.items():
        visit(page, place)
        page.tab.locator(".view").get_by_text(text).first.wait_for()
        wide, there = page.tab.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= there, f"{place} hangs out to the right"
        nameless = page.tab.evaluate("[...document.querySelectorAll('button, a, input')].filter((one) => !(one.textContent || one.ariaLabel || one.title)).length")
        assert nameless == 0, f"{place} has {nameless} that a screen reader cannot name"
        page.shoot(tmp_path_factory.getbasetemp() / "pages", f"{place.replace('/', '-')}-{size}-{theme}")
    page.is_clean()
    page.close()


def test_colours_of_texts_can_be_read() -> None:
    """In both themes each colour of text stands out from each ground that it stands on, as WCAG AA has it."""
    style = (CONSOLE / "style.css").read_text()
    for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL):
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        pairs = [(text, ground) for text in ("text", "quiet", "accent", "bad") for ground in ("back", "card")]
        pairs += [("accent", "accent-soft"), ("second", "second-soft"), ("bad", "bad-soft"), ("warn", "warn-soft"), ("on-accent", "accent"), ("card", "bad"), ("quiet", "sunk"), ("text", "ask"), ("quiet", "ask"), ("back", "text")]
        pairs += [(f"c{number}", "card") for number in range(1, 16)]
        for text, ground in pairs:
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground, contrast(colours[text], colours[ground]))


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    bright, dark = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_lines_come_as_they_are_written(browser, acting: Http) -> None:
    job = acting.call("run", command="echo first; while read x; do echo got $x; done", interactive=True, yield_ms=300)["structuredContent"]["job"]
    page = open_page(browser, acting)
    visit(page, f"job/1/{job}")
    page.tab.locator("pre.output").get_by_text("first").wait_for()
    for word in ("one", "two"):
        acting.call("job", action="write", job=job, text=f"{word}\n")
        page.tab.locator("pre.output").get_by_text(f"got {word}").wait_for()
    assert page.tab.locator("pre.output").inner_text().split("\n") == ["first", "got one", "got two"], "each line once"
    page.is_clean()
    page.close()


def test_a_prompt_is_answered_by_keys_alone(browser, acting: Http) -> None:
    acting.call("run", command="echo 'Your name?'; read x; echo hello $x", interactive=True, yield_ms=20_000)
    page = open_page(browser, acting)
    page.tab.get_by_text("Your name?", exact=True).wait_for()
    assert page.tab.title().startswith("(1)")
    for key in (".", *"Ada", "Enter"):
        page.tab.keyboard.press(key)
    page.tab.get_by_text("Nothing waits for you.").wait_for()
    # The first job of the table, and what it has written.
    page.tab.keyboard.press("Escape")
    page.tab.keyboard.press("j")
    page.tab.keyboard.press("Enter")
    page.tab.locator("pre.output").get_by_text("hello Ada").wait_for()
    page.tab.keyboard.press("Escape")
    page.tab.get_by_text("Nothing waits for you.").wait_for()
    for number, name in enumerate(("Now", "Actors and cells", "Denials", "Timeline", "Machine"), 1):
        page.tab.keyboard.press(str(number))
        page.tab.get_by_role("heading", name=name, exact=True).wait_for()
    page.tab.keyboard.press("1")
    page.tab.keyboard.press("/")
    page.tab.keyboard.type("nothing has these words")
    page.tab.get_by_text("no job has these words").wait_for()
    page.is_clean()
    page.close()


def test_a_terminal_is_seen_and_typed_to(browser, acting: Http) -> None:
    """What a full-screen program draws, with its colours, and keys that end it."""
    drawn = "printf '\\033[2J\\033[2;3H\\033[44mdrawn\\033[0m'; read x; printf '\\033[3;3Hgot %s' \"$x\"; sleep 1000"
    job = acting.call("run", command=drawn, terminal={"columns": 40, "rows": 6}, yield_ms=300)["structuredContent"]["job"]
    page = open_page(browser, acting)
    visit(page, f"job/1/{job}")
    screen = page.tab.locator("pre.screen")
    screen.get_by_text("drawn").wait_for()
    assert screen.locator("> div").all_text_contents()[:2] == ["\n", "  drawn"]
    assert screen.locator("span.b4").inner_text() == "drawn"
    page.tab.get_by_label(f"Answer to {job}").fill("it")
    page.tab.keyboard.press("Enter")
    screen.get_by_text("got it").wait_for()
    press(page, "Ctrl-C")
    page.tab.locator("h1.page").get_by_text("running").wait_for(state="detached")
    page.is_clean()
    page.close()


def test_a_job_is_stopped_at_the_second_press(browser, acting: Http) -> None:
    job = acting.call("run", command="sleep 1000", background=True)["structuredContent"]["job"]
    page = open_page(browser, acting)
    visit(page, f"job/1/{job}")
    page.tab.get_by_role("button", name="Stop", exact=True).click()
    page.tab.get_by_role("button", name="Really? Stop").wait_for()
    assert acting.call("job", action="list")["structuredContent"]["jobs"][0]["state"] == "running"
    page.tab.get_by_role("button", name="Really? Stop").click()
    page.tab.locator("h1.page").get_by_text("stopped").wait_for()
    page.tab.get_by_text("sleep 1000").first.wait_for()
    page.is_clean()
    page.close()


def test_changes_are_kept_and_dropped_by_path(browser, acting: Http, workspace: Path) -> None:
    acting.call("session", action="open", name="s", overlay=True)
    if acting.call("session", action="list")["structuredContent"]["sessions"][0]["undo"] != "overlay":
        pytest.skip("there is no overlay here")
    acting.call("run", session="s", command="echo kept > a; echo dropped > b")
    acting.call("run", session="s", command="echo undone > c")
    page = open_page(browser, acting)
    visit(page, "session/1/s")
    press(page, "Undo the last call", "Really? Undo the last call")
    page.tab.locator("tr", has_text=f"{workspace}/c").wait_for(state="detached")
    row = page.tab.locator("tr", has_text=f"{workspace}/a")
    row.get_by_role("button", name="Keep").click()
    row.wait_for(state="detached")
    row = page.tab.locator("tr", has_text=f"{workspace}/b")
    row.get_by_role("button", name="Drop").click()
    row.get_by_role("button", name="Really? Drop").click()
    page.tab.get_by_text("no changes").wait_for()
    assert (workspace / "a").read_text() == "kept\n" and not (workspace / "b").exists() and not (workspace / "c").exists()
    press(page, "Checkpoint")
    page.tab.get_by_role("button", name="Go back to it").wait_for()
    page.is_clean()
    page.close()


def press(page: Page, *names: str) -> None:
    for name in names:
        page.tab.get_by_role("button", name=name, exact=True).click()


def test_a_question_is_answered_where_the_client_cannot(browser, pithos: str, workspace: Path) -> None:
    if not shutil.which("curl"):
        pytest.skip("needs curl")
    server = Http(pithos, workspace, "--console=act", "--hosts", "ask")
    try:
        if "HTTPS_PROXY" not in json.dumps(server.call("run", command="env")):
            pytest.skip("no private loopback here")
        page = open_page(browser, server)
        asked = []
        call = threading.Thread(target=lambda: asked.append(server.call("run", command="curl -sS -m 60 --noproxy '' https://a.invalid/")))
        call.start()
        page.tab.get_by_text("May it connect to").wait_for()
        page.tab.get_by_text("a.invalid:443").wait_for()
        press(page, "No")
        call.join()
        denied = asked[0]["structuredContent"]["denials"]
        assert any("refused it" in denial["rule"] for denial in denied), denied
        page.tab.get_by_text("May it connect to").wait_for(state="detached")
        page.is_clean()
        page.close()
    finally:
        server.stop()


def test_who_may_only_look_has_nothing_to_press(browser, pithos: str, workspace: Path) -> None:
    server = Http(pithos, workspace, "--console")
    try:
        furnish(server)
        page = open_page(browser, server)
        page.tab.get_by_text("view only").wait_for()
        for place in ("now", "session/1/work", "job/1/j4", "actors", "timeline"):
            visit(page, place)
            page.tab.wait_for_timeout(300)
            pressed = page.tab.locator("main button").all_inner_texts()
            assert set(pressed) <= {"Search"}, (place, pressed)
        page.is_clean()
        page.close()
    finally:
        server.stop()


def test_a_server_that_has_ended_is_told(browser, acting: Http) -> None:
    acting.call("run", command="echo hi")
    page = open_page(browser, acting)
    page.tab.get_by_role("link", name="j1").first.wait_for()
    acting.process.kill()
    page.tab.locator("#state").get_by_text("reconnecting").or_(page.tab.locator("#state").get_by_text("the server has ended")).wait_for()
    page.tab.get_by_role("link", name="j1").first.click()
    page.tab.get_by_role("heading", name="Job j1").wait_for()
    assert not [one for one in page.complaints if one.startswith("error")], page.complaints
    page.close()


#: What would make an element, a sound, a title, a copy, or another place on the screen.
SEQUENCES = ["\x1b]52;c;aGFja2Vk\x07", "\x1b]0;hacked\x07", "\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\", "\x1bP$qm\x1b\\", "\x1b[6n", "\x1b[2J\x1b[H", "\x1b[?1049h", "\x1b[8m", "\x9b31m", "\x1b[99999999C", "\x1b[" + "1;" * 500 + "m", "\x1b", "\x1b[", "\x1b]never ended"]


def test_what_guests_write_is_text(browser, acting: Http) -> None:
    """Names, commands, paths, prompts and output made of markup, control sequences and signs that turn the direction: shown, and nothing else happens."""
    hostile = "".join(part for part in PARTS if part not in ("\0", "\n\n")).replace("'", "")
    acting.call("run", command=f"true '{hostile}'")
    acting.call("run", command=f"cat; printf '{'x' * 100}'", stdin="\n".join([*PARTS, *SEQUENCES, "the end"]).replace("\0", ""))
    acting.call("session", action="open", name="s", overlay=True)
    acting.call("run", session="s", command="mkdir '<img src=x onerror=alert(1)>'; cd '<img src=x onerror=alert(1)>'; echo '<script>alert(1)</script>' > $'\\u202e\\033[31m\"><svg onload=alert(1)>'; cat '/etc/shadow<script>' /etc/shadow")
    acting.call("run", command="printf '<script>alert(1)</script>\\033]52;c;eA==\\007 password: '; read x", interactive=True, yield_ms=20_000)
    acting.call("run", command="printf '\\033]0;x\\007<b>drawn</b>\\033[6n'; sleep 1000", terminal={}, background=True)
    acting.call("actors", action="spawn", group="g", code="({receive() {}})")
    page = open_page(browser, acting)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for place in (*PAGES, "session/1/s", "session/1/<img src=x onerror=alert(1)>", "job/1/j1", "job/1/j2", "job/1/j3", "job/1/j4", "job/1/j5", "job/x/%00%ff%E0%A4%A", "<script>"):
        visit(page, place)
        page.tab.wait_for_timeout(600)
        made = page.tab.evaluate("""[...document.body.querySelectorAll('*')].filter((one) => !['A', 'ARTICLE', 'B', 'BUTTON', 'CANVAS', 'DD', 'DIV', 'DL', 'DT', 'FIGCAPTION', 'FIGURE', 'FORM', 'H1', 'H2', 'H3', 'HEADER',
            'INPUT', 'KBD', 'LABEL', 'LI', 'MAIN', 'NAV', 'NOSCRIPT', 'P', 'PRE', 'SECTION', 'SPAN', 'TABLE', 'TBODY', 'TD', 'TEMPLATE', 'TH', 'THEAD', 'TR', 'UL'].includes(one.tagName)).map((one) => one.outerHTML)""")
        assert not made, (place, made)
        shown = page.tab.evaluate("document.body.innerText + [...document.querySelectorAll('[title], [aria-label]')].map((one) => one.title + one.ariaLabel).join()")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", shown), place
        links = page.tab.evaluate("[...document.querySelectorAll('a')].map((one) => one.href)")
        assert all(link.startswith(f"http://127.0.0.1:{acting.port}/console/#/") for link in links), links
        assert re.fullmatch(r"(\(\d+\) )?pithos", page.tab.title())
    visit(page, "job/1/j2")
    page.tab.locator("pre.output").get_by_text("the end").wait_for()
    text = page.tab.locator("pre.output").inner_text()
    assert "<script>alert(1)</script>" in text and "aGFja2Vk" not in text and "hacked" not in text
    assert page.tab.evaluate("navigator.clipboard.readText()") == ""
    assert page.tab.evaluate("getComputedStyle(document.querySelector('pre.output')).direction") == "ltr"
    # Of what is not there the server says so, and the browser repeats it.
    page.complaints = [one for one in page.complaints if "status of 404" not in one]
    page.is_clean()
    page.close()


def test_a_flood_leaves_the_page_responsive(browser, acting: Http) -> None:
    """100 MB while somebody looks: keys work in the middle of it, the page keeps a bounded part, and the end is there and in the search."""
    job = acting.call("run", command="yes 'a line of a hundred bytes or so, which is what a line of a build has, more or less: see' | head -c 100000000; echo; echo the end", background=True)["structuredContent"]["job"]
    page = open_page(browser, acting)
    visit(page, f"job/1/{job}")
    page.tab.locator("pre.output").get_by_text("a line of").first.wait_for()
    page.tab.keyboard.press("?")
    page.tab.get_by_role("dialog").wait_for()
    page.tab.keyboard.press("?")
    page.tab.get_by_role("dialog").wait_for(state="detached")
    page.tab.locator("pre.output").get_by_text("the end").wait_for()
    assert page.tab.locator("pre.output > div").count() <= 3000
    page.tab.get_by_label("Search the whole log").fill("^the end$")
    page.tab.get_by_role("button", name="Search").click()
    page.tab.get_by_label("Matches").get_by_text(":the end").wait_for()
    page.is_clean()
    page.close()


def test_one_line_without_an_end_is_bounded_too(browser, acting: Http) -> None:
    job = acting.call("run", command="head -c 3000000 /dev/zero | tr '\\0' x; printf '\\rover\\n'; head -c 1000000 /dev/zero | tr '\\0' '\\n'; echo the end")["structuredContent"]["job"]
    page = open_page(browser, acting)
    visit(page, f"job/1/{job}")
    page.tab.locator("pre.output").get_by_text("the end").wait_for()
    assert page.tab.evaluate("document.querySelector('pre.output').textContent.length") < 3000 * 4100
    page.is_clean()
    page.close()


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of another origin on the same machine, which tries what pages can try."""

    target = ""
    body = ""

    def do_GET(self) -> None:
        page = f"""<!doctype html><title>elsewhere</title><iframe id=frame src="{self.target}/console/"></iframe><img id=image src="{self.target}/console/me"><form id=form method=post action="{self.target}/console/act" target=frame enctype="text/plain"><input name='{self.body}' value=''></form>
        <script>
        window.read = [];
        const body = {json.dumps(self.body)};
        const tried = [];
        for (const path of ['me', 'timeline', 'job?client=1&job=j1']) for (const mode of ['cors', 'no-cors']) tried.push(fetch('{self.target}/console/' + path, {{mode, credentials: 'include'}}).then((r) => r.text()).then((t) => t && window.read.push(t), () => {{}}));
        for (const type of ['text/plain', 'application/json']) for (const mode of ['cors', 'no-cors']) tried.push(fetch('{self.target}/console/act', {{method: 'POST', mode, credentials: 'include', headers: {{'content-type': type}}, body}}).then((r) => r.text()).then((t) => t && window.read.push(t), () => {{}}));
        const events = new EventSource('{self.target}/console/events', {{withCredentials: true}});
        events.addEventListener('overview', (e) => window.read.push(e.data));
        try {{ new WebSocket('{self.target}/console/events'.replace('http', 'ws')); }} catch {{}}
        document.getElementById('form').submit();
        Promise.all(tried).then(() => setTimeout(() => window.done = true, 500));
        </script>"""
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_: object) -> None:
        pass


def test_a_page_of_elsewhere_reads_and_changes_nothing(browser, acting: Http) -> None:
    """Forms, fetches of every mode, streams, frames and images of another origin, in a browser that is signed in: nothing is read, and the job runs on."""
    job = acting.call("run", command="sleep 1000", background=True)["structuredContent"]["job"]
    page = open_page(browser, acting)
    Elsewhere.target = f"http://127.0.0.1:{acting.port}"
    Elsewhere.body = json.dumps({"client": 1, "tool": "job", "arguments": {"action": "stop", "job": job}})
    attacker = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=attacker.serve_forever, daemon=True).start()
    try:
        for host in ("127.0.0.1", "localhost"):
            tab = page.context.new_page()
            tab.goto(f"http://{host}:{attacker.server_port}/")
            tab.wait_for_function("window.done")
            assert tab.evaluate("window.read") == []
            assert tab.evaluate("document.getElementById('image').naturalWidth") == 0
            tab.close()
    finally:
        attacker.shutdown()
        attacker.server_close()
    assert acting.call("job", action="list")["structuredContent"]["jobs"][0]["state"] == "running"
    page.close()
