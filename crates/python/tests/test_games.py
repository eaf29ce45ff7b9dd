"""Positions, games and batches."""

import copy
import pickle
import threading

import numpy as np
import pytest

import outflank
from outflank import Game, OutflankError, Position, Positions

# Published perft results of Othello (passes count as plies) and English draughts.
OTHELLO_PERFT = [1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288]
CHECKERS_PERFT = [1, 7, 49, 302, 1469, 7361, 36768, 179740, 845931]


def test_perft():
    for depth, leaves in enumerate(OTHELLO_PERFT):
        assert outflank.perft(depth) == leaves
    for depth, leaves in enumerate(CHECKERS_PERFT):
        assert outflank.perft(depth, game="checkers") == leaves


def test_perft_counts_passes():
    """Counts the leaves below late positions, where passes are frequent, by playing all moves."""

    def leaves(position, depth, passed=False):
        if depth == 0 or position.is_over:
            return 1
        if passed:
            return leaves(position, depth - 1)
        after = [position.play(move) for move in position.moves]
        return sum(leaves(a, depth - 1, a.side == position.side) for a in after)

    rng = np.random.default_rng(8)
    batch = Positions.start(8)
    for _ in range(52):
        batch = batch.play(batch.random_moves(rng))
    for position in batch:
        for depth in (1, 7, 8, 9):
            assert position.perft(depth) == leaves(position, depth)


def test_moves_are_text_and_integers():
    start = Position()
    assert start.moves == ["d3", "c4", "f5", "e6"]
    assert start.actions == [19, 26, 37, 44]
    assert start.play("f5") == start.play(37) == start.play(np.uint8(37))
    assert start.play("F5") == start.play("f5")
    assert (start.side, start.play("f5").side) == ("black", "white")
    checkers = Position(game="checkers")
    assert len(checkers.moves) == 7 and checkers.actions == list(range(7))
    assert checkers.play(0) == checkers.play(checkers.moves[0])
    assert Position(str(start)) == start
    assert Position.from_discs(start.black, start.white) == start


@pytest.mark.parametrize("move", ["a1", "z9", "", "f5f5", "ü", 0, 64, -1, 2**40, 1.5, None, [], "pass"])
def test_illegal_moves_raise(move):
    with pytest.raises(OutflankError):
        Position().play(move)
    game = Game()
    with pytest.raises(OutflankError):
        game.push(move)
    assert len(game) == 0


@pytest.mark.parametrize("text", ["", "X", "X" * 64, "-" * 63 + " X", "\0" * 66, "🙂" * 64 + " X"])
def test_invalid_positions_raise(text):
    with pytest.raises(OutflankError):
        Position(text)
    with pytest.raises(OutflankError):
        Position(text, "checkers")


def test_other_errors_carry_their_texts():
    with pytest.raises(OutflankError, match="unknown game 'chess'"):
        Position(game="chess")
    with pytest.raises(OutflankError, match="two|black and a white"):
        Position.from_discs(1, 1)
    with pytest.raises(OverflowError):
        Position.from_discs(-1, 0)
    with pytest.raises(OutflankError, match="move 2: "):
        Game("f5f5")
    assert issubclass(OutflankError, ValueError)


def test_games():
    game = Game("f5 d6 c3")
    assert game.moves == ["f5", "d6", "c3"] and str(game) == "f5d6c3"
    assert Game(["f5", "d6", "c3"]) == game == Game([37, 43, 18])
    assert game.positions[0] == Position() and game.positions[-1] == game.position
    assert game.pop() == "c3" and len(game) == 2
    with pytest.raises(OutflankError):
        Game().pop()
    checkers = Game(["11-15", "22-18"], game="checkers")
    assert checkers.position.side == "black"


def test_svg():
    for item in [Position(), Game("f5"), Game(["11-15"], game="checkers")]:
        svg = item._repr_svg_()
        assert svg.startswith("<svg") and svg.rstrip().endswith("</svg>")
        assert "var(" not in svg


@pytest.mark.parametrize(
    "item",
    [
        Position(),
        Position(game="checkers").play(3),
        Game("f5d6"),
        Positions.start(3),
        outflank.Player("champion@4"),
        outflank.Player("material@2", game="checkers", name="m"),
    ],
)
def test_pickle(item):
    restored = pickle.loads(pickle.dumps(item))
    assert repr(restored) == repr(item)
    if not isinstance(item, outflank.Player):
        assert restored == item
        assert copy.deepcopy(item) == item


def test_batches_agree_with_single_positions():
    rng = np.random.default_rng(5)
    batch = Positions.start(50)
    single = [Position() for _ in range(50)]
    passes = 0
    while not batch.is_over.all():
        moves = batch.random_moves(rng)
        sides = batch.side
        batch = batch.play(moves)
        single = [p if p.is_over else p.play(int(m)) for p, m in zip(single, moves)]
        passes += int(((batch.side == sides) & ~batch.is_over).sum())
        assert list(batch) == single
        for row, position in enumerate(single):
            assert np.flatnonzero(batch.mask[row]).tolist() == position.actions
    assert passes > 0
    assert batch.disc_differences.tolist() == [position.result for position in single]
    assert (batch.random_moves(rng) == 64).all()
    assert batch.play(np.full(50, 64, np.uint8)) == batch


def test_random_moves_are_uniform():
    rng = np.random.default_rng(1)
    moves = Positions.start(40_000).random_moves(rng)
    squares, counts = np.unique(moves, return_counts=True)
    assert squares.tolist() == [19, 26, 37, 44]
    # Five standard deviations of a binomial distribution.
    assert np.abs(counts - 10_000).max() < 5 * (40_000 * 0.25 * 0.75) ** 0.5


def test_planes():
    batch = Positions.start(2).play([37, 19])
    planes = batch.planes(legal=True)
    assert planes.shape == (2, 3, 8, 8) and planes.dtype == np.float32
    position = batch[0]
    assert planes[0].sum(axis=(1, 2)).tolist() == [1, 4, len(position.moves)]
    assert planes[0, 2, 5, 5] == 1  # f6
    assert batch.planes().shape == (2, 2, 8, 8)


def test_symmetries():
    rng = np.random.default_rng(2)
    batch = Positions.start(30)
    for _ in range(12):
        batch = batch.play(batch.random_moves(rng))
    smallest, _ = batch.canonical()
    for symmetry in range(8):
        transformed = batch.transform(symmetry)
        assert transformed == Positions(transformed.own, transformed.other, transformed.side)
        assert np.array_equal(transformed.legal, Positions.of(list(transformed)).legal)
        assert transformed[0] == batch[0].transform(symmetry)
        assert transformed.canonical()[0] == smallest
        moves = outflank.transform_squares(batch.random_moves(rng), symmetry)
        transformed.play(moves)  # legal moves stay legal
    with pytest.raises(OutflankError):
        batch.transform(8)
    with pytest.raises(OutflankError):
        outflank.transform_squares([64], 0)
    unique, first = Positions.start(9).unique()
    assert len(unique) == 1 and first.tolist() == [0]


def test_hostile_arrays():
    start = Positions.start(3)
    for moves in [[0, 0, 0], [37, 37], [64, 64, 64], [37, 37, 255], [37.5] * 3, [-1] * 3, [300] * 3]:
        with pytest.raises((OutflankError, OverflowError)):
            start.play(moves)
    with pytest.raises(OutflankError):
        Positions([1], [1])
    with pytest.raises(OutflankError):
        Positions([1, 2], [4])
    with pytest.raises(OutflankError):
        Positions([1], [2], [7])
    with pytest.raises((OutflankError, OverflowError)):
        Positions([-1], [2])
    assert len(Positions([], [])) == 0
    empty = Positions.start(0)
    assert len(empty.play([])) == 0 and empty.planes().shape == (0, 2, 8, 8)
    # Arrays that are not contiguous or have another integer type are converted.
    own = np.repeat(start.own, 2)[::2].astype(np.int64)
    assert Positions(own, start.other) == start


def test_threads():
    """The interpreter lock is released, and results do not depend on threads."""
    results = {}

    def play(seed):
        final = outflank.random_games(500, np.random.default_rng(seed))
        results[seed] = final.disc_differences.sum()

    threads = [threading.Thread(target=play, args=(seed % 2,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (0, 1):
        expected = outflank.random_games(500, np.random.default_rng(seed)).disc_differences.sum()
        assert results[seed] == expected
