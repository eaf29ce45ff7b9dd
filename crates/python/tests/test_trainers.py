"""Methods that learn by playing, through the program."""

import concurrent.futures
import multiprocessing
import pickle

import pytest

import outflank
from outflank import OutflankError


@pytest.fixture(autouse=True)
def use_program(program, monkeypatch):
    """Uses the program of the checkout if the package does not contain it."""
    if not hasattr(outflank._outflank, "run_program"):
        monkeypatch.setenv("OUTFLANK_PROGRAM", program)


OPTIONS = {"measurements": 1, "match_games": 2}


@pytest.mark.parametrize(
    "trainer",
    [
        outflank.TDL(games=200, options=OPTIONS),
        outflank.CTDL(games=4000, population=6, options=OPTIONS),
        outflank.SelfPlay(games=64, games_per_batch=32, options=OPTIONS),
        outflank.ANN(games=64, options=OPTIONS),
    ],
    ids=repr,
)
def test_trainers_learn(trainer):
    sklearn = pytest.importorskip("sklearn.base")
    trainer = sklearn.clone(trainer).fit()
    assert trainer.model_.weight_count > 0 and (trainer.run_ / "config.toml").exists()
    again = sklearn.clone(trainer).fit()
    assert again.model_.to_bytes() == trainer.model_.to_bytes()
    assert 0 < trainer.score(outflank.embedded_games()[:5]) < 1
    match = outflank.play_match(trainer.player("mine"), "random", games=4, random=0.1)
    assert match.counts[0] == 4


def test_progress():
    calls = []
    outflank.TDL(games=4000, options={"measurements": 4, "match_games": 2}).fit(
        progress=lambda *call: calls.append(call)
    )
    assert calls[-1][:2] == (4000, 4000) and "heuristic" in calls[-1][2]
    assert calls == sorted(calls)

    def fail(done, total, message):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        outflank.TDL(games=10**9, options={"measurements": 10_000, "match_games": 2}).fit(progress=fail)


def test_networks_learn_from_games():
    games = outflank.embedded_games()[:40]
    network = outflank.CNN(net="conv4", epochs=1, options={"test_positions": 50}).fit(games)
    assert network.model_.weight_count > 1000 and not network.model_.has_values
    assert network.result_["examples_seen"] > 0


def test_training_runs_spread_over_processes():
    trainer = outflank.TDL(games=200, options=OPTIONS)
    sets, test = [{"seed": 1}, {"seed": 2}], outflank.embedded_games()[:20]
    expected = outflank.sweep(trainer, sets, test=test)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        results = outflank.sweep(trainer, sets, test=test, executor=executor)
    assert [row["score"] for row in results] == [row["score"] for row in expected]
    bytes_of = lambda rows: [row["estimator"].model_.to_bytes() for row in rows]
    assert bytes_of(results) == bytes_of(expected) and len(set(bytes_of(results))) == 2
    assert results[0]["estimator"].run_ is None


def test_gp(tmp_path):
    trainer = outflank.GP(
        rounds=2, depth=1, out=tmp_path / "run", options={"benchmark_opponents": 0, "test_pairs": 0, "match_games": 2}
    ).fit()
    assert outflank.play_match(trainer.player(), "random", games=2).counts[0] == 2
    assert pickle.loads(pickle.dumps(trainer)).player().name == trainer.player().name


def test_errors_of_the_program_are_raised():
    with pytest.raises(OutflankError, match="learns by playing"):
        outflank.TDL(games=10).fit("games.wtb")
    with pytest.raises(OutflankError, match="no-such"):
        outflank.CNN(net="no-such-net", epochs=1).fit()
    with pytest.raises(OutflankError, match="no training budget: .*epochs"):
        outflank.CNN(net="conv4").fit()
    with pytest.raises(OutflankError, match="colour"):
        outflank.TDL(games=10, options={"colour": "red"}).fit()


def test_program():
    assert outflank.program.run("perft", 6)["leaves"] == 8200
    assert outflank.program.words({"a_b": 1, "c": True, "d": None, "e": [1, 2]}) == [
        "--a-b", "1", "--c", "--e", "1", "2",
    ]  # fmt: skip
