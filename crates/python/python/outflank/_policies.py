"""Checks what the Python functions of players return. The extension module calls these functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outflank._outflank import OutflankError, Position
from outflank.batch import Positions


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def score_squares(
    function: Callable[[Positions], Any],
    own: NDArray[np.uint64],
    other: NDArray[np.uint64],
    side: NDArray[np.uint8],
) -> NDArray[np.float32]:
    """Returns the scores of all squares (n x 64) of Othello positions."""
    positions = Positions(own, other, side)
    answer = function(positions)
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().numpy()
    answer = np.asarray(answer)
    count = len(positions)
    if answer.shape == (count,) and answer.dtype.kind in "iu":
        if not ((answer >= 0) & (answer < 64)).all():
            raise OutflankError(f"{_name(function)} returned a square outside 0 to 63")
        scores = np.zeros((count, 64), np.float32)
        scores[np.arange(count), answer.astype(np.intp)] = 1.0
        legal = positions.mask[np.arange(count), answer.astype(np.intp)]
        if not legal.all():
            row = int(np.argmin(legal))
            raise OutflankError(
                f"{_name(function)} returned square {answer[row]}, which is not a legal move of "
                f"{positions[row]}"
            )
        return scores
    if answer.shape != (count, 64):
        raise OutflankError(
            f"{_name(function)} returned an array of shape {answer.shape}; it must return scores of "
            f"shape ({count}, 64) or squares of shape ({count},)"
        )
    scores = np.ascontiguousarray(answer, np.float32)
    if np.isnan(scores[positions.mask]).any():
        raise OutflankError(f"{_name(function)} returned NaN as the score of a legal move")
    return scores


def score_moves(
    function: Callable[[list[Position]], Any], positions: list[Position]
) -> list[list[float]]:
    """Returns the scores of the moves of positions of any game."""
    answer = [[float(score) for score in scores] for scores in function(positions)]
    expected = [len(position.moves) for position in positions]
    if [len(scores) for scores in answer] != expected:
        raise OutflankError(
            f"{_name(function)} must return one list of scores per position, with one score per move"
        )
    if any(np.isnan(scores).any() for scores in answer):
        raise OutflankError(f"{_name(function)} returned NaN as a score")
    return answer
