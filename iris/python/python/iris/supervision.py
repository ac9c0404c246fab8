"""Supervisors in OTP's vocabulary. Owns the specifications that people write; the state machine is the core's."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable, Optional, Sequence

from iris._iris import ExitReason, SupervisorCore


@dataclasses.dataclass
class Child:
    """One child: what is started, and when and how it is restarted and stopped.

    `restart` is permanent, transient (after failures) or temporary (never). `shutdown` is the seconds that it has to end in order; 0
    kills at once, None waits without limit.
    """

    id: str
    target: Any
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)
    restart: str = "permanent"
    shutdown: Optional[float] = 5.0


class Supervisor:
    """A supervisor: `one_for_one`, `one_for_all`, `rest_for_one` or `simple` (dynamic children).

    More than `intensity` restarts within `period` seconds end it, which is its own supervisor's affair. `backoff` is the first and the
    longest pause before restarts, in seconds.
    """

    def __init__(
        self,
        strategy: str = "one_for_one",
        children: Sequence[Child] = (),
        *,
        intensity: int = 3,
        period: float = 5.0,
        backoff: Optional[tuple[float, float]] = None,
    ):
        self.strategy = strategy
        self.children = list(children)
        self.intensity = intensity
        self.period = period
        self.backoff = backoff

    def start(self, system: Any, parent: Any = None) -> "RunningSupervisor":
        """Starts the supervisor, then its children in order. If one cannot be started, everything is stopped and the error raised."""
        parent_pid = system._pid(parent.pid if isinstance(parent, RunningSupervisor) else parent)
        core = SupervisorCore(
            system._inner, self.strategy, self.intensity, self.period, self.backoff, parent_pid
        )  # fmt: skip
        running = RunningSupervisor(core, system)
        try:
            for child in self.children:
                running.start_child(child)
        except BaseException:
            core.shutdown()
            raise
        return running


class RunningSupervisor:
    """A supervisor that runs."""

    def __init__(self, core: SupervisorCore, system: Any):
        self._core = core
        self._system = system

    @property
    def pid(self) -> int:
        """The supervisor's pid."""
        return self._core.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._core.alive

    def start_child(self, child: Child) -> Any:
        """Starts a child and returns its reference (for a supervisor as the child: its pid)."""
        pid = self._core.start_child(child.id, self._factory(child), child.restart, child.shutdown)
        return self._system._inner._ref(pid) or pid

    def start_children(self, children: Iterable[Child]) -> list[Any]:
        """Starts many children in their order, and asks for the next before the last one runs, which is quicker than one call for each. If
        some cannot be started, the others run, and the error says which."""
        wanted = list(children)
        rows = [(child.id, self._factory(child), child.restart, child.shutdown) for child in wanted]
        started = self._core.start_children(rows)
        failed = [f"{child.id}: {why}" for child, (_, why) in zip(wanted, started) if why is not None]
        if failed:
            raise RuntimeError(f"{len(failed)} of {len(wanted)} children were not started: {'; '.join(failed[:5])}")
        return [self._system._inner._ref(pid) or pid for pid, _ in started]

    def _running(self, pid: int) -> Any:
        """The reference, for a supervisor its pid; None for one that has ended and that the supervisor has yet to hear of."""
        inner = self._system._inner
        return inner._ref(pid) or (pid if inner.is_alive(pid) else None)

    def _factory(self, child: Child) -> Callable[[], Any]:
        system, parent = self._system, self._core.pid
        if isinstance(child.target, Supervisor):
            return lambda: child.target.start(system, parent)
        starter: Callable[[], Any] = system._starter(child.target, child.args, child.kwargs, parent)
        return starter

    def child(self, id: str) -> Any:
        """The reference of a running child by its id, or None."""
        pid = self._core.child(id)
        return None if pid is None else self._running(pid)

    def which_children(self) -> list[tuple[str, Optional[int], int]]:
        """(id, pid or None, restarts) in the order of starting."""
        return self._core.which_children()

    def terminate_child(self, id: str) -> bool:
        """Stops a child in order; its specification stays."""
        return self._core.terminate_child(id)

    def restart_child(self, id: str) -> int:
        """Starts a stopped child again."""
        return self._core.restart_child(id)

    def delete_child(self, id: str) -> bool:
        """Forgets a stopped child."""
        return self._core.delete_child(id)

    def release(self, child: Any) -> bool:
        """Stops supervising a child that runs on."""
        return self._core.release(child)

    def shutdown(self) -> bool:
        """Stops the children in reverse order, then the supervisor."""
        return self._core.shutdown()

    def join(self, timeout: Optional[float] = None) -> Optional[ExitReason]:
        """Waits until it has ended, and returns why (`restart_intensity` if it gave up); None after `timeout` seconds."""
        return self._core.join(timeout)
