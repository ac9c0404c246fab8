"""What comes back: results of runs and cells as plain objects, and the arguments of the tools in one place for both halves of the package."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from ._connection import PithosError

#: Seconds that one wait asks the server for; longer ones ask again.
WAIT_SLICE = 60.0


class CellError(PithosError):
    """A cell that threw, hit a limit or crashed. `state` and `limit` say which."""

    def __init__(self, message: str, state: str, limit: str | None) -> None:
        super().__init__(message)
        self.state = state
        self.limit = limit


@dataclass(frozen=True)
class Result:
    """A run as it is now: ended (`state` is `done` or `stopped`) or still `running`."""

    job: str
    session: str
    state: str
    #: Exit status; None while it runs or when its shell died.
    status: int | None
    #: Both streams in order, within the budget; notes of the server in brackets at its end.
    output: str
    #: Standard output by itself, within the budget; no notes.
    stdout: str = ""
    #: Standard error by itself, likewise. Empty when the run has a terminal, which is one stream.
    stderr: str = ""
    #: The status of every stage of each pipeline.
    pipelines: list[list[int]] = field(default_factory=list)
    stopped_by: str | None = None
    killed: list[dict[str, Any]] = field(default_factory=list)
    denials: list[dict[str, Any]] = field(default_factory=list)
    waiting_for_input: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)
    truncated: bool = False
    #: For waits with a condition: whether it came.
    matched: bool | None = None
    #: Everything the server said.
    data: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """Both streams in order with the server's notes: what a reader is shown."""
        return self.output

    @property
    def ok(self) -> bool:
        """It ended with status 0 and no stage of a pipeline failed behind that."""
        hidden = any(stage not in (0, 141) for stages in self.pipelines for stage in stages)
        return self.state == "done" and self.status == 0 and not hidden

    def check(self) -> Result:
        """This result, or an error when it is not `ok`."""
        if not self.ok:
            raise PithosError(f"status {self.status} ({self.state}): {self.output.strip()[-2000:]}")
        return self


def checked(result: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The structured part and the text, or the server's message as an error."""
    text = result["content"][0]["text"] if result.get("content") else ""
    if result.get("isError"):
        raise PithosError(text.strip())
    return result.get("structuredContent") or {}, text


def run_result(result: dict[str, Any]) -> Result:
    """A result of the run and job tools."""
    data, text = checked(result)
    named = ("stopped_by", "waiting_for_input", "matched")
    lists = ("pipelines", "killed", "denials", "notes")
    return Result(
        job=data["job"],
        session=data["session"],
        state=data["state"],
        status=data.get("status"),
        output=text,
        stdout=data.get("stdout", ""),
        stderr=data.get("stderr", ""),
        truncated=data.get("truncated", False),
        data=data,
        **{name: data.get(name) for name in named},
        **{name: data.get(name, []) for name in lists},
    )


def cell_value(result: dict[str, Any]) -> Any:
    """The value of a cell as JSON, or its text when it is none."""
    data, text = checked(result)
    if data["state"] != "done":
        raise CellError(text.strip(), data["state"], data.get("limit"))
    return data.get("value", text.rstrip("\n"))


def session_name(result: dict[str, Any]) -> str:
    """The handle of an opened or forked session."""
    return checked(result)[0]["session"]


def milliseconds(seconds: float | None) -> int | None:
    """For the tools' arguments."""
    return None if seconds is None else max(1, round(seconds * 1000))


def run_arguments(command: str, session: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the run tool."""
    known = {
        "cwd", "env", "stdin", "interactive", "terminal", "timeout", "yield_after", "background", "output_bytes", "output_lines", "ansi"
    }  # fmt: skip
    unknown = set(options) - known
    if unknown:
        raise TypeError(f"run() takes no {', '.join(sorted(unknown))}; it takes {', '.join(sorted(known))}")
    timeout, yield_after = options.pop("timeout", None), options.pop("yield_after", None)
    cwd, terminal = options.pop("cwd", None), options.pop("terminal", None)
    return {
        "command": command,
        "session": session,
        "streams": True,
        "cwd": None if cwd is None else str(cwd),
        "terminal": None if terminal is None else dict(zip(("columns", "rows"), terminal, strict=True)),
        "timeout_ms": milliseconds(timeout),
        "yield_ms": None if yield_after is None else round(yield_after * 1000),
        **options,
    }


def server_arguments(policy: str | Path, cwd: str | Path | None, audit: str | Path | None) -> list[str]:
    """The command line of a server."""
    arguments = ["--sandbox", str(policy)]
    if cwd is not None:
        arguments += ["--cwd", str(cwd)]
    if audit is not None:
        arguments += ["--audit", str(audit)]
    return arguments


Convert = Callable[[dict[str, Any]], Any]
