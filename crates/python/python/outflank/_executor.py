"""Runs the tasks of matches, leagues and experiments on an executor of concurrent.futures."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

from outflank import _outflank

WAIT_SECONDS = 0.1
"""Time after which a stop request is checked."""


def execute_task(kind: str, task: bytes, blobs: dict[str, bytes]) -> bytes:
    """Executes one task in a process of the executor."""
    return _outflank.execute_task(kind, task, blobs)


class Runner:
    """Submits tasks to an executor and collects their results."""

    def __init__(self, executor: Executor) -> None:
        if not hasattr(executor, "submit"):
            raise _outflank.OutflankError(
                f"executor must be a concurrent.futures.Executor, not {type(executor).__name__}"
            )
        self._executor = executor
        self._open: dict[Future[bytes], int] = {}
        self.workers = _worker_count(executor)

    def submit(self, number: int, kind: str, task: bytes, blobs: dict[str, bytes]) -> None:
        """Submits a task; its result has this number."""
        future = self._executor.submit(execute_task, kind, task, blobs)
        self._open[future] = number

    def finished(self) -> list[tuple[int, bytes]]:
        """Waits a moment and returns the results that have arrived."""
        done, _ = wait(self._open, timeout=WAIT_SECONDS, return_when=FIRST_COMPLETED)
        return [(self._open.pop(future), future.result()) for future in done]

    def cancel(self) -> None:
        """Cancels the tasks that have not started."""
        for future in self._open:
            future.cancel()
        self._open.clear()


def _worker_count(executor: Executor) -> int:
    """Returns the number of workers, or the number of processors if it is unknown."""
    # Process and thread pools, then mpi4py, then Dask.
    count = getattr(executor, "_max_workers", None)
    if not isinstance(count, int):
        count = getattr(executor, "num_workers", None)
    if not isinstance(count, int):
        client = getattr(executor, "_client", None)
        threads: dict[str, int] = getattr(client, "nthreads", dict)()
        count = sum(threads.values()) if threads else None
    return max(1, count or os.cpu_count() or 1)
