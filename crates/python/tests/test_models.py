"""Models and estimators."""

import pickle

import numpy as np
import pytest

import outflank
from outflank import OutflankError, Positions


@pytest.fixture(scope="module")
def positions():
    rng = np.random.default_rng(7)
    batch = Positions.start(300)
    for _ in range(20):
        batch = batch.play(batch.random_moves(rng))
    return batch


def test_policy_scores_are_values_of_afterstates(positions):
    model = outflank.load_model("ipref")
    scores = model.policy(positions)
    assert scores.shape == (300, 64)
    assert np.array_equal(np.isfinite(scores), positions.mask)
    for row in (0, 17, 299):
        position = positions[row]
        after = [position.play(move) for move in position.moves]
        mover = np.full(len(after), positions.side[row], np.uint8)
        values = model.evaluate(after, mover)
        assert np.array_equal(values, scores[row, position.actions])


def test_results_do_not_depend_on_the_batch(positions):
    for name in ["champion", "cnn"]:
        model = outflank.load_model(name)
        few = positions[:6]
        scores = model.policy(few)
        one = np.concatenate([model.policy(few[i : i + 1]) for i in range(6)])
        assert np.array_equal(scores, one)


def test_symmetries(positions):
    model = outflank.load_model("cnn")
    few = positions[:2]
    averaged = model.policy(few, symmetries=8)
    transposed = model.policy(few.transform(4), symmetries=8).reshape(2, 8, 8).transpose(0, 2, 1)
    assert np.allclose(averaged, transposed.reshape(2, 64), atol=1e-4)
    with pytest.raises(OutflankError):
        model.policy(few, symmetries=3)


def test_files(tmp_path, positions):
    model = outflank.load_model("yoshioka")
    for name in ["model.safetensors", "model.wpc", "model.player"]:
        model.save(tmp_path / name)
        loaded = outflank.load_model(str(tmp_path / name))
        assert np.allclose(loaded.policy(positions[:5]), model.policy(positions[:5]), atol=1e-5)
    restored = pickle.loads(pickle.dumps(model))
    assert restored.to_bytes() == model.to_bytes()
    assert (model.kind, model.weight_count) == ("ntuple", len(model.weights))


def test_paths(tmp_path, positions):
    path = tmp_path / "model.safetensors"
    model = outflank.load_model("yoshioka")
    model.save(path)
    assert outflank.load_model(path).to_bytes() == model.to_bytes()
    assert outflank.Player(path).name == "model"
    player = outflank.Player(path, name="yoshioka")
    match = outflank.play_match(player, "random", games=10, random=0.1)
    named = outflank.play_match("yoshioka", "random", games=10, random=0.1)
    assert match.games.transcripts() == named.games.transcripts()


def test_bad_models_raise(tmp_path):
    (tmp_path / "bad.safetensors").write_bytes(b"\xff" * 100)
    for name in ["champoin", str(tmp_path / "bad.safetensors"), str(tmp_path / "no.player"), ""]:
        with pytest.raises(OutflankError):
            outflank.load_model(name)
    with pytest.raises(OutflankError):
        outflank.Model.from_bytes(b"")
    model = outflank.load_model("yoshioka")
    with pytest.raises(OutflankError, match="not a side"):
        model.evaluate(Positions.start(1), np.array([7], np.uint8))
    with pytest.raises(OutflankError, match="list of Position"):
        model.policy([1])
    with pytest.raises(OutflankError, match="use policy"):
        outflank.load_model("cnn").evaluate(Positions.start(1))


ESTIMATORS = [
    outflank.IPref(),
    outflank.IPref(features="1tuple", solver="dual"),
    outflank.IPref(solver="online", epochs=2),
    outflank.Pref(features="1tuple"),
    outflank.Classify(features="1tuple", max_iter=5),
    outflank.MM(features="1tuple", max_iter=5),
    outflank.LSTD(features="1tuple"),
    outflank.MovePredictor(epochs=1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_estimators_learn(estimator, games):
    train, test = games[:100], games[800:900]
    with pytest.raises(OutflankError, match="not fitted"):
        estimator.score(test)
    assert estimator.fit(train) is estimator
    choices = test.decisions(forced=False, random=False).arrays()
    positions = Positions(choices["own"], choices["other"], choices["side"])
    by_chance = (1 / positions.mask.sum(axis=1)).mean()
    assert estimator.score(test) > 1.3 * by_chance
    assert estimator.score(test.decisions(random=False)) == estimator.score(test)
    again = type(estimator)(**estimator.get_params()).fit(list(train))
    assert again.model_.to_bytes() == estimator.model_.to_bytes()
    restored = pickle.loads(pickle.dumps(estimator))
    assert restored.score(test) == estimator.score(test)
    positions = Positions.start(2)
    assert estimator.predict(positions)[0] in positions[0].actions


def test_scikit_learn(games):
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    estimator = outflank.IPref(C=2.0, features="1tuple")
    copy = clone(estimator)
    assert copy is not estimator and copy.get_params() == estimator.get_params()
    search = GridSearchCV(estimator, {"C": [1e-6, 1.0]}, cv=3)
    search.fit(games[:120])
    assert search.best_params_ == {"C": 1.0}
    assert search.best_estimator_.score(games[900:]) > 0.2
    assert len(cross_val_score(outflank.LSTD("1tuple"), games[:90], cv=3)) == 3


def test_wrong_options_raise(games):
    for estimator in [
        outflank.IPref(C=-1),
        outflank.IPref(C=float("nan")),
        outflank.IPref(features="no-such-file"),
        outflank.IPref(solver="quantum"),
        outflank.LSTD(lambda_=2),
        outflank.MM(prior=0),
    ]:
        with pytest.raises(OutflankError):
            estimator.fit(games[:10])
    with pytest.raises(OutflankError, match="no parameter"):
        outflank.IPref().set_params(D=1)
    with pytest.raises(OutflankError):
        outflank.IPref().fit([])


def test_progress_and_stop(games):
    calls = []
    outflank.IPref().fit(games[:50], progress=lambda *call: calls.append(call))
    assert calls and all(done <= total for done, total, _ in calls)

    def fail(done, total, message):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        outflank.IPref().fit(games[:50], progress=fail)
    outflank.IPref().fit(games[:20], progress=True)


def test_interrupted_runs_resume(games, tmp_path):
    def stop(done, total, message):
        if done >= 2:
            raise RuntimeError("stop")

    expected = outflank.IPref().fit(games[:50])
    assert expected.n_iter_ > 3
    assert [row["iteration"] for row in expected.curve_] == list(range(1, expected.n_iter_ + 1))
    with pytest.raises(RuntimeError, match="stop"):
        outflank.IPref().fit(games[:50], checkpoint=tmp_path, progress=stop)
    calls = []
    resumed = outflank.IPref().fit(
        games[:50], checkpoint=tmp_path, progress=lambda *call: calls.append(call)
    )
    assert resumed.model_.to_bytes() == expected.model_.to_bytes()
    assert calls[0][0] >= 2, "the first iterations are not repeated"


def test_accuracy(games):
    decisions = games[:50].decisions(random=False)
    model = outflank.load_model("champion")
    expected = outflank.accuracy(model, decisions)
    assert expected == outflank.accuracy(model.policy, decisions)
    calls = []
    outflank.accuracy(model, decisions, progress=lambda *call: calls.append(call))
    assert sorted(calls)[-1][:2] == (len(decisions), len(decisions))
    outflank.accuracy(model, decisions, progress=True)
    assert expected["choices"]["percent"] > 40
    with pytest.raises(OutflankError, match="shape"):
        outflank.accuracy(lambda positions: np.zeros(3), decisions)


def test_sweep(games):
    results = outflank.sweep(
        outflank.IPref(features="1tuple"), [{"C": 1e-6}, {"C": 1.0}], games[:50], games[900:950]
    )
    assert [result["C"] for result in results] == [1e-6, 1.0]
    calls = []
    decisions = games[900:950].decisions(random=False)
    again = outflank.sweep(
        outflank.IPref(features="1tuple"), [{"C": 1.0}], games[:50], decisions,
        progress=lambda *call: calls.append(call),
    )  # fmt: skip
    assert calls == [(1, 1, "")] and again[0]["score"] == results[1]["score"]
    with pytest.raises(OutflankError, match="no parameter 'D'"):
        outflank.sweep(outflank.IPref(), [{"D": 1}], games[:50])
    assert results[1]["score"] > 0.2
