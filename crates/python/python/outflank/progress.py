"""Progress callbacks.

Long functions take `progress`: `True` for a tqdm bar, or a function that receives
`(done, total, message)`, with a total of 0 if it is unknown. An exception in the function stops the work and is raised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Callback = Callable[[int, int, str], None]

P = ParamSpec("P")
R = TypeVar("R")


class tqdm_progress:
    """A progress callback that shows a tqdm bar, in a terminal or a notebook.

    >>> outflank.play_match("heuristic", "random", games=100, progress=tqdm_progress())
    """

    def __init__(self, desc: str | None = None, unit: str = "it", **options: Any) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(desc=desc, unit=unit, **options)

    def __call__(self, done: int, total: int, message: str) -> None:
        """Shows `done` of `total` units and a message."""
        # The total of an experiment is unknown.
        self._bar.total = total or None
        self._bar.n = done
        if message:
            self._bar.set_postfix_str(message, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()


def run_with_progress(
    progress: bool | Callback | None, unit: str, work: Callable[[Callback | None], R]
) -> R:
    """Calls `work` with a callback; `True` stands for a tqdm bar."""
    if progress is None or progress is False:
        return work(None)
    if progress is not True:
        return work(progress)
    bar = tqdm_progress(unit=f" {unit}")
    try:
        return work(bar)
    finally:
        bar.close()


def with_progress(function: Callable[P, R], unit: str) -> Callable[P, R]:
    """Returns a function whose argument `progress` may be `True`."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **options: P.kwargs) -> R:
        progress: Any = options.pop("progress", None)

        def work(callback: Callback | None) -> R:
            return function(*args, **{**options, "progress": callback})  # type: ignore[arg-type]

        return run_with_progress(progress, unit, work)

    return wrapper
