"""A real browser for the tests of the page: Debian's or another's Chromium, driven by playwright, which downloads nothing. What the browser itself reports against the page
(errors, refused resources, violations of its policy) is collected and belongs to each test's judgement."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

#: What a page must work in: two themes, a desk and a telephone.
SIZES = {"wide": (1280, 900), "narrow": (400, 800)}
THEMES = ("light", "dark")

#: A browser that starts no traffic of its own.
FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-dev-shm-usage",
]

#: Reports violations of the page's policy, which the console shows only as text.
WATCHER = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""


def command() -> str | None:
    """Where the browser is."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextlib.contextmanager
def chromium() -> Iterator:
    """A browser; the test is skipped where there is none, or nothing to drive it with."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = command()
    if not path:
        pytest.skip("needs chromium")
    # A browser of root's has no sandbox of its own.
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


class Page:
    """A tab, and what the browser has against what is in it."""

    def __init__(self, browser, size: str = "wide", theme: str = "light", **options) -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme, **options)
        self.context.add_init_script(WATCHER)
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(60_000)
        self.complaints: list[str] = []
        self.tab.on("console", lambda message: self.complaints.append(f"console: {message.text}") if message.type in ("error", "warning") else None)
        self.tab.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.requested: list[str] = []
        self.tab.on("request", lambda request: self.requested.append(request.url))
        self.tab.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def shoot(self, folder: Path, name: str) -> None:
        """A picture of the whole page, for people to look at."""
        folder.mkdir(parents=True, exist_ok=True)
        self.tab.screenshot(path=str(folder / f"{name}.png"), full_page=True)

    def is_clean(self) -> None:
        """Nothing was reported, and nothing of elsewhere was asked for."""
        violations = self.tab.evaluate("window.violations")
        assert not self.complaints and not violations, (self.complaints, violations)
        origin = "/".join(self.tab.url.split("/")[:3])
        foreign = [url for url in self.requested if not url.startswith(f"{origin}/console/") and not url.startswith("data:")]
        assert not foreign, foreign

    def close(self) -> None:
        self.context.close()
