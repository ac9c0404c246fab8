"""Hot swap of pull and async actors. Owns what a version is there and the history that can be gone back to. Invariant: the history of
applied versions repeats the numbers that the core promised, because both change in mailbox order.

Old code ends where it receives next after the swap was reached: `recv` raises `Swapped` (no `Exception`, so that ordinary handlers let it
through), `finally` blocks run, and the new code begins on the same mailbox, with the same pid, names, links and waiting messages.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Optional, Union

from iris._iris import VERSIONS_KEPT


@dataclasses.dataclass(frozen=True, slots=True)
class Version:
    """One version: what runs on the mailbox, and who migrates the state."""

    main: Callable[[Any], Any]
    subject: Any
    code_change: Optional[Callable[[Any], Any]] = None


class History:
    """The version that runs and those before it."""

    __slots__ = ("_past", "current")

    def __init__(self, first: Version):
        self.current = first
        # Most actors are never swapped: no list until then.
        self._past: Optional[list[Version]] = None

    def change(self, change: Union[Version, int]) -> tuple[Version, Any]:
        """Takes a new version, or goes back so many. Returns what runs now, and whose state it should take over."""
        old, past = self.current, self._past
        if past is None:
            past = self._past = []
        if isinstance(change, Version):
            past.append(old)
            del past[:-VERSIONS_KEPT]
            self.current = change
        else:
            at = len(past) - change
            self.current = past[at]
            del past[at:]
        return self.current, old.subject
