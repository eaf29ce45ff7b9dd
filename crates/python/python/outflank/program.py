"""The command line of Outflank as part of the package.

`python -m outflank` is the program `outflank`; `run` calls it from Python:

>>> outflank.program.run("perft", 8)["leaves"]
390216
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outflank import _outflank
from outflank._outflank import OutflankError


def command() -> list[str]:
    """Returns the command that runs the program: that of OUTFLANK_PROGRAM, this package, or the
    program on the PATH."""
    if given := os.environ.get("OUTFLANK_PROGRAM"):
        return [given]
    if hasattr(_outflank, "run_program"):
        return [sys.executable, "-m", "outflank"]
    if found := shutil.which("outflank"):
        return [found]
    raise OutflankError(
        "the program outflank was not found; install it with `cargo install --path crates/outflank`, "
        "or set OUTFLANK_PROGRAM to its path"
    )


def words(options: Mapping[str, Any]) -> list[str]:
    """Converts keyword arguments to options of the command line.

    An underscore becomes a hyphen. True gives the bare option; None and False are left out; a list
    gives several values.
    """
    result: list[str] = []
    for name, value in options.items():
        option = "--" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            result.append(option)
        elif isinstance(value, (list, tuple)):
            result.extend([option, *(os.fspath(v) if isinstance(v, os.PathLike) else str(v) for v in value)])
        else:
            result.extend([option, os.fspath(value) if isinstance(value, os.PathLike) else str(value)])
    return result


def run(*arguments: Any, check: bool = True, **options: Any) -> dict[str, Any]:
    """Runs a command of the program with --json and returns its result.

    Raises OutflankError with the text of the program's error. Ctrl-C stops the program, which saves
    its state, and raises KeyboardInterrupt.
    """
    line = [*command(), *map(str, arguments), *words(options), "--json"]
    return run_line(line, check=check)


POLL_SECONDS = 0.2
"""Interval at which `poll` is called."""


def run_line(
    line: Sequence[str], *, check: bool = True, poll: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Runs a command line that prints JSON and returns its result.

    `poll` is called regularly while the program runs. An exception in it stops the program.
    """
    # In a session of its own the program receives no signal of the terminal, only the one sent below.
    process = subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        while True:
            try:
                output, errors = process.communicate(timeout=POLL_SECONDS if poll else None)
                break
            except subprocess.TimeoutExpired:
                if poll:
                    poll()
    except BaseException:
        _stop(process)
        raise
    if process.returncode == 130:
        raise KeyboardInterrupt(errors.strip())
    if process.returncode and check:
        raise OutflankError(_error_text(output, errors))
    return json.loads(output) if output.strip() else {}


def _stop(process: subprocess.Popen[str]) -> None:
    """Requests a stop and waits until the program has saved its state; a second Ctrl-C ends it."""
    try:
        if os.name == "nt":
            process.terminate()
        else:
            process.send_signal(signal.SIGINT)
        process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise


def _error_text(output: str, errors: str) -> str:
    """Returns the error of the program's JSON document, or its messages."""
    for text in (output, *reversed(errors.splitlines())):
        try:
            document = json.loads(text)
        except ValueError:
            continue
        error = document.get("error") if isinstance(document, dict) else None
        if isinstance(error, dict):
            return ": ".join(error[key] for key in ("message", "hint") if error.get(key))
    return errors.strip().removeprefix("error: ") or "the program failed without a message"


def program_argv(arguments: Sequence[str]) -> list[str]:
    """Returns argv for the program: its name, then the arguments of `python -m outflank`."""
    return ["outflank", *arguments]
