"""Progress callbacks.

Long functions take `progress`: `True` for a tqdm bar, or a function that receives
`(done, total, message)`. An exception in the function stops the work and is raised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Callback = Callable[[int, int, str], None]


class tqdm_progress:
    """A progress callback that shows a tqdm bar, in a terminal or a notebook.

    >>> outflank.play_match("heuristic", "random", games=100, progress=tqdm_progress())
    """

    def __init__(self, desc: str | None = None, unit: str = "it", **options: Any) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(desc=desc, unit=unit, **options)

    def __call__(self, done: int, total: int, message: str) -> None:
        """Shows `done` of `total` units and a message."""
        self._bar.total = total
        self._bar.n = done
        if message:
            self._bar.set_postfix_str(message, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()


def run_with_progress(
    progress: bool | Callback | None, unit: str, work: Callable[[Callback | None], Any]
) -> Any:
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


def with_progress(function: Callable[..., Any], unit: str) -> Callable[..., Any]:
    """Returns a function whose argument `progress` may be `True`."""

    @functools.wraps(function)
    def wrapper(*args: Any, progress: bool | Callback | None = None, **options: Any) -> Any:
        def work(callback: Callback | None) -> Any:
            return function(*args, progress=callback, **options)

        return run_with_progress(progress, unit, work)

    return wrapper
