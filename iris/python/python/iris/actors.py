"""The modern surface: actors as functions and classes, any object as a message. Owns what `actor` marks and how `System.spawn` makes each
kind run: push handlers on the executor, pull actors as green threads (or threads), async ones on an event loop.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import inspect
import operator
import types
import weakref
from typing import Any, Callable, Coroutine, Iterator, Optional, ParamSpec, TypeVar, Union, overload

from iris._iris import PyRuntime, Ref
from iris._iris import current_pid as _pushed_pid
from iris.aio import AsyncMailbox, Serving
from iris.hub import PyMailbox, current_mailbox, run_in_thread, running_mailbox
from iris.kinds import Receiving, ReceivingAsync, Running
from iris.runtime import _BOUND, Runtime, _alive, _check_own
from iris.sent import Sent
from iris.versions import History, Version
from iris.virtual import awaited, pulled

Target = Union[type, Callable[..., Any]]
Call = Callable[..., Any]

_OVERFLOWS = ("dropnew", "dropold", "block", "redirect", "spill")
T = TypeVar("T", bound=Target)
M = TypeVar("M")
R = TypeVar("R")
P = ParamSpec("P")


@dataclasses.dataclass(frozen=True)
class Options:
    """What `actor` was given: how actors of this kind run."""

    pull: bool = False
    thread: bool = False
    budget: int = 100
    release_gil: bool = False
    capacity: Optional[int] = None
    overflow: str = "dropnew"
    overflow_target: "Optional[Ref | int]" = None
    trap_exit: bool = False
    context: bool = False
    virtual: bool = False
    idle_timeout: Optional[float] = None

    def __post_init__(self) -> None:
        if self.overflow not in _OVERFLOWS:
            raise ValueError(f"the overflow policy must be one of {', '.join(_OVERFLOWS)}, not {self.overflow!r}")
        if self.overflow in ("redirect", "spill") and self.overflow_target is None:
            raise ValueError(f'the policy "{self.overflow}" needs an overflow_target')


@overload
def actor(target: T, /, **options: Any) -> T: ...
@overload
def actor(
    *,
    pull: bool = ...,
    thread: bool = ...,
    budget: int = ...,
    release_gil: bool = ...,
    capacity: Optional[int] = ...,
    overflow: str = ...,
    overflow_target: "Optional[Ref | int]" = ...,
    trap_exit: bool = ...,
    context: bool = ...,
    virtual: bool = ...,
    idle_timeout: Optional[float] = ...,
) -> Callable[[T], T]: ...
def actor(target: Optional[Target] = None, /, **options: Any) -> Any:
    """Marks a function or a class as an actor.

    A function gets one message per call and its result is the reply to `ask`; with `pull=True` it gets the mailbox once. A class has
    `receive(self, message)`, or `run(self, mailbox)` to pull; either may be async. Optional methods of a class: `started(self)`,
    `stopped(self, reason)`, `code_change(self, old)`.

    Options: pull, thread (pull on an OS thread), budget, release_gil, capacity, overflow (and overflow_target, for "redirect" and
    "spill"), trap_exit, context (run in a copy of the context variables of whoever spawns it or swaps this code in; async actors always
    do, as tasks do), virtual (made when a message comes, and put away after `idle_timeout` seconds without one; the next message makes a fresh
    one).
    """
    chosen = Options(**options)

    def mark(marked: Target) -> Target:
        try:
            marked.__iris__ = chosen  # type: ignore[union-attr]
        except AttributeError:
            # Methods and builtins.
            raise TypeError(f"{marked!r} cannot be marked: spawn it as it is, or wrap it in a function") from None
        return marked

    return mark if target is None else mark(target)


@dataclasses.dataclass
class _Parts:
    """A target taken apart: what is called, and the hooks around it."""

    call: Callable[..., Any]
    pull: bool
    instance: Any = None
    original: Optional[Call] = None
    started: Optional[Callable[[], Any]] = None
    stopped: Optional[Callable[[Any], Any]] = None
    code_change: Optional[Callable[[Any], Any]] = None

    def __post_init__(self) -> None:
        self.is_async = _is_async(self.call)

    @property
    def kind(self) -> str:
        return "async" if self.is_async else "pull" if self.pull else "push"

    def in_context(self) -> "_Parts":
        """The same, with everything run in one copy of the present context variables. Tasks have a copy anyway."""
        if self.is_async:
            return self
        context = contextvars.copy_context()
        # The spawner may be a pull actor; this actor is not.
        context.run(current_mailbox.set, None)

        def inside(call: Optional[Call]) -> Any:
            return None if call is None else lambda *args: context.run(call, *args)

        def pulling(mailbox: Any) -> Any:
            context.run(current_mailbox.set, mailbox)
            return context.run(self.call, mailbox)

        return dataclasses.replace(
            self,
            call=pulling if self.pull else inside(self.call),
            original=self.subject,
            started=inside(self.started),
            stopped=inside(self.stopped),
            code_change=inside(self.code_change),
        )

    @property
    def known(self) -> Any:
        """The instance, or the function where something else is called instead."""
        return self.original if self.instance is None else self.instance

    @property
    def subject(self) -> Any:
        """What `code_change` of the next version gets."""
        return self.call if self.known is None else self.known


def _main_of(parts: _Parts, started: Optional[Callable[[], Any]]) -> Callable[[Any], Any]:
    """What runs on the mailbox of a pull or async actor."""
    if parts.is_async and not parts.pull:
        return Serving(parts.call, started, parts.stopped)
    return parts.call


_DEFAULTS = Options()


def _options(target: Target) -> Options:
    return getattr(target, "__iris__", None) or _DEFAULTS


def _take_apart(target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], options: Options) -> _Parts:
    parts = _parts_of(target, args, kwargs, options)
    return parts.in_context() if options.context else parts


def _parts_of(target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], options: Options) -> _Parts:
    if not inspect.isclass(target):
        if args or kwargs:
            raise TypeError("a function actor takes no arguments: use a class, or functools.partial")
        if not callable(target):
            raise TypeError(f"an actor must be a class or a callable, not {type(target).__name__}")
        return _Parts(target, options.pull or options.thread)
    return _parts_around(target(*args, **kwargs), target)


def _parts_around(instance: Any, target: type) -> _Parts:
    receive, run = getattr(instance, "receive", None), getattr(instance, "run", None)
    if receive is None and run is None:
        raise TypeError(f"{target.__name__} has neither receive(self, message) nor run(self, mailbox)")
    hooks = {name: getattr(instance, name, None) for name in ("started", "stopped", "code_change")}
    call: Any = receive if receive is not None else run
    return _Parts(call, receive is None, instance, **hooks)


class System(Runtime):
    """An actor system. `with System() as system:` stops it at the end, after all messages were handled."""

    @overload  # type: ignore[override]
    def spawn(self, target: Callable[P, Running], /, *args: P.args, **kwargs: P.kwargs) -> Ref: ...
    @overload
    def spawn(self, target: Callable[P, ReceivingAsync[M, R]], /, *args: P.args, **kwargs: P.kwargs) -> Ref[M, R]: ...
    @overload
    def spawn(self, target: Callable[P, Receiving[M, R]], /, *args: P.args, **kwargs: P.kwargs) -> Ref[M, R]: ...
    @overload
    def spawn(self, target: Callable[[PyMailbox], Any], /) -> Ref: ...
    @overload
    def spawn(self, target: Callable[[AsyncMailbox], Any], /) -> Ref: ...
    @overload
    def spawn(self, target: Callable[[M], Coroutine[Any, Any, R]], /) -> Ref[M, R]: ...
    @overload
    def spawn(self, target: Callable[[M], R], /) -> Ref[M, R]: ...
    @overload
    def spawn(self, target: Target, /, *args: Any, name: "str", path: "Optional[str]" = ..., parent: "Optional[Ref | int]" = ..., link: "Optional[Ref | int]" = ..., monitor: "Optional[Ref | int]" = ..., **kwargs: Any) -> Ref: ...
    @overload
    def spawn(self, target: Target, /, *args: Any, path: "str", name: "Optional[str]" = ..., parent: "Optional[Ref | int]" = ..., link: "Optional[Ref | int]" = ..., monitor: "Optional[Ref | int]" = ..., **kwargs: Any) -> Ref: ...
    @overload
    def spawn(self, target: Target, /, *args: Any, parent: "Ref | int", name: "Optional[str]" = ..., path: "Optional[str]" = ..., link: "Optional[Ref | int]" = ..., monitor: "Optional[Ref | int]" = ..., **kwargs: Any) -> Ref: ...
    @overload
    def spawn(self, target: Target, /, *args: Any, link: "Ref | int", name: "Optional[str]" = ..., path: "Optional[str]" = ..., parent: "Optional[Ref | int]" = ..., monitor: "Optional[Ref | int]" = ..., **kwargs: Any) -> Ref: ...
    @overload
    def spawn(self, target: Target, /, *args: Any, monitor: "Ref | int", name: "Optional[str]" = ..., path: "Optional[str]" = ..., parent: "Optional[Ref | int]" = ..., link: "Optional[Ref | int]" = ..., **kwargs: Any) -> Ref: ...
    def spawn(self, target: Target, /, *args: Any, **kwargs: Any) -> Ref:
        """Starts an actor and returns its reference.

        `name`, `path`, `parent`, `link` and `monitor` are the spawn's own; everything else goes to the class.
        """
        if not kwargs:
            if type(target) is type:
                if not hasattr(target, "__iris__"):
                    return self._start_instance(target(*args), target)
            elif not args and _is_plain(target):
                return self._inner._spawn_actor(target)
        own = {key: kwargs.pop(key, None) for key in ("name", "path", "parent", "link", "monitor")}
        parent, link, monitor = (self._pid(own[key]) for key in ("parent", "link", "monitor"))
        name, path = own["name"], own["path"]
        for taken, whereis in ((name, self._inner.whereis), (path, self._inner.whereis_path)):
            owner = None if taken is None else whereis(taken)
            if owner is not None and self._inner.is_alive(owner):
                raise ValueError(f"{taken!r} belongs to the actor {owner}: unregister it before another is spawned for it")
        options = _options(target)
        if options.virtual:
            ref = self._start_virtual(target, args, kwargs, options, parent, link)
        else:
            parts = _take_apart(target, args, kwargs, options)
            ref = self._start(parts, options, parent, link)
        try:
            if not options.virtual and parts.instance is not None:
                _introduce(parts.instance, ref, self)
            if options.capacity is not None and options.overflow != "dropnew":
                ref.bound(options.capacity, options.overflow, options.overflow_target)
            if name is not None:
                self._inner.register(name, ref.pid)
            if path is not None:
                self._inner.register_path(path, ref.pid)
            if monitor is not None:
                self._inner._monitor(monitor, ref.pid)
        except BaseException:
            # Nobody would have its reference.
            ref.exit("kill")
            raise
        return ref

    def _starter(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], parent: int) -> Callable[[], Ref]:
        """What starts a child, again and again: what can be known of it before is looked at once."""
        if not kwargs and type(target) is type and not hasattr(target, "__iris__"):
            return lambda: self._start_instance(target(*args), target, parent)
        if not kwargs and not args and _is_plain(target):
            return lambda: self._inner._spawn_actor(target, 100, False, None, parent)
        return lambda: self.spawn(target, *args, parent=parent, **kwargs)

    def _start_instance(self, instance: Any, target: type, parent: Optional[int] = None) -> Ref:
        """A class without options: nothing has to be taken apart if it is a synchronous one with nothing to do at its start."""
        receive, started = getattr(instance, "receive", None), getattr(instance, "started", None)
        if receive is None or started is not None or _is_async(receive):
            parts = _parts_around(instance, target)
            ref = self._start(parts, _DEFAULTS, parent, None)
        else:
            stopped, change = getattr(instance, "stopped", None), getattr(instance, "code_change", None)
            ref = self._inner._spawn_actor(
                receive, 100, False, None, parent, None, False, None, stopped, change, instance
            )  # fmt: skip
        try:
            instance.ref, instance.system = ref, self
        except AttributeError:
            pass
        except BaseException:
            # Nobody would have its reference.
            ref.exit("kill")
            raise
        return ref

    def _bind(self, inner: PyRuntime) -> None:
        super()._bind(inner)
        # `spawn` and `send` here are the modern ones, not PyRuntime's; the others look whose reference they are given.
        for name in _BOUND:
            self.__dict__.pop(name, None)

    def _pid(self, who: "Ref | int | None") -> Optional[int]:
        _check_own(self._inner, who)
        return None if who is None else operator.index(who)

    def _start(self, parts: _Parts, options: Options, parent: Optional[int], link: Optional[int]) -> Ref:
        if parts.pull or parts.is_async:
            return self._start_pull(parts, options, parent, link)
        started = None if parts.started is None else _starting(self, parts)
        return self._inner._spawn_actor(
            parts.call, options.budget, options.release_gil, options.capacity, parent,
            link, options.trap_exit,
            started, parts.stopped, parts.code_change, parts.known,
        )  # fmt: skip

    def _start_virtual(
        self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], options: Options, parent: Any, link: Any
    ) -> Ref:
        kind = _virtual_kind(target, options)
        context, weak = contextvars.copy_context(), weakref.ref(self)

        def instance() -> _Parts:
            parts: _Parts = context.run(_take_apart, target, args, kwargs, options)
            system = weak()
            if parts.instance is not None and system is not None:
                _introduce(parts.instance, system._inner._ref(current_pid() or 0), system)
            return parts

        if kind != "push":
            return self._start_virtual_pull(instance, kind, options, parent, link)

        def make() -> tuple[Any, ...]:
            parts = instance()
            return parts.call, parts.started, parts.stopped, parts.code_change, parts.known

        return self._inner._spawn_virtual(
            make, options.budget, options.release_gil, options.capacity, parent,
            link, options.trap_exit, options.idle_timeout,
        )  # fmt: skip

    def _start_virtual_pull(
        self, instance: Callable[[], _Parts], kind: str, options: Options, parent: Any, link: Any
    ) -> Ref:
        def make() -> tuple[Call, Any]:
            parts = instance()
            return _main_of(parts, parts.started), parts.subject

        host: Any = self._loop() if kind == "async" else self._green()
        ref, inbox = self._inner._spawn_inbox(
            host.queue, parent, options.capacity, False, options.trap_exit,
            kind == "async",
        )  # fmt: skip
        inbox.set_dormant(True)
        with _ending(inbox):
            if link is not None:
                ref.link(link)
        main: Call = (awaited if kind == "async" else pulled)(make, options.idle_timeout)
        history = History(Version(main, None))
        if kind == "async":
            host.spawn(inbox, main, self, history, virtual=True)
        else:
            host.spawn(inbox, main, self, history)
        return ref

    def _start_pull(self, parts: _Parts, options: Options, parent: Optional[int], link: Any) -> Ref:
        main = _main_of(parts, parts.started)
        if parts.is_async:
            host: Any = self._loop()
        else:
            host = None if options.thread else self._green()
        queue = None if host is None else host.queue
        ref, inbox = self._inner._spawn_inbox(
            queue, parent, options.capacity, False, options.trap_exit, parts.is_async
        )  # fmt: skip
        with _ending(inbox):
            if link is not None:
                ref.link(link)
            if parts.instance is not None:
                _introduce(parts.instance, ref, self)
        history = History(Version(main, parts.subject, parts.code_change))
        if host is None:
            run_in_thread(inbox, main, self, history)
        else:
            host.spawn(inbox, main, self, history)
        return ref

    def hot_swap(  # type: ignore[override]
        self, ref: "Ref | int", target: Target, *args: Any, **kwargs: Any
    ) -> int:
        """Replaces an actor's behaviour, after the messages that were sent before. Returns the new version.

        A class may have `code_change(self, old)`, which gets the instance (or function) that it replaces. Code is replaced by code of
        the same kind: push by push, pull by pull, async by async. Pull and async code ends where it receives next (see `iris.Swapped`).
        """
        pid = self._pid(ref)
        if pid is None:
            raise TypeError("hot_swap needs an actor")
        parts = _take_apart(target, args, kwargs, _options(target))
        kind = self._inner._kind(pid)
        if kind is not None and kind != parts.kind:
            raise TypeError(f"the actor is a {kind} actor, and the new code is for a {parts.kind} one")
        if parts.instance is not None:
            _introduce(parts.instance, self._inner._ref(pid), self)
        if parts.kind == "push":
            return self._inner._swap_actor(pid, parts.call, parts.stopped, parts.code_change, parts.known)
        return self._inner._swap_pull(pid, Version(_main_of(parts, None), parts.subject, parts.code_change))

    def send(self, to: "Ref | int | str", message: Any) -> Sent:  # type: ignore[override]
        """Sends to a reference, a pid, a name or a path. What it returns is true if the message was accepted, and says why not."""
        ref = self.find(to)
        return Sent.NO_PROCESS if ref is None else ref.send(message)

    def find(self, who: "Ref | int | str") -> Optional[Ref]:
        """The reference for a pid, a name, or a path (which begins with a slash)."""
        if isinstance(who, Ref):
            return who
        if isinstance(who, str):
            pid = self._inner.whereis_path(who) if who.startswith("/") else self._inner.whereis(who)
            return None if pid is None else self._inner._ref(pid)
        return self._inner._ref(who)

    def supervise(self, supervisor: Any, parent: Any = None) -> Any:
        """Starts a `Supervisor` and its children."""
        return supervisor.start(self, parent)


@contextlib.contextmanager
def _ending(inbox: Any) -> Iterator[None]:
    """A pull actor that cannot be begun is none."""
    try:
        yield
    except BaseException:
        inbox.close()
        raise


def _is_async(call: Any) -> bool:
    function = call.__func__ if type(call) is types.MethodType else call
    if type(function) is types.FunctionType and not function.__dict__:
        # What nearly all are: `inspect` takes two microseconds to say the same.
        return function.__code__.co_flags & inspect.CO_COROUTINE != 0
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None))


def _is_plain(target: Any) -> bool:
    """Whether a target is a synchronous function without options, as most are: nothing has to be taken apart then, which is a tenth of
    the work."""
    kind = type(target)
    if kind is types.MethodType:
        target = target.__func__
        kind = type(target)
    if kind is not types.FunctionType:
        return kind is types.BuiltinFunctionType
    # What `actor` (or `inspect.markcoroutinefunction`) says of a function is in its dictionary.
    return not target.__code__.co_flags & inspect.CO_COROUTINE and not target.__dict__


def _virtual_kind(target: Target, options: Options) -> str:
    """What kind a virtual actor will be; there is no instance to ask yet."""
    call: Any = target
    pull = options.pull
    if options.thread:
        raise TypeError("an actor with a thread of its own cannot be virtual: the thread is what it costs")
    if inspect.isclass(target):
        call = getattr(target, "receive", None)
        pull = call is None
        call = getattr(target, "run", None) if pull else call
        if call is None:
            raise TypeError(f"{target.__name__} has neither receive(self, message) nor run(self, mailbox)")
    elif not callable(target):
        raise TypeError(f"an actor must be a class or a callable, not {type(target).__name__}")
    return "async" if _is_async(call) else "pull" if pull else "push"


def _introduce(instance: Any, ref: Optional[Ref], system: System) -> None:
    """Tells an actor object who it is, if it has room for that."""
    try:
        instance.ref, instance.system = ref, system
    except AttributeError:
        pass


def _starting(system: System, parts: _Parts) -> Callable[[], Any]:
    """`started` may run before `spawn` has returned, so it introduces the instance itself."""

    def started() -> Any:
        pid = system._inner._current()
        _introduce(parts.instance, None if pid is None else system._inner._ref(pid), system)
        return parts.started()  # type: ignore[misc]

    return started


def current_pid() -> Optional[int]:
    """The pid of the actor that runs here, of whatever system; None outside actors."""
    mailbox = running_mailbox()
    pid: Optional[int] = _pushed_pid() if mailbox is None else mailbox.pid
    return pid


def me() -> Optional[Ref]:
    """The reference of the actor that runs here; None outside actors."""
    mailbox = running_mailbox()
    found: Optional[Ref] = None
    if mailbox is not None:
        found = mailbox.ref
        return found
    for system in list(_alive):
        pid = system._inner._current()
        if pid is not None:
            found = system._inner._ref(pid)
            return found
    return None
