"""Values of Erlang that Python has no type for. Owns these classes; which object is which value is the compiled half's (`terms.rs`)."""

from __future__ import annotations

import dataclasses
from typing import Any


class Atom(str):
    """An atom. It equals the text of its name, so `message == "read"` and `case ("add", number)` do what they say; but only an `Atom` is
    sent as one: a plain text is sent as a binary."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Atom({str.__repr__(self)})"


@dataclasses.dataclass(frozen=True)
class Bits:
    """A bit string: of the last byte only the first `bits` (1 to 7) count."""

    data: bytes
    bits: int


@dataclasses.dataclass(frozen=True)
class ImproperList:
    """A list that ends in something else than `[]`."""

    items: tuple[Any, ...]
    tail: Any


@dataclasses.dataclass(frozen=True)
class Pairs:
    """A map that a dictionary cannot hold: its keys cannot be hashed, or Python does not tell them apart (1 and 1.0)."""

    pairs: tuple[tuple[Any, Any], ...]


@dataclasses.dataclass(frozen=True)
class Function:
    """`fun module:function/arity`."""

    module: str
    function: str
    arity: int
