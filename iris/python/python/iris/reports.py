"""Reports of crashes through `logging` (logger `iris`), as OTP prints them unless told otherwise. Owns what a report says; who does not want
them sets the logger's level. Invariant: a report never changes how an actor ends.
"""

from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger("iris")


def crashed(pid: int, who: Any, error: BaseException) -> None:
    """An exception has ended an actor."""
    name = getattr(who, "__qualname__", None) or type(who).__qualname__
    logger.error("actor %d (%s) crashed: %s", pid, name, type(error).__name__, exc_info=error)


def supervised(supervisor: int, child: str, event: str, reason: str) -> None:
    """Something has happened to a supervisor's child."""
    logger.error("supervisor %d: child %r %s: %s", supervisor, child, event, reason)
