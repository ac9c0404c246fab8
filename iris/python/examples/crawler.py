"""A rate-limited crawler against a local server: async actors fetch, one actor hands out permits, one keeps the books.

Run it: python crawler.py. It serves its own site of 200 pages on a free port, so it needs no network.
"""

import asyncio
import re
import threading
import time
import urllib.parse

import iris

PAGES = 200
PER_SECOND = 400
FETCHERS = 8


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The site: page n links to pages 2n+1 and 2n+2."""
    line = await reader.readline()
    page = int(line.split()[1].strip(b"/") or b"0")
    links = "".join(f'<a href="/{n}">' for n in (2 * page + 1, 2 * page + 2) if n < PAGES)
    body = f"<h1>Page {page}</h1>{links}".encode()
    writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    await writer.drain()
    writer.close()


class Permits:
    """Answers `ask` at most PER_SECOND times a second: an asker waits its turn in this actor's mailbox."""

    def __init__(self) -> None:
        self.next = time.monotonic()

    async def receive(self, _message: None) -> None:
        now = time.monotonic()
        self.next = max(self.next + 1 / PER_SECOND, now)
        await asyncio.sleep(self.next - now)


class Fetcher:
    def __init__(self, permits: iris.Ref, books: iris.Ref) -> None:
        self.permits, self.books = permits, books

    async def receive(self, url: str) -> None:
        await self.permits.ask(None, timeout=10)
        parts = urllib.parse.urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(f"GET {parts.path} HTTP/1.0\r\n\r\n".encode())
        body = await reader.read()
        writer.close()
        found = [urllib.parse.urljoin(url, link.decode()) for link in re.findall(rb'href="([^"]+)"', body)]
        self.books.send((url, found))


class Books:
    """Knows which pages were seen and gives new ones to the fetchers, in turn."""

    def __init__(self, done: threading.Event) -> None:
        self.done = done
        self.fetchers: list[iris.Ref] = []
        self.seen: set[str] = set()
        self.open = 0

    def receive(self, message: list[iris.Ref] | tuple[str | None, list[str]]) -> None:
        if isinstance(message, list):
            self.fetchers = message
            return
        url, found = message
        if url is not None:
            self.open -= 1
        for link in found:
            if link not in self.seen:
                self.fetchers[len(self.seen) % len(self.fetchers)].send(link)
                self.seen.add(link)
                self.open += 1
        if self.open == 0:
            self.done.set()


def main() -> None:
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0))
    port = server.sockets[0].getsockname()[1]
    threading.Thread(target=loop.run_forever, daemon=True).start()
    done, begin = threading.Event(), time.monotonic()
    with iris.System() as system:
        books = system.spawn(Books, done, name="books")
        permits = system.spawn(Permits)
        books.send([system.spawn(Fetcher, permits, books) for _ in range(FETCHERS)])
        books.send((None, [f"http://127.0.0.1:{port}/0"]))
        assert done.wait(60), "the crawl does not end"
        seconds = time.monotonic() - begin
    print(f"{PAGES} pages in {seconds:.2f} s: {PAGES / seconds:.0f} a second, allowed {PER_SECOND}")


if __name__ == "__main__":
    main()
