"""Observations and actions of the games as arrays.

In checkers an action is one step of a move: the number of its start times 32 plus its target, both
from 0 to 31. A move with several captures takes several steps of the same player.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outflank._outflank import OutflankError, Position
from outflank.batch import Positions


class State(Protocol):
    """A position, and the steps of an unfinished move."""

    shape: tuple[int, int, int]
    actions: int
    position: Position

    def mask(self) -> NDArray[np.int8]:
        """Returns 1 for each legal action."""

    def observe(self, side: str) -> NDArray[np.int8]:
        """Returns the planes of the position from the view of a side."""

    def step(self, action: int) -> str | None:
        """Plays an action. Returns the move if it is complete."""


class OthelloState:
    """Othello: an action is a square, and the planes are own discs and the opponent's discs."""

    shape = (8, 8, 2)
    actions = 64

    def __init__(self) -> None:
        self.position = Position()

    def mask(self) -> NDArray[np.int8]:
        """Returns 1 for each legal square."""
        mask = np.zeros(self.actions, np.int8)
        mask[self.position.actions] = 1
        return mask

    def observe(self, side: str) -> NDArray[np.int8]:
        """Returns the discs of a side and of its opponent."""
        planes = Positions.of(self.position).planes()[0]
        if side != self.position.side:
            planes = planes[::-1]
        observation: NDArray[np.int8] = planes.transpose(1, 2, 0).astype(np.int8)
        return observation

    def step(self, action: int) -> str | None:
        """Plays a square."""
        move = self.position.moves[self.position.actions.index(action)]
        self.position = self.position.play(move)
        return move


def _cell(square: int) -> tuple[int, int]:
    """Returns the row and column of a dark square from 0 to 31; Black's back row is row 0."""
    row = square // 4
    return row, square % 4 * 2 + (row + 1) % 2


def _path(move: str) -> list[int]:
    return [int(square) - 1 for square in move.replace("x", "-").split("-")]


class CheckersState:
    """Checkers: the planes are own men, own kings, the opponent's men and kings, and the square of a
    piece that must continue to capture."""

    shape = (8, 8, 5)
    actions = 32 * 32

    def __init__(self) -> None:
        self.position = Position(game="checkers")
        self._steps: list[int] = []

    def _continuations(self) -> dict[int, list[str]]:
        """Returns the legal actions, each with the moves that contain it next."""
        length = len(self._steps)
        found: dict[int, list[str]] = {}
        for move in self.position.moves:
            path = _path(move)
            if length == 0:
                found.setdefault(path[0] * 32 + path[1], []).append(move)
            elif path[:length] == self._steps:
                found.setdefault(path[length - 1] * 32 + path[length], []).append(move)
        return found

    def mask(self) -> NDArray[np.int8]:
        """Returns 1 for each legal step."""
        mask = np.zeros(self.actions, np.int8)
        mask[list(self._continuations())] = 1
        return mask

    def observe(self, side: str) -> NDArray[np.int8]:
        """Returns the pieces of a side and of its opponent."""
        planes = np.zeros(self.shape, np.int8)
        for section in str(self.position).split(":")[1:]:
            color, squares = section[:1], section[1:]
            if color not in "WB" or not squares:
                continue
            opponent = (color == "W") != (side == "white")
            for text in squares.split(","):
                is_king = text.startswith("K")
                row, column = _cell(int(text.lstrip("K")) - 1)
                planes[row, column, 2 * opponent + is_king] = 1
        if self._steps:
            planes[(*_cell(self._steps[-1]), 4)] = 1
        return planes

    def step(self, action: int) -> str | None:
        """Plays a step. Returns the move once no other step follows."""
        moves = self._continuations()[action]
        if not self._steps:
            self._steps.append(action // 32)
        self._steps.append(action % 32)
        complete = [move for move in moves if _path(move) == self._steps]
        if not complete:
            return None
        self.position = self.position.play(complete[0])
        self._steps = []
        return complete[0]


STATES: dict[str, type[Any]] = {"othello": OthelloState, "checkers": CheckersState}


def new_state(game: str) -> Any:
    """Returns the starting state of a game."""
    if game not in STATES:
        raise OutflankError(f"unknown game '{game}'; use {' or '.join(STATES)}")
    return STATES[game]()
