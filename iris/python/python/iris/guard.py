"""Other packages are imported as `iris`, too. Owns the check that none was installed into the folder of this one, where the files of both
would be mixed: whichever came second has replaced files of the first, and what fails of that fails late and strangely.
"""

from __future__ import annotations

import os
from typing import Iterable

# Everything that this package puts into its folder; a test holds it against what is there.
OURS = frozenset(
    "__init__ __main__ _iris actors aio bare codec guard hub kinds mesh nodes passed processes py reports runtime sent supervision terms tools versions virtual watch"
    .split()
)  # fmt: skip


def foreign(folder: str) -> list[str]:
    """The modules and packages in a folder that are not ours."""
    found = []
    for entry in os.scandir(folder):
        name, dot, kind = entry.name.partition(".")
        if name in OURS or name == "__pycache__":
            continue
        if kind == "py" or (not dot and os.path.exists(os.path.join(entry.path, "__init__.py"))):
            found.append(name)
    return sorted(found)


def check(folders: Iterable[str]) -> None:
    """Raises `ImportError` if another package named `iris` lies in the same folder."""
    for folder in folders:
        others = foreign(folder) if os.path.isdir(folder) else []
        if others:
            raise ImportError(
                f"{folder} has modules of another package named iris ({', '.join(others[:5])}): one environment can hold pithos-iris "
                "or that one; uninstall both and install the one that is wanted"
            )
