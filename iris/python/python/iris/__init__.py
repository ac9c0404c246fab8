"""iris: actors for Python. 100,000s in one process, supervised, hot-swappable, counted when they are processed.

Two surfaces over one core: the modern one (`System`, `actor`, `Supervisor`, `await ref.ask(...)`) and the compatible one
(`Runtime`, pids as ints, messages as bytes).
"""

from iris import guard
from iris._iris import (
    CallFailed,
    Down,
    Exit,
    ExitReason,
    Killed,
    NodeBusy,
    NodeDown,
    NodeError,
    NodeUp,
    NoReply,
    Opaque,
    PyRuntime,
    PySystemMessage,
    Ref,
    Reference,
    RemoteDown,
    RemoteExit,
    RemoteRef,
    Swapped,
    allocate_buffer,
    check_interpreter,
    version,
)
from iris.actors import System, actor, current_pid, me
from iris.aio import AsyncMailbox
from iris.codec import register_type
from iris.hub import PyMailbox, Stopped
from iris.nodes import Node
from iris.processes import Offloaded, offload, run_in_process, run_in_thread
from iris.runtime import Runtime
from iris.sent import Sent
from iris.supervision import Child, Supervisor
from iris.terms import Atom, Bits, Function, ImproperList, Pairs

# The compiled half is shared by the interpreters of a process, so it may have been there already.
check_interpreter()
guard.check(__path__)

ActorRef = Ref
Mailbox = PyMailbox
__version__ = version()

__all__ = [
    "ActorRef",
    "AsyncMailbox",
    "Atom",
    "Bits",
    "CallFailed",
    "Child",
    "Down",
    "Exit",
    "ExitReason",
    "Function",
    "ImproperList",
    "Killed",
    "Mailbox",
    "NoReply",
    "Node",
    "NodeBusy",
    "NodeDown",
    "NodeError",
    "NodeUp",
    "Offloaded",
    "Opaque",
    "Pairs",
    "PyMailbox",
    "PyRuntime",
    "PySystemMessage",
    "Ref",
    "Reference",
    "RemoteDown",
    "RemoteExit",
    "RemoteRef",
    "Runtime",
    "Sent",
    "Stopped",
    "Supervisor",
    "Swapped",
    "System",
    "actor",
    "allocate_buffer",
    "current_pid",
    "me",
    "offload",
    "register_type",
    "run_in_process",
    "run_in_thread",
    "version",
]

# What the original has around its compiler of Python functions.
_NOT_THERE = ("jit", "register_offload", "set_jit_logging", "get_jit_logging", "set_quantum_speculation", "get_quantum_speculation")


def __getattr__(name: str) -> object:
    if name in _NOT_THERE:
        raise AttributeError(
            f"iris.{name} is not there, because iris compiles no Python: iris.offload(strategy=\"process\") does work in other processes"
        )
    raise AttributeError(f"module 'iris' has no attribute {name!r}")
