"""Nodes of a cluster: `iris.Node` joins one that speaks Erlang's distribution protocol, be it of Erlang, Elixir or iris. Owns the life of a
node and its waiting from coroutines; the protocol is `iris/mesh`, values are `terms.rs`.
"""

from __future__ import annotations

import asyncio
import functools
import os
import socket
import weakref
from typing import Any, Awaitable, Mapping, Optional, Union

from iris import mesh
from iris._iris import NodeCore, NodeError, Reference, Ref, RemoteRef
from iris.actors import me
from iris.aio import _expire, _replies_of
from iris.runtime import Runtime, _at_exit

# Seconds that a node has at interpreter exit to tell its actors of the end.
EXIT_S = 0.5
EPMD = "127.0.0.1:4369"

_open: "weakref.WeakSet[Node]" = weakref.WeakSet()


def _address(where: Union[int, str]) -> str:
    """An address as the compiled half reads it: names of hosts are looked up."""
    if isinstance(where, int):
        return f"127.0.0.1:{where}"
    host, colon, port = where.rpartition(":")
    if not colon or not port.isdecimal() or not host or host.endswith("]") or host.replace(".", "").isdecimal():
        return where
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
    except (OSError, OverflowError, UnicodeError) as error:
        raise NodeError(f"{host!r} is not found: {error}") from None
    family, _, _, _, address = found[0]
    return f"[{address[0]}]:{port}" if family == socket.AF_INET6 else f"{address[0]}:{port}"


def ask(ref: RemoteRef, message: Any, timeout: Optional[float]) -> Awaitable[Any]:
    """The future for an answer. Cancelling it makes the answer unwanted; the request may still be handled."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    asked = ref._request(message, _replies_of(loop), future)
    future.add_done_callback(lambda _: asked.forget())
    if timeout is not None:
        handle = loop.call_later(timeout, _expire, future)
        future.add_done_callback(lambda _: handle.cancel())
    return future


class Node:
    """A node over a system's actors.

    `name` is `something@host`, `cookie` what all nodes of the cluster share. It listens on `port` of 127.0.0.1 (0: any), is registered with
    the port mapper (`epmd`: its address; None: there is none), and finds others there, or in `peers`, a mapping of names to ports (or
    addresses). A peer that sends nothing for `tick` seconds counts as gone.

    Without `tls` only loopback, both ways: a cookie protects neither secrecy nor integrity. `tls` is a folder of `python -m iris mesh join`:
    then all connections are made with its certificates, go to any address, and the cookie is that folder's unless given; `listen="0.0.0.0"`
    takes those of other machines.

    `pickle=True` lets objects that are no data travel, pickled, to and from nodes that say so too: whoever is such a node can run any code here.
    """

    def __init__(
        self,
        system: Runtime,
        name: str,
        cookie: Optional[str] = None,
        *,
        port: int = 0,
        listen: str = "127.0.0.1",
        epmd: Optional[str] = EPMD,
        peers: Optional[Mapping[str, Union[int, str]]] = None,
        tick: float = 60.0,
        tls: "Optional[str | os.PathLike[str]]" = None,
        pickle: bool = False,
    ):
        identity = None if tls is None else mesh.load(tls)
        if cookie is None and identity is not None:
            cookie = identity.cookie
        if not cookie:
            raise ValueError("a node needs a cookie: whoever reaches it could do with its actors what they like")
        if not 0 <= port <= 65535:
            raise ValueError(f"{port} is no port")
        host = f"[{listen}]" if ":" in listen else listen
        known = {peer: _address(where) for peer, where in (peers or {}).items()}
        self.system = system
        self._core = NodeCore(
            system._inner, name, cookie, f"{host}:{port}", epmd, known, tick, None if identity is None else identity[:3], pickle
        )  # fmt: skip
        _open.add(self)

    @property
    def name(self) -> str:
        """The node's name."""
        return self._core.name

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        return self._core.address

    def nodes(self) -> list[str]:
        """The nodes that it is connected with."""
        return self._core.nodes()

    def register(self, name: str, actor: "Ref | int") -> None:
        """Gives an actor a name by which other nodes reach it: `gen_server:call({Name, Node}, Request)`. A name of the system
        (`system.register`) is not one for other nodes."""
        if not self._core.register(name, actor):
            raise ValueError(f"the name {name!r} is taken")

    def unregister(self, name: str) -> bool:
        """Takes a name away. False if nobody had it."""
        return self._core.unregister(name)

    def give(self, actor: "Ref | int") -> RemoteRef:
        """The reference by which other nodes know an actor: its pid. A `Ref` in a message becomes that by itself."""
        return self._core.give(actor)

    def ref(self, name: str, node: str) -> RemoteRef:
        """The process of a name on a node, which need not be there yet."""
        return self._core.ref(name, node)

    def monitor(self, to: RemoteRef, watcher: "Ref | int | None" = None) -> Reference:
        """Lets an actor (the one that runs here, unless told otherwise) get one `RemoteDown` when a process ends: at once if it is not
        there (`noproc`) or its node cannot be reached (`noconnection`)."""
        return self._core.monitor(_someone(watcher), to)

    def demonitor(self, monitor: Reference) -> bool:
        """Takes a monitor away. False if it has fired; a `RemoteDown` that is in the mailbox already stays there."""
        return self._core.demonitor(monitor)

    def link(self, to: RemoteRef, actor: "Ref | int | None" = None) -> None:
        """Links an actor with a process: the failure of one ends the other, or is an `Exit` or `RemoteExit` for it if it traps exits."""
        self._core.link(_someone(actor), to)

    def unlink(self, to: RemoteRef, actor: "Ref | int | None" = None) -> None:
        """Takes a link away from both sides."""
        self._core.unlink(_someone(actor), to)

    def join(self, group: Any, actor: "Ref | int | None" = None) -> None:
        """Puts an actor into a group, which it leaves when it ends: those of OTP's `pg`, in its default scope. A text is an atom; any other
        data does too. Who joins twice is a member twice."""
        self._core.join(group, _someone(actor))

    def leave(self, group: Any, actor: "Ref | int | None" = None) -> bool:
        """Takes an actor out of a group. False if it was not in it."""
        return self._core.leave(group, _someone(actor))

    def members(self, group: Any) -> list[RemoteRef]:
        """The members of a group on this node and on those that it is connected with; `local` of one of this node is its `Ref`."""
        return self._core.members(group)

    def groups(self) -> list[Any]:
        """The groups that have a member."""
        return self._core.groups()

    def global_name(self, name: Any, node: Optional[str] = None, timeout: float = 5.0) -> Optional[RemoteRef]:
        """The process that OTP's `global` knows by a name (a text is an atom): asked of a node, or of all that are connected until one knows
        it. None if nobody does."""
        for asked in self.nodes() if node is None else [node]:
            found = self._core.global_name(name, asked, timeout)
            if found is not None:
                return found
        return None

    def watch_nodes(self, watcher: "Ref | int | None" = None) -> None:
        """Lets an actor get a `NodeUp` or `NodeDown` for each connection that begins or ends from now on."""
        self._core.watch_nodes(_someone(watcher))

    def add_peer(self, name: str, where: Union[int, str]) -> None:
        """Says on which port (or address) a node listens that is not to be asked of the port mapper."""
        self._core.add_peer(name, _address(where))

    def connect(self, node: str) -> None:
        """Connects with a node; `NodeError` says why that is not possible. Whatever is sent to a node connects with it, too."""
        self._core.connect(node)

    async def connecting(self, node: str) -> None:
        """The same from a coroutine."""
        await asyncio.get_running_loop().run_in_executor(None, functools.partial(self._core.connect, node))

    def disconnect(self, node: str) -> bool:
        """Ends the connection with a node: all monitors and links over it end with `noconnection`. False if there was none."""
        return self._core.disconnect(node)

    def close(self, timeout: float = 5.0) -> bool:
        """Ends the node: all its connections end, and its name is free. True when all that depended on them has been told."""
        _open.discard(self)
        return self._core.close(timeout)

    def __enter__(self) -> "Node":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Node {self.name}>"


def _someone(actor: "Ref | int | None") -> "Ref | int":
    found = me() if actor is None else actor
    if found is None:
        raise NodeError("which actor? None runs here")
    return found


def _close_all() -> None:
    """At interpreter exit: nodes' threads must have told what they tell before the interpreter is gone."""
    for node in list(_open):
        node.close(EXIT_S)


_at_exit.append(_close_all)
