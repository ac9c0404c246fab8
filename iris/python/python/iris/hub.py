"""Pull actors as green threads. Owns the hub (one thread that runs them) and the mailbox they receive from.

Invariant: a greenlet is only ever switched between pure Python frames: `recv` and the hub's loop are here, `try_recv` in Rust returns
before anything is switched. So no Rust frame is on a stack that is moved. All green threads of a runtime run on one thread;
code that blocks outside `recv` belongs into an actor with a thread of its own.
"""

from __future__ import annotations

import contextvars
import functools
import sys
import threading
import time
import traceback
import weakref
from typing import Any, Callable, Optional

import greenlet

from iris import watch
from iris._iris import (
    EMPTY, ENDED, Inbox, Killed, NoReply, ReadyQueue, Ref, RemoteRef, Swapped, interrupt_turn, never_block_here, parked,
    take_interrupt_back,
)  # fmt: skip
from iris.passed import Looking, Passed
from iris.versions import History, Version
from iris.virtual import Asleep, Idle, Idleness

# An actor that goes on receiving after it was told that there is nothing more is ended after so many attempts.
RECEIVES_AFTER_END_MAX = 100

current_mailbox: contextvars.ContextVar[Any] = contextvars.ContextVar("iris_mailbox", default=None)


class Stopped(BaseException):
    """Raised in a pull actor that is asked to end while it waits for an answer, or that goes on receiving long after that. Not to be caught."""


class _Green(greenlet.greenlet):
    """A green thread that knows its mailbox: a slot costs less than a context of its own."""

    __slots__ = ("mailbox",)

    mailbox: "PyMailbox"


def running_mailbox() -> Any:
    """The mailbox of the pull or async actor that runs here, or None."""
    green = greenlet.getcurrent()
    return green.mailbox if type(green) is _Green else current_mailbox.get()


class _Asking:
    """A request of a green thread. The hub gives it the answer, unless the asker has given up (no mailbox)."""

    __slots__ = ("answer", "mailbox")

    def __init__(self, mailbox: "PyMailbox"):
        self.mailbox: Optional[PyMailbox] = mailbox
        self.answer: Optional[tuple[bool, Any]] = None


class PyMailbox:
    """The mailbox of a pull actor: `recv` waits for messages in the order of their arrival."""

    __slots__ = (
        "__weakref__", "_end", "_greenlet", "_history", "_hub", "_idleness", "_inbox", "_main", "_passed", "_prints", "_switch",
        "_system",
    )  # fmt: skip

    def __init__(self, inbox: Inbox, main: Callable[["PyMailbox"], None], switch: Optional[Callable[[], Any]]):
        self._inbox = inbox
        # The wish to end comes before the messages that wait, as it does for all actors.
        inbox.end_promptly()
        self._hub: Optional[Hub] = None
        # None once the actor has ended.
        self._main: Optional[Callable[["PyMailbox"], None]] = main
        self._switch = switch
        self._greenlet: Optional[_Green] = None
        self._passed: Optional[Passed] = None
        self._end = 0
        # The compatible surface prints what a pull handler raises before the actor ends.
        self._prints = False
        self._system: Optional[weakref.ref[Any]] = None
        self._history: Optional[History] = None
        # Of a virtual actor while it is awake.
        self._idleness: Optional[Idleness] = None

    @property
    def pid(self) -> int:
        """The actor's pid."""
        return self._inbox.pid

    @property
    def ref(self) -> Optional[Ref]:
        """A reference to the actor."""
        system = None if self._system is None else self._system()
        found: Optional[Ref] = system._inner._ref(self._inbox.pid) if system else None
        return found

    def recv(self, timeout: Optional[float] = None) -> Any:
        """The next message. None after `timeout` seconds, and None when the actor has been asked to end."""
        if self._passed and not self._inbox.ending():
            return self._passed.take(self._inbox)
        message = self._inbox.try_recv()
        if message is EMPTY:
            message = self._wait(timeout)
            if message is EMPTY:
                return None
        return self._ended() if message is ENDED else message

    def selective_recv(self, matcher: Callable[[Any], Any], timeout: Optional[float] = None) -> Any:
        """The first message that `matcher` accepts; the others keep their order and come first next time."""
        if self._passed and not self._inbox.ending():
            message = self._passed.select(self._inbox, matcher)
            if message is not EMPTY:
                return message
        deadline = None if timeout is None else time.monotonic() + timeout
        with Looking(self) as looking:
            while True:
                message = self._inbox.try_recv()
                if message is EMPTY:
                    message = self._wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
                    if message is EMPTY:
                        return None
                if message is ENDED:
                    return self._ended()
                if looking.accepts(message, matcher):
                    return message

    def _pass(self, message: Any) -> None:
        if self._passed is None:
            self._passed = Passed()
        self._passed.add(self._inbox, message)

    def reply(self, value: Any) -> bool:
        """Answers the request received last. False if it was not a request."""
        return self._inbox.reply(value)

    def ask(self, ref: "Ref | RemoteRef", message: Any, timeout: Optional[float] = None) -> Any:
        """Asks another actor and waits for its answer; the other green threads go on. Raises as `Ref.ask_sync` does."""
        switch, hub = self._switch, self._hub
        if switch is None or hub is None:
            return ref.ask_sync(message, timeout)
        asking = _Asking(self)
        if isinstance(ref, RemoteRef):
            return self._ask_remote(ref, message, asking, switch, hub, timeout)
        try:
            refusal = ref._ask_into(message, hub.queue, asking)
            if refusal is not None:
                raise NoReply(refusal)
            return self._answer_to(asking, switch, timeout)
        finally:
            asking.mailbox = None

    def _ask_remote(
        self, ref: RemoteRef, message: Any, asking: _Asking, switch: Callable[[], Any], hub: "Hub", timeout: Optional[float]
    ) -> Any:
        asked = ref._request(message, hub.queue, asking)
        try:
            return self._answer_to(asking, switch, timeout)
        finally:
            asking.mailbox = None
            asked.forget()

    def _answer_to(self, asking: _Asking, switch: Callable[[], Any], timeout: Optional[float]) -> Any:
        deadline = None if timeout is None else time.monotonic() + timeout
        timer = None if timeout is None else self._inbox.ring_after(timeout)
        # One that was asked to end before may still ask others while it cleans up.
        watched = self._inbox.watch_exit()
        try:
            while asking.answer is None:
                if deadline is not None and time.monotonic() >= deadline:
                    raise TimeoutError("no reply before the deadline")
                if watched and self._inbox.ending():
                    raise Stopped("the actor was asked to end while it waited for an answer")
                switch()
                self._inbox.token_came()
        finally:
            if timer is not None:
                self._inbox.cancel_ring(timer)
        answered, value = asking.answer
        if answered:
            return value
        raise value

    def _wait(self, timeout: Optional[float]) -> Any:
        """The next message, `ENDED`, or `EMPTY` after the time-out."""
        if self._idleness is not None and not self._passed:
            left = self._idleness.left(time.monotonic())
            if left is not None and (timeout is None or left < timeout):
                message = self._wait_for(left)
                if message is EMPTY:
                    raise Idle
                return message
        return self._wait_for(timeout)

    def _wait_for(self, timeout: Optional[float]) -> Any:
        inbox, switch = self._inbox, self._switch
        if switch is None:
            return inbox.recv_blocking(timeout)
        if timeout is None:
            while True:
                switch()
                message = inbox.try_recv()
                if message is not EMPTY:
                    return message
        deadline = time.monotonic() + timeout
        timer = inbox.ring_after(timeout)
        while True:
            switch()
            message = inbox.try_recv()
            if message is not EMPTY:
                if timer is not None:
                    inbox.cancel_ring(timer)
                return message
            if time.monotonic() >= deadline:
                return EMPTY

    @property
    def ending(self) -> bool:
        """Whether the actor has been asked to end (tells that None from the message None)."""
        return self._inbox.ending()

    def _ended(self) -> None:
        if self._inbox.killed():
            raise Killed("the actor was killed")
        self._end += 1
        if self._end > RECEIVES_AFTER_END_MAX:
            raise Stopped("the actor has been asked to end and goes on receiving")

    def _run(self) -> None:
        """The whole life of the actor; of a virtual one, until it falls asleep."""
        if self._switch is None:
            current_mailbox.set(self)
        error = None
        try:
            self._live()
        except Asleep:
            self._main, self._greenlet = self._history.current.main, None  # type: ignore[union-attr]
            return
        except (greenlet.GreenletExit, Stopped, Killed):
            pass
        except BaseException as raised:
            error = raised
            if self._prints and not isinstance(raised, SystemExit):
                traceback.print_exc(file=sys.stderr)
        self._close(error)

    def _close(self, error: Optional[BaseException] = None) -> None:
        if self._passed:
            self._passed.bury(self._inbox)
        self._inbox.close(error, self._main)
        self._main = self._greenlet = self._switch = self._history = self._passed = self._hub = None

    def _live(self) -> None:
        """Runs the code, and each version that replaces it."""
        main = self._main
        while main is not None:
            try:
                return main(self)
            except Swapped:
                main = self._next_version()

    def _next_version(self) -> Callable[["PyMailbox"], None]:
        history = self._history
        if history is None:
            main = self._main or (lambda _: None)
            history = self._history = History(Version(main, main))
        version, old = history.change(self._inbox.take_swap())
        if version.code_change is not None:
            version.code_change(old)
        return version.main


class Hub(watch.Served):
    """Runs green threads of one runtime. Its thread starts with the first of them."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = ReadyQueue()
        self._started = threading.Lock()
        self._running: Optional[PyMailbox] = None

    def spawn(
        self,
        inbox: Inbox,
        main: Callable[[PyMailbox], Any],
        system: Any,
        history: Optional[History] = None,
        prints: bool = False,
    ) -> PyMailbox:
        """Makes the actor behind an inbox of this hub's queue and lets it run."""
        if self.thread is None:
            self._start()
        mailbox = PyMailbox(inbox, main, self._switch_to_hub)
        mailbox._hub = self
        mailbox._system = weakref.ref(system)
        mailbox._history = history
        mailbox._prints = prints
        inbox.set_token(mailbox)
        self.queue.put(mailbox)
        return mailbox

    def _start(self) -> None:
        with self._started:
            if self.thread is None:
                ready = threading.Event()
                run = functools.partial(parked, functools.partial(self._run, ready))
                thread = threading.Thread(target=run, name="iris-hub", daemon=True)
                watch.begin(self)
                thread.start()
                ready.wait()
                self.thread = thread

    def _run(self, ready: threading.Event) -> None:
        try:
            never_block_here(self.queue)
            self.ident = threading.get_ident()
            hub = greenlet.getcurrent()
            self._switch_to_hub = hub.switch
            ready.set()
            self._loop(hub)
        finally:
            watch.end(self)

    def _loop(self, hub: Any) -> None:
        take, make = self.queue.take, _Green
        while True:
            mailboxes = take()
            if mailboxes is None:
                return
            for mailbox in mailboxes:
                if type(mailbox) is tuple:
                    asking, answered, value = mailbox
                    asking.answer, mailbox = (answered, value), asking.mailbox
                    if mailbox is None:
                        continue
                green = mailbox._greenlet
                if green is None:
                    if mailbox._main is None:
                        continue
                    green = mailbox._greenlet = make(mailbox._run, hub)
                    green.mailbox = mailbox
                self._running = mailbox
                self.turn += 1
                try:
                    green.switch()
                except Killed:
                    # It came when the actor's code was just at its end.
                    mailbox._close()
                self.turn += 1
                if self.interrupted:
                    self.interrupted = False
                    take_interrupt_back(self.ident)
            self._running = mailboxes = mailbox = green = asking = value = None

    def inbox(self) -> Any:
        running = self._running
        return None if running is None else running._inbox

    def interrupt(self, turn: int) -> bool:
        return interrupt_turn(self.ident, self, turn)

    def close(self) -> None:
        """Lets the thread end when it has nothing left to do."""
        self.queue.close()


class _OwnThread(watch.Served):
    """The thread of one actor, which may do with it what it likes."""

    shared = False

    def __init__(self, mailbox: PyMailbox):
        super().__init__()
        self._mailbox = mailbox
        self.turn = 1
        self.thread = threading.Thread(
            target=functools.partial(parked, self._run), name=f"iris-actor-{mailbox.pid}", daemon=True
        )  # fmt: skip

    def start(self) -> None:
        watch.begin(self)
        if self.thread is not None:
            self.thread.start()

    def _run(self) -> None:
        self.ident = threading.get_ident()
        try:
            self._mailbox._run()
        except Killed:
            self._mailbox._close()
        finally:
            watch.end(self)

    def inbox(self) -> Any:
        return self._mailbox._inbox

    def interrupt(self, turn: int) -> bool:
        return interrupt_turn(self.ident, self, turn)


def run_in_thread(
    inbox: Inbox, main: Callable[[PyMailbox], None], system: Any, history: Optional[History] = None
) -> PyMailbox:
    """A pull actor with an OS thread of its own, for code that blocks outside `recv`."""
    mailbox = PyMailbox(inbox, main, None)
    mailbox._system = weakref.ref(system)
    mailbox._history = history
    _OwnThread(mailbox).start()
    return mailbox
