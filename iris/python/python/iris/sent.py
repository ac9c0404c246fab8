"""What a send says: accepted, or why not. Owns the values; which of them it is, the compiled half decides. They are integers, as
True and False are, because their truth then costs no call: most senders ask for nothing else."""

from __future__ import annotations

import enum


class Sent(int, enum.Enum):
    """What became of a message: true if it was accepted."""

    ACCEPTED = (1, "accepted")
    FULL = (0, "refused: the mailbox is full")
    NO_PROCESS = (0, "refused: no such actor")
    BUSY = (0, "refused: the other node does not read what is sent to it")
    NO_CONNECTION = (0, "refused: the other node cannot be reached")

    def __new__(cls, truth: int, words: str) -> Sent:
        made = int.__new__(cls, truth)
        made._value_ = words
        return made

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Sent) else int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __repr__(self) -> str:
        return f"Sent.{self.name}"

    def __str__(self) -> str:
        words: str = self.value
        return words
