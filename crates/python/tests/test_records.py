"""Game files and decisions."""

import pickle

import numpy as np
import pytest

import outflank
from outflank import Games, OutflankError


def test_embedded_games():
    games = outflank.embedded_games()
    assert len(games) == 10_000
    record = games[0]
    assert record.to_game().position == record.end
    assert record.random[:10] == [True] * 10 and not any(record.random[10:])
    assert record.score == record.result


def test_wthor_counts(data):
    """The counts are those of the data folder's description."""
    games = outflank.read_games(data / "wthor")
    assert len(games) == 114_871
    info, arrays = games.info(), games.arrays()
    assert (min(info["year"]), max(info["year"])) == (1977, 2015)
    assert (arrays["moves"][:, 0] == 37).all(), "every game starts with f5"
    assert arrays["length"].sum() == 6_874_503
    unfinished = sum(not record.end.is_over for record in games)
    assert unfinished == 433
    wrong = sum(r.result != r.score for r in games if not r.end.is_over)
    assert wrong == 401
    tan = outflank.read_games(data / "wthor", years=(1990, 1995), by="tamenori")
    assert 0 < len(tan) < len(games)
    assert all("tamenori" in (r.black + r.white).lower() and 1990 <= r.year <= 1995 for r in tan[:50])


def test_formats(tmp_path):
    transcript = tmp_path / "games.txt"
    transcript.write_text("f5d6c3d3c4\nf5f6e6\n")
    games = outflank.read_games(transcript)
    assert [str(record) for record in games] == games.transcripts() == ["f5d6c3d3c4", "f5f6e6"]
    boards = tmp_path / "positions.obf"
    boards.write_text(f"{outflank.Position()};\n")
    assert outflank.read_games(str(boards))[0].start == outflank.Position()
    ggf = "(;GM[Othello]PC[x]PB[Ann]PW[Bob]RE[?]TI[1]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[f5//1.5]W[d6];)"
    record = outflank.parse_games(ggf, "a.ggf")[0]
    assert (record.black, record.white, record.moves) == ("Ann", "Bob", ["f5", "d6"])
    assert len(outflank.read_games([transcript, boards])) == 3


@pytest.mark.parametrize("name", ["games.wtb", "games.ggf", "games.txt"])
def test_saved_games_are_read_again(games, tmp_path, name):
    few = games[:20]
    dropped = few.save(tmp_path / name)
    again = outflank.read_games(tmp_path / name)
    assert again.transcripts() == few.transcripts()
    if name == "games.ggf":
        # The embedded games mark random moves, which no format but the own one stores.
        assert [r.score for r in again] == [r.score for r in few]
    assert all(0 < count <= 20 for count in dropped.values())
    with pytest.raises(OutflankError, match="extension"):
        few.save(tmp_path / "games.doc")
    with pytest.raises(OutflankError, match="positions"):
        few.save(tmp_path / "games.obf")


def test_duplicate_games(games):
    twice = games[:5] + games[2:8]
    assert twice.unique() == games[:8]
    assert len((games + games).unique()) == len({str(record) for record in games})


@pytest.mark.parametrize(
    "content", [b"", b"f5f5\n", b"\xff\xfe\x00", b"(;GM[Othello]", b"f5" * 100, b"\0" * 1000]
)
def test_bad_files_raise(tmp_path, content):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(OutflankError, match="bad.txt"):
        outflank.read_games(path)


def test_missing_files_raise(tmp_path):
    with pytest.raises(OutflankError, match="nothing"):
        outflank.read_games(tmp_path / "nothing.wtb")
    with pytest.raises(OutflankError, match="no game files"):
        outflank.read_games(tmp_path)
    with pytest.raises(OutflankError):
        outflank.read_games([])


def test_indexing(games):
    assert isinstance(games[0], outflank.Record) and isinstance(games[:3], Games)
    assert games[-1] == games[len(games) - 1]
    assert games[np.array([3, 1])][1] == games[1]
    mask = np.zeros(len(games), bool)
    mask[5] = True
    assert len(games[mask]) == 1 and games[mask][0] == games[5]
    with pytest.raises(IndexError):
        games[len(games)]
    with pytest.raises(IndexError):
        games[[0, 10**9]]
    assert len(games[:4] + games[:2]) == 6
    assert Games(list(games[:4])) == games[:4]
    with pytest.raises(OutflankError):
        Games(["f5"])
    with pytest.raises(OutflankError, match="not an index"):
        games["a"]
    assert list(iter(games[:3])) == [games[0], games[1], games[2]]


def test_arrays(games):
    arrays = games.arrays()
    position = outflank.Positions(arrays["own"], arrays["other"], arrays["side"])
    for column in range(arrays["moves"].shape[1]):
        moves = arrays["moves"][:, column]
        position = position.play(np.where(moves == 255, 64, moves))
    # The difference and the score differ by empty squares, which count for the winner.
    assert np.array_equal(np.sign(position.disc_differences), np.sign(arrays["score"]))
    assert (arrays["length"] == [len(record) for record in games]).all()


def test_pandas(games):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(games.info())
    assert len(frame) == len(games)
    assert frame.score.mean() == np.mean([record.score for record in games])


def test_decisions_equal_the_exported_files(games, tmp_path):
    decisions = games.decisions(random=False)
    decisions.save_npz(tmp_path / "decisions.npz")
    arrays = decisions.arrays()
    for name, array in arrays.items():
        exported = np.load(tmp_path / "decisions.npz")[name]
        assert exported.dtype == array.dtype and np.array_equal(exported, array)
    assert outflank.load_decisions(arrays) == decisions
    assert outflank.load_decisions(tmp_path / "decisions.npz") == decisions
    decisions.save_csv(tmp_path / "decisions.csv")
    lines = (tmp_path / "decisions.csv").read_text().splitlines()
    assert len(lines) == len(decisions) + 1


def test_decision_filters(games):
    every = games.decisions()
    assert len(every) == sum(len(record) for record in games)
    assert len(games.decisions(random=False)) == len(every) - 10 * len(games)
    choices = games.decisions(forced=False)
    assert choices == every.choices()
    position, move = every.position(0)
    assert move in position.moves
    unique = every.unique()
    arrays = every.arrays()
    rows = np.stack([arrays["own"], arrays["other"], arrays["move"].astype(np.uint64)], axis=1)
    assert len(unique) == len(np.unique(rows, axis=0))
    assert every[:10] == every[list(range(10))]


def test_splits(games):
    train, test = games.split(0.8, 0.2, seed=3)
    assert (len(train), len(test)) == (800, 200)
    again = games.split(0.8, 0.2, seed=3)[0]
    assert again == train and games.split(800, 200, seed=4)[0] != train
    assert train.overlap(test) == 0 and train.overlap(train) == len(train)
    a, b = games.decisions().split(100, 50)
    assert (len(a), len(b)) == (100, 50)
    with pytest.raises(OutflankError):
        games.split(0.8, 0.4)
    with pytest.raises(OutflankError):
        games.split(10**6)
    with pytest.raises(OutflankError):
        games.split()


def test_pickle(games):
    few = games[:20]
    assert pickle.loads(pickle.dumps(few)) == few
    assert pickle.loads(pickle.dumps(few[0])) == few[0]
    decisions = few.decisions()
    assert pickle.loads(pickle.dumps(decisions)) == decisions


def test_hostile_decisions():
    start = outflank.Position().own_other
    good = {"own": [start[0]], "other": [start[1]], "move": [19]}
    assert len(outflank.load_decisions(good)) == 1
    with pytest.raises(OutflankError, match="no array 'own'"):
        outflank.load_decisions({"other": [1]})
    for change in [{"move": [0]}, {"move": [64]}, {"own": [start[1]], "other": [start[1]]}, {"side": [2]}]:
        with pytest.raises(OutflankError):
            outflank.load_decisions({**good, **change})
