"""iris and asyncio. Owns the way of replies into a loop and the actors that run on one. Works with any loop that has
`call_soon_threadsafe` (asyncio's own, uvloop). Invariant: one wake-up of the loop per batch, however many replies it carries.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import sys
import threading
import traceback
import weakref
from typing import Any, Awaitable, Callable, Optional

from iris import watch
from iris._iris import (
    EMPTY, ENDED, ExitReason, Inbox, Killed, NoReply, ReadyQueue, Ref, Swapped, interrupt_turn, never_block_here, parked,
    take_interrupt_back,
)  # fmt: skip
from iris.hub import current_mailbox
from iris.passed import Looking, Passed
from iris.versions import History, Version
from iris.virtual import Asleep, Idle, Idleness

# Messages that an async actor handles before it lets the loop run others.
BURST = 64
# Seconds that cancelled tasks have at the end of their runtime.
CLEAN_UP_S = 0.5

_replies: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, ReadyQueue]" = weakref.WeakKeyDictionary()


def _queue_into(loop: asyncio.AbstractEventLoop, deliver: Callable[[Any], None]) -> ReadyQueue:
    """A queue whose items are given to `deliver` on the loop. Keeps the loop only weakly."""
    to_loop = weakref.ref(loop)

    def drain() -> None:
        for item in queue.drain():
            deliver(item)

    def notify() -> None:
        alive = to_loop()
        if alive is None:
            raise RuntimeError("the event loop is gone")
        alive.call_soon_threadsafe(drain)

    queue = ReadyQueue(notify)
    return queue


def _resolve(item: tuple[asyncio.Future[Any], bool, Any]) -> None:
    future, ok, value = item
    if future.done():
        return
    if ok:
        future.set_result(value)
    else:
        future.set_exception(value)


def _replies_of(loop: asyncio.AbstractEventLoop) -> ReadyQueue:
    queue = _replies.get(loop)
    if queue is None:
        queue = _replies[loop] = _queue_into(loop, _resolve)
    return queue


def ask(ref: Ref, message: Any, timeout: Optional[float]) -> Awaitable[Any]:
    """The future for a reply. Cancelling it makes the reply unwanted; the request may still be handled."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    refusal = ref._ask_into(message, _replies_of(loop), future)
    if refusal is not None:
        if not future.done():
            future.set_exception(NoReply(refusal))
    elif timeout is not None:
        handle = loop.call_later(timeout, _expire, future)
        future.add_done_callback(lambda _: handle.cancel())
    return future


def _expire(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(TimeoutError("no reply before the deadline"))


def wait(ref: Ref, timeout: Optional[float]) -> Awaitable[Optional[ExitReason]]:
    """The future for the end of an actor: its reason, or None after the time-out."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    number = ref._watch_into(_replies_of(loop), future)
    if number is not None:
        if timeout is not None:
            handle = loop.call_later(timeout, _give_up, future)
            future.add_done_callback(lambda _: handle.cancel())
        future.add_done_callback(lambda _: ref._unwatch(number))
    return future


def _give_up(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_result(None)


class AsyncMailbox:
    """The mailbox of an async actor."""

    __slots__ = (
        "__weakref__", "_asleep", "_cancelled", "_context", "_history", "_host", "_idleness", "_inbox", "_loop", "_main", "_passed",
        "_system", "_task", "_virtual", "_waiter",
    )  # fmt: skip

    def __init__(self, inbox: Inbox, host: "LoopHost", system: Any, main: Callable[["AsyncMailbox"], Awaitable[Any]]):
        self._inbox = inbox
        self._host = host
        self._loop = host.loop
        # What its life begins with, and the context variables that it begins with; a virtual actor has more than one life.
        self._main = main
        self._context = contextvars.copy_context()
        self._virtual = False
        # What the actor waits for while it receives, and only then.
        self._waiter: Optional[asyncio.Future[None]] = None
        self._task: Optional[asyncio.Task[None]] = None
        # Whether it was asked to end while it waited for something else.
        self._cancelled = False
        self._passed: Optional[Passed] = None
        self._system = weakref.ref(system)
        self._history: Optional[History] = None
        # Of a virtual actor, while it is awake.
        self._idleness: Optional[Idleness] = None
        # Whether there is no task: whatever comes begins one.
        self._asleep = True

    @property
    def pid(self) -> int:
        """The actor's pid."""
        return self._inbox.pid

    @property
    def ref(self) -> Optional[Ref]:
        """A reference to the actor."""
        system = self._system()
        found: Optional[Ref] = system._inner._ref(self._inbox.pid) if system else None
        return found

    def reply(self, value: Any) -> bool:
        """Answers the request received last. False if it was not a request."""
        return self._inbox.reply(value)

    @property
    def ending(self) -> bool:
        """Whether the actor has been asked to end (tells that None from the message None)."""
        return self._inbox.ending()

    def _token_came(self) -> None:
        """There is something to receive, or the actor was asked to end: then it stops waiting for whatever else it waits for."""
        self._inbox.token_came()
        if self._waiter is not None:
            self._wake()
        elif self._asleep:
            self._asleep = False
            self._host._begin(self)
        elif self._task is not None and self._inbox.ending():
            self._cancelled = True
            self._task.cancel()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _pass(self, message: Any) -> None:
        if self._passed is None:
            self._passed = Passed()
        self._passed.add(self._inbox, message)

    async def _fresh(self, timeout: Optional[float]) -> Any:
        """The next message, `ENDED`, or `EMPTY` after the time-out."""
        if self._idleness is not None and not self._passed:
            idle = self._idleness.left(self._loop.time())
            if idle is not None and (timeout is None or idle < timeout):
                message = await self._arrival(idle)
                if message is EMPTY:
                    raise Idle
                return message
        return await self._arrival(timeout)

    async def _arrival(self, timeout: Optional[float]) -> Any:
        deadline = None if timeout is None else self._loop.time() + timeout
        while True:
            message = self._inbox.try_recv()
            if message is not EMPTY:
                return message
            left = None if deadline is None else deadline - self._loop.time()
            if left is not None and left <= 0:
                return EMPTY
            waiter = self._waiter = self._loop.create_future()
            handle = None if left is None else self._loop.call_later(left, self._wake)
            try:
                await waiter
            finally:
                self._waiter = None
                if handle is not None:
                    handle.cancel()

    async def recv(self, timeout: Optional[float] = None) -> Any:
        """The next message. None after `timeout` seconds, and None when the actor has been asked to end."""
        if self._passed and not self._inbox.ending():
            return self._passed.take(self._inbox)
        message = await self._fresh(timeout)
        return None if message is ENDED or message is EMPTY else message

    async def selective_recv(self, matcher: Callable[[Any], Any], timeout: Optional[float] = None) -> Any:
        """The first message that `matcher` accepts; the others keep their order."""
        if self._passed and not self._inbox.ending():
            message = self._passed.select(self._inbox, matcher)
            if message is not EMPTY:
                return message
        deadline = None if timeout is None else self._loop.time() + timeout
        with Looking(self) as looking:
            while True:
                left = None if deadline is None else max(0.0, deadline - self._loop.time())
                message = await self._fresh(left)
                if message is ENDED or message is EMPTY:
                    return None
                if looking.accepts(message, matcher):
                    return message

    def __aiter__(self) -> "AsyncMailbox":
        return self

    async def __anext__(self) -> Any:
        if self._passed and not self._inbox.ending():
            return self._passed.take(self._inbox)
        message = await self._fresh(None)
        if message is ENDED:
            raise StopAsyncIteration
        return message


# What tells the task that runs on a loop, in one step with the GIL.
_current_task: Any = getattr(asyncio.tasks, "_current_tasks", {}).get if sys.version_info < (3, 12) else asyncio.current_task


class LoopHost(watch.Served):
    """Runs async actors on an event loop that has a thread of its own. A turn is what it does between two of the watch's beats."""

    kind = "async"

    def __init__(self) -> None:
        super().__init__()
        self.turn = 1
        self._beating = False
        self.loop = asyncio.new_event_loop()
        self.queue = _queue_into(self.loop, AsyncMailbox._token_came)
        self._mailboxes: dict[asyncio.Task[None], AsyncMailbox] = {}
        # One method and one context for all tasks: what the garbage collector has to look at is most of what many actors cost.
        self._when_gone = self._gone
        self._context = contextvars.Context()
        self._closing = False
        self.thread = threading.Thread(
            target=functools.partial(parked, self._run), name="iris-loop", daemon=True
        )  # fmt: skip
        watch.begin(self)
        self.thread.start()

    def _run(self) -> None:
        self.ident = threading.get_ident()
        never_block_here(self.queue)
        asyncio.set_event_loop(self.loop)
        try:
            while True:
                try:
                    self.loop.run_forever()
                    return
                except Killed:
                    # Its actor had ended by then.
                    continue
        finally:
            watch.end(self)
            self.loop.close()

    def busy_turn(self) -> Optional[int]:
        """A loop that runs a task is asked for a sign of life; it is busy until that comes."""
        turn = self.turn
        if not self._beating and _current_task(self.loop) is not None:
            self._beating = True
            try:
                self.loop.call_soon_threadsafe(self._beat)
            except RuntimeError:
                return None
        return turn if self._beating else None

    def _beat(self) -> None:
        self._beating = False
        self.turn += 2
        if self.interrupted:
            self.interrupted = False
            take_interrupt_back(self.ident)

    def _task(self) -> "Optional[asyncio.Task[None]]":
        return _current_task(self.loop)  # type: ignore[no-any-return]

    def inbox(self) -> Any:
        task = self._task()
        mailbox = None if task is None else self._mailboxes.get(task)
        return None if mailbox is None else mailbox._inbox

    def interrupt(self, turn: int) -> bool:
        task = self._task()
        return task in self._mailboxes and interrupt_turn(self.ident, self, turn, (_current_task, self.loop, task))

    def spawn(
        self,
        inbox: Inbox,
        main: Callable[[AsyncMailbox], Awaitable[Any]],
        system: Any,
        history: Optional[History] = None,
        virtual: bool = False,
    ) -> AsyncMailbox:
        """Makes the actor behind an inbox of this host's queue and lets it run."""
        mailbox = AsyncMailbox(inbox, self, system, main)
        mailbox._virtual = virtual
        mailbox._history = history
        inbox.set_token(mailbox)
        inbox.end_promptly()
        # As one that sleeps and is rung for: the loop is woken once for all that are spawned meanwhile.
        self.queue.put(mailbox)
        return mailbox

    def _begin(self, mailbox: AsyncMailbox) -> None:
        context = mailbox._context.copy() if mailbox._virtual else mailbox._context
        task = mailbox._task = self.loop.create_task(_life(mailbox, mailbox._main), context=context)
        self._mailboxes[task] = mailbox
        task.add_done_callback(self._when_gone, context=self._context)
        if not mailbox._inbox.watch_exit():
            mailbox._token_came()

    def _gone(self, task: "asyncio.Task[None]") -> None:
        mailbox = self._mailboxes.pop(task)
        if mailbox._task is task:
            # It does not begin again.
            mailbox._task = mailbox._main = mailbox._context = None  # type: ignore[assignment]
        if task.cancelled() or (task.exception() is not None):
            # Before its first step or after its last, or it would have closed its inbox.
            mailbox._inbox.close()

    def close(self) -> None:
        """Cancels what still runs and ends the loop."""
        if not self._closing:
            self._closing = True
            asyncio.run_coroutine_threadsafe(_end(self.loop, self._mailboxes), self.loop)
        if self.thread is not None and threading.current_thread() is not self.thread and not self.stuck:
            self.thread.join(1.0)


async def _end(loop: asyncio.AbstractEventLoop, running: dict[asyncio.Task[None], AsyncMailbox]) -> None:
    """Lets tasks clean up, for so long as `close` waits for the thread."""
    tasks = set(running)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=CLEAN_UP_S)
    loop.stop()


async def _life(mailbox: AsyncMailbox, main: Callable[[AsyncMailbox], Awaitable[Any]]) -> None:
    """The whole life of the actor; of a virtual one, until it falls asleep."""
    current_mailbox.set(mailbox)
    error = None
    try:
        while True:
            try:
                await main(mailbox)
                break
            except Swapped:
                main = await _next_version(mailbox, main)
    except Asleep:
        mailbox._asleep, mailbox._task = True, None
        return
    except (asyncio.CancelledError, Killed):
        pass
    except BaseException as raised:
        error = raised
    if error is not None and mailbox._cancelled:
        # What goes wrong while it cleans up does not hide why it ends.
        traceback.print_exception(error)
        error = None
    if mailbox._passed:
        mailbox._passed.bury(mailbox._inbox)
        mailbox._passed = None
    mailbox._inbox.close(error, main)


async def _next_version(mailbox: AsyncMailbox, main: Callable[[AsyncMailbox], Awaitable[Any]]) -> Callable[[Any], Any]:
    """The code that replaces this one."""
    if mailbox._history is None:
        mailbox._history = History(Version(main, main))
    version, old = mailbox._history.change(mailbox._inbox.take_swap())
    if version.code_change is not None:
        await _maybe(version.code_change(old))
    return version.main


class Serving:
    """The life of an async push actor: one message after the other, the result as the reply."""

    __slots__ = ("receive", "started", "stopped")

    def __init__(
        self,
        receive: Callable[[Any], Awaitable[Any]],
        started: Optional[Callable[[], Any]],
        stopped: Optional[Callable[[Any], Any]],
    ):
        self.receive, self.started, self.stopped = receive, started, stopped

    def __getattr__(self, name: str) -> Any:
        # Crash reports name it.
        if name == "__qualname__":
            return getattr(self.receive, name, "async actor")
        raise AttributeError(name)

    async def __call__(self, mailbox: AsyncMailbox) -> None:
        inbox, receive, handled = mailbox._inbox, self.receive, 0
        try:
            if self.started is not None:
                await _maybe(self.started())
            while True:
                message = mailbox._passed.take(inbox) if mailbox._passed else inbox.try_recv()
                if message is EMPTY:
                    if mailbox._idleness is not None:
                        message = await mailbox._fresh(None)
                    else:
                        # What `_arrival` does, without its two frames: most actors wait here nearly always.
                        mailbox._waiter = mailbox._loop.create_future()
                        try:
                            await mailbox._waiter
                        finally:
                            mailbox._waiter = None
                        continue
                if message is ENDED:
                    break
                inbox.reply(await receive(message))
                handled += 1
                if handled % BURST == 0:
                    await asyncio.sleep(0)
        except (Swapped, GeneratorExit):
            raise
        except BaseException as error:
            await _farewell(self.stopped, inbox, error)
            raise
        await _farewell(self.stopped, inbox, None)


async def _farewell(stopped: Optional[Callable[[Any], Any]], inbox: Inbox, error: Optional[BaseException]) -> None:
    """Calls the hook of an actor that ends, with the reason, as it is for actors that are not async."""
    if stopped is None:
        return
    reason = inbox.reason(None if isinstance(error, (asyncio.CancelledError, Killed, Idle)) else error)
    if reason.kind == "killed":
        return
    try:
        await _maybe(stopped(reason))
    except Exception as failed:
        traceback.print_exception(failed)


async def _maybe(result: Any) -> Any:
    return await result if asyncio.iscoroutine(result) else result
