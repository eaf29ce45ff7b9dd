"""Batches of Othello positions as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outflank import _outflank
from outflank._outflank import Position

NO_MOVE = 64
"""The move of a finished game in a batch, which changes nothing."""


def _array(values: ArrayLike, dtype: type) -> NDArray[Any]:
    """Converts to a contiguous array of one dimension without changing a value."""
    array = np.asarray(values)
    if array.dtype != dtype:
        if array.size and not np.can_cast(array.dtype, dtype, "same_kind"):
            if array.dtype.kind not in "iub" or array.min() < 0:
                raise _outflank.OutflankError(
                    f"expected an array of {np.dtype(dtype)}, not of {array.dtype}"
                )
        if array.size and array.dtype.kind in "iu" and int(array.max()) > np.iinfo(dtype).max:
            raise _outflank.OutflankError(
                f"{array.max()} does not fit into {np.dtype(dtype)}"
            )
        array = array.astype(dtype)
    return np.ascontiguousarray(np.atleast_1d(array).ravel())


class Positions:
    """A batch of Othello positions. A batch is immutable: play() returns a new one.

    `own` and `other` are the bitboards (uint64, bit 0 is a1, bit 63 is h8) of the side to move and
    of its opponent, `side` is the side to move (uint8, 0 black, 1 white), and `legal` holds the legal
    moves as bitboards. The side to move has a legal move unless the game is over.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> positions = outflank.Positions.start(1000)
    >>> while not positions.is_over.all():
    ...     positions = positions.play(positions.random_moves(rng))
    >>> positions.disc_differences.mean()
    """

    __slots__ = ("legal", "other", "own", "side")

    own: NDArray[np.uint64]
    other: NDArray[np.uint64]
    side: NDArray[np.uint8]
    legal: NDArray[np.uint64]

    def __init__(self, own: ArrayLike, other: ArrayLike, side: ArrayLike = 0) -> None:
        own, other = _array(own, np.uint64), _array(other, np.uint64)
        side = np.asarray(side)
        if side.ndim == 0:
            side = np.full(len(own), side)
        arrays = _outflank.normalize(own, other, _array(side, np.uint8))
        self.own, self.other, self.side, self.legal = arrays

    @classmethod
    def _from_arrays(cls, arrays: tuple[NDArray[Any], ...]) -> Positions:
        batch = cls.__new__(cls)
        batch.own, batch.other, batch.side, batch.legal = arrays
        return batch

    @classmethod
    def start(cls, count: int) -> Positions:
        """Returns `count` starting positions."""
        own, other = Position().own_other
        return cls(np.full(count, own, np.uint64), np.full(count, other, np.uint64))

    @classmethod
    def of(cls, positions: Positions | Position | Iterable[Position]) -> Positions:
        """Returns a batch of single positions; a batch is returned unchanged."""
        if isinstance(positions, Positions):
            return positions
        if isinstance(positions, Position):
            positions = [positions]
        items = list(positions)
        if not all(isinstance(item, Position) for item in items):
            raise _outflank.OutflankError("expected Positions or a list of Position")
        boards = [position.own_other for position in items]
        own = np.array([own for own, _ in boards], np.uint64)
        other = np.array([other for _, other in boards], np.uint64)
        side = np.array([position.side == "white" for position in items], np.uint8)
        return cls(own, other, side)

    def __len__(self) -> int:
        return len(self.own)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Position: ...

    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> Positions: ...

    def __getitem__(self, index: Any) -> Position | Positions:
        """Returns a Position for an integer, otherwise the batch that NumPy indexing selects."""
        if isinstance(index, (int, np.integer)):
            own, other = int(self.own[index]), int(self.other[index])
            if self.side[index]:
                return Position.from_discs(other, own, "white")
            return Position.from_discs(own, other, "black")
        arrays = (self.own, self.other, self.side, self.legal)
        return self._from_arrays(tuple(np.ascontiguousarray(a[index]) for a in arrays))

    def __iter__(self) -> Iterator[Position]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Positions):
            return NotImplemented
        return bool(
            np.array_equal(self.own, other.own)
            and np.array_equal(self.other, other.other)
            and np.array_equal(self.side, other.side)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<outflank.Positions: {len(self)} positions>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Positions, (self.own, self.other, self.side)

    @property
    def legal_moves(self) -> NDArray[np.uint64]:
        """The legal moves as bitboards; 0 where the game is over."""
        return self.legal

    @property
    def is_over(self) -> NDArray[np.bool_]:
        """Whether each game is over."""
        is_over: NDArray[np.bool_] = self.legal == 0
        return is_over

    @property
    def disc_differences(self) -> NDArray[np.int8]:
        """Black's discs minus White's on each board."""
        return _outflank.disc_differences(self.own, self.other, self.side)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The legal moves as a mask of n x 64."""
        bits = self.legal.astype("<u8").view(np.uint8).reshape(-1, 8)
        mask: NDArray[np.bool_] = np.unpackbits(bits, axis=1, bitorder="little").astype(np.bool_)
        return mask

    def play(self, moves: ArrayLike) -> Positions:
        """Plays one square in each position, and forced passes. Where a game is over, use 64."""
        moves = _array(moves, np.uint8)
        return self._from_arrays(_outflank.play(self.own, self.other, self.side, moves))

    def random_moves(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Draws a legal move of each position with equal probabilities; 64 where a game is over."""
        bits = rng.integers(0, 1 << 64, len(self), dtype=np.uint64)
        return _outflank.select_moves(self.legal, bits)

    def planes(self, legal: bool = False) -> NDArray[np.float32]:
        """Returns planes of 0 and 1 (n x channels x 8 x 8): own discs, the opponent's discs and, if
        requested, the legal moves."""
        return _outflank.planes(self.own, self.other, self.legal if legal else None)

    def transform(self, symmetry: int) -> Positions:
        """Returns the positions transformed by one of the eight symmetries, 0 to 7."""
        own, other, legal = (
            _outflank.transform(bits, symmetry) for bits in (self.own, self.other, self.legal)
        )
        return self._from_arrays((own, other, self.side, legal))

    def canonical(self) -> tuple[Positions, NDArray[np.uint8]]:
        """Returns the smallest of the eight symmetric boards, and the symmetry that leads to it."""
        own, other, symmetry = _outflank.canonical(self.own, self.other)
        return Positions(own, other, self.side), symmetry

    def unique(self) -> tuple[Positions, NDArray[np.intp]]:
        """Returns the distinct positions, and the index of the first occurrence of each."""
        rows = np.stack([self.own, self.other, self.side.astype(np.uint64)], axis=1)
        _, first = np.unique(rows, axis=0, return_index=True)
        first = np.sort(first)
        return self[first], first


def random_games(count: int, rng: np.random.Generator) -> Positions:
    """Plays random games to the end and returns the final positions."""
    positions = Positions.start(count)
    while not positions.is_over.all():
        positions = positions.play(positions.random_moves(rng))
    return positions


def transform_squares(squares: ArrayLike, symmetry: int) -> NDArray[np.uint8]:
    """Returns squares (0 to 63) transformed by one of the eight symmetries of the board."""
    squares = _array(squares, np.uint8)
    if squares.size and int(squares.max()) > 63:
        raise _outflank.OutflankError(f"{squares.max()} is not a square; use 0 to 63")
    bits = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
    transformed = _outflank.transform(bits, symmetry).astype("<u8").view(np.uint8).reshape(64, 8)
    table = np.unpackbits(transformed, axis=1, bitorder="little").argmax(axis=1)
    result: NDArray[np.uint8] = table.astype(np.uint8)[squares]
    return result
