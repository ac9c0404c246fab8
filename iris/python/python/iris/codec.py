"""Classes whose objects travel between nodes. Owns the registry; the bytes are the compiled half's (`terms.rs`). A registered object is a map
with its fields and, under `__type__` (`__struct__` for a struct of Elixir's), the name that both sides know: data for every node, and an object
again where that name is registered. Nothing is ever made of a class that was not registered.
"""

from __future__ import annotations

import dataclasses
import operator
from typing import Any, Callable, Mapping, Optional, TypeVar, overload

from iris.terms import Atom

C = TypeVar("C", bound=type)
Pack = Callable[[Any], Mapping[str, Any]]
Unpack = Callable[[dict[str, Any]], Any]

# Class to (key, name, pack); (key, name) to unpack. Read by the compiled half.
packers: dict[type, tuple[Atom, Atom, Pack]] = {}
unpackers: dict[tuple[str, str], Unpack] = {}


def _of_dataclass(cls: Any) -> tuple[Pack, Unpack]:
    names = [field.name for field in dataclasses.fields(cls) if field.init]
    return lambda made: {name: getattr(made, name) for name in names}, lambda fields: cls(**fields)


@overload
def register_type(cls: C, /, name: Optional[str] = None, *, pack: Optional[Pack] = None, unpack: Optional[Unpack] = None) -> C: ...
@overload
def register_type(*, name: Optional[str] = None, pack: Optional[Pack] = None, unpack: Optional[Unpack] = None) -> Callable[[C], C]: ...
def register_type(
    cls: Any = None, /, name: Optional[str] = None, *, pack: Optional[Pack] = None, unpack: Optional[Unpack] = None
) -> Any:
    """Lets objects of a class travel between nodes: `@iris.register_type` over a dataclass or a named tuple, in the programs of both sides.

    `name` is what both call it (the class's own unless given; `Elixir.Shop.Order` for the struct `Shop.Order`). Other classes say how:
    `pack(object)` gives the fields as a mapping of names to values, `unpack(fields)` makes the object of them. An object whose fields do not
    fit (`unpack` raises) arrives as the dictionary that it travelled as.
    """
    if cls is None:
        return lambda later: register_type(later, name, pack=pack, unpack=unpack)
    if (pack is None) != (unpack is None):
        raise TypeError("pack and unpack belong together")
    if pack is None or unpack is None:
        if dataclasses.is_dataclass(cls):
            pack, unpack = _of_dataclass(cls)
        elif hasattr(cls, "_asdict") and hasattr(cls, "_fields"):
            pack, unpack = operator.methodcaller("_asdict"), lambda fields: cls(**fields)
        else:
            raise TypeError(f"{cls.__name__} is neither a dataclass nor a named tuple: say how with pack= and unpack=")
    called = cls.__name__ if name is None else name
    key = "__struct__" if called.startswith("Elixir.") else "__type__"
    known = next((other for other, row in packers.items() if row[:2] == (key, called)), cls)
    if known is not cls and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"the name {called!r} is that of {known.__module__}.{known.__qualname__} already: give another name=")
    packers.pop(known, None)
    packers[cls] = (Atom(key), Atom(called), pack)
    unpackers[key, called] = unpack
    return cls


def packed(made: Any) -> Mapping[Any, Any]:
    """What a registered object travels as."""
    key, name, pack = packers[type(made)]
    return {key: name, **{Atom(field): value for field, value in pack(made).items()}}


def unpacked(key: str, name: str, came: dict[Any, Any]) -> Any:
    """The object, or the dictionary if it is none of a registered class or does not fit."""
    unpack = unpackers.get((key, name))
    if unpack is None or not all(type(field) is Atom for field in came):
        return came
    try:
        return unpack({str(field): value for field, value in came.items() if field != key})
    except Exception:
        return came
