"""Training methods as estimators with the interface of scikit-learn.

>>> train, test = outflank.embedded_games().split(0.8, 0.2)
>>> outflank.IPref(C=1.0, features="ntuple").fit(train).score(test)

An estimator is trained on games: a Games object or a list of Record. `score` is the accuracy of the
predicted moves among positions with two or more legal moves. `get_params` and `set_params` follow
scikit-learn, so `clone`, `GridSearchCV` and `cross_val_score` work.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from outflank import _outflank
from outflank._outflank import Decisions, Games, Model, OutflankError, Player, Record
from outflank.batch import Positions
from outflank.progress import run_with_progress

Self = TypeVar("Self", bound="Estimator")
GameSelf = TypeVar("GameSelf", bound="_GameEstimator")
GamesLike = Games | Iterable[Record]


class Estimator:
    """The common part of all estimators.

    After `fit`, `model_` is the trained Model and `summary_` describes the training run.
    """

    _estimator_type = "outflank"

    model_: Model

    @classmethod
    def _names(cls) -> list[str]:
        signature = inspect.signature(cls.__init__)
        return sorted(name for name in signature.parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the parameters of the constructor."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Self, **parameters: Any) -> Self:
        """Sets parameters and returns the estimator."""
        for name, value in parameters.items():
            if name not in self._names():
                raise OutflankError(
                    f"{type(self).__name__} has no parameter '{name}'; "
                    f"the parameters are {', '.join(self._names())}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(type(self).__init__).parameters.items()
        }
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name in self._names()
            if getattr(self, name) != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise OutflankError(f"this {type(self).__name__} is not fitted; call fit first")
        return self.model_

    def fit(self: Self, games: Any, y: Any = None, *, progress: Any = None) -> Self:
        """Trains the model on games. `y` is ignored."""
        raise NotImplementedError

    def score(self, games: GamesLike | Decisions, y: Any = None) -> float:
        """Returns the accuracy, 0 to 1: how often the best move is the move that was played."""
        model = self._fitted()
        if not isinstance(games, Decisions):
            games = Games(games).decisions(random=False)
        accuracy = _outflank.accuracy(model, games)
        return float(accuracy["choices"]["percent"]) / 100.0

    def predict(self, positions: Any) -> NDArray[np.int64]:
        """Returns the square of the best move of each position; 64 where the game is over."""
        positions = Positions.of(positions)
        scores = self._fitted().policy(positions)
        return np.where(positions.is_over, 64, scores.argmax(axis=1))

    def decision_function(self, positions: Any) -> NDArray[np.float32]:
        """Returns the scores of all squares (n x 64), -inf for illegal moves."""
        return self._fitted().policy(positions)

    def player(self, name: str | None = None) -> Player:
        """Returns a player that makes the best move of the trained model."""
        return Player(self._fitted(), name=name or type(self).__name__)


class _GameEstimator(Estimator):
    """A method that trains on games."""

    _method: str
    _options: Mapping[str, str]
    """The option of the learner for each parameter."""

    features: str
    by: str | None
    seed: int

    def fit(
        self: GameSelf,
        games: GamesLike,
        y: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Any = None,
    ) -> GameSelf:
        """Trains the model on games: Games or a list of Record. `y` is ignored.

        `checkpoint` is a folder; a call with the same arguments continues an interrupted run.
        """
        options = {option: getattr(self, name) for name, option in self._options.items()}
        games = Games(games)

        def work(callback: Any) -> Any:
            return _outflank.fit(
                self._method,
                games,
                options,
                features=self.features,
                by=self.by,
                seed=self.seed,
                checkpoint=checkpoint,
                progress=callback,
            )

        self.model_, about = run_with_progress(progress, "iterations", work)
        self.summary_ = about["summary"]
        self.remarks_ = about["remarks"]
        self.curve_ = about["curve"]
        self.n_iter_ = about["iterations"]
        return self


_SVM = {"C": "c", "tol": "tolerance", "max_iter": "max_iterations"}


class IPref(_GameEstimator):
    """Preference learning with board inversion (Runarsson & Lucas, 2014).

    `C` is the penalty parameter of the squared hinge loss. `solver` is "primal", "dual" or "online";
    `loss`, `epochs`, `learning_rate` and `discs_per_stage` are for "online", the others for the batch solvers.
    None stands for the default of the solver.
    """

    _method = "ipref"
    _options = {
        **_SVM,
        "solver": "solver",
        "binary": "binary",
        "loss": "loss",
        "epochs": "epochs",
        "learning_rate": "learning_rate",
        "discs_per_stage": "discs_per_stage",
    }

    def __init__(
        self,
        C: float = 1.0,
        features: str = "ntuple",
        *,
        solver: str = "primal",
        tol: float | None = None,
        max_iter: int | None = None,
        binary: bool | None = None,
        loss: str | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        discs_per_stage: int | None = None,
        by: str | None = None,
        seed: int = 1,
    ) -> None:
        self.C = C
        self.features = features
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.binary = binary
        self.loss = loss
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.discs_per_stage = discs_per_stage
        self.by = by
        self.seed = seed


class Pref(_GameEstimator):
    """Preference learning with output negation (Runarsson & Lucas, 2014)."""

    _method = "pref"
    _options = {**_SVM, "solver": "solver", "binary": "binary"}

    def __init__(
        self,
        C: float = 1.0,
        features: str = "ntuple",
        *,
        solver: str = "primal",
        tol: float | None = None,
        max_iter: int | None = None,
        binary: bool | None = None,
        by: str | None = None,
        seed: int = 1,
    ) -> None:
        self.C = C
        self.features = features
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.binary = binary
        self.by = by
        self.seed = seed


class Classify(_GameEstimator):
    """Classification of the chosen moves against all other moves."""

    _method = "classify"
    _options = {**_SVM, "balanced": "balanced"}

    def __init__(
        self,
        C: float = 1.0,
        features: str = "ntuple",
        *,
        balanced: bool = True,
        tol: float | None = None,
        max_iter: int | None = None,
        by: str | None = None,
        seed: int = 1,
    ) -> None:
        self.C = C
        self.features = features
        self.balanced = balanced
        self.tol = tol
        self.max_iter = max_iter
        self.by = by
        self.seed = seed


class MM(_GameEstimator):
    """A generalized Bradley-Terry model of moves by minorization-maximization (Coulom, 2007)."""

    _method = "mm"
    _options = {
        "prior": "prior",
        "tol": "tolerance",
        "max_iter": "max_iterations",
        "multivalued": "multivalued",
    }

    def __init__(
        self,
        features: str = "ntuple",
        *,
        prior: float = 1.0,
        tol: float | None = None,
        max_iter: int | None = None,
        multivalued: bool = False,
        by: str | None = None,
        seed: int = 1,
    ) -> None:
        self.features = features
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.multivalued = multivalued
        self.by = by
        self.seed = seed


class LSTD(_GameEstimator):
    """Least-squares temporal differences on the positions and results of games."""

    _method = "lstd"
    _options = {"lambda_": "lambda_", "ridge": "ridge"}

    def __init__(
        self,
        features: str = "ntuple",
        *,
        lambda_: float = 0.9,
        ridge: float = 1e-6,
        by: str | None = None,
        seed: int = 1,
    ) -> None:
        self.features = features
        self.lambda_ = lambda_
        self.ridge = ridge
        self.by = by
        self.seed = seed


class MovePredictor(_GameEstimator):
    """A linear policy of patterns in their context, trained online."""

    _method = "move-predictor"
    _options = {
        "loss": "loss",
        "epochs": "epochs",
        "learning_rate": "learning_rate",
        "discs_per_stage": "discs_per_stage",
        "afterstates": "afterstates",
    }

    def __init__(
        self,
        features: str = "ntuple",
        *,
        loss: str | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        discs_per_stage: int | None = None,
        afterstates: bool = False,
        by: str | None = None,
        seed: int = 1,
    ) -> None:
        self.features = features
        self.loss = loss
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.discs_per_stage = discs_per_stage
        self.afterstates = afterstates
        self.by = by
        self.seed = seed


def load_decisions(file: Any) -> Decisions:
    """Creates decisions from arrays: a mapping, or an .npz file of an export.

    The arrays are `own`, `other` and `move`, and optionally `side`, `game` and `ply`.
    """
    arrays = file if isinstance(file, Mapping) else np.load(file)
    for name in ("own", "other", "move"):
        if name not in arrays:
            raise OutflankError(f"there is no array '{name}'; the arrays are {', '.join(arrays)}")
    count = len(arrays["own"])

    def column(name: str, dtype: type) -> NDArray[Any]:
        values = arrays[name] if name in arrays else np.zeros(count, dtype)
        return np.ascontiguousarray(values, dtype)

    return _outflank.make_decisions(
        column("own", np.uint64),
        column("other", np.uint64),
        column("move", np.uint8),
        column("side", np.uint8),
        column("game", np.uint32),
        column("ply", np.uint8),
    )


def _fit_and_score(
    estimator: Estimator,
    parameters: Mapping[str, Any],
    train: Games | None,
    test: Games | Decisions | None,
) -> tuple[Estimator, float | None]:
    copy = type(estimator)(**{**estimator.get_params(), **parameters})
    copy.fit(train)
    return copy, None if test is None else copy.score(test)


def sweep(
    estimator: Estimator,
    parameters: Iterable[Mapping[str, Any]],
    train: GamesLike | None = None,
    test: GamesLike | Decisions | None = None,
    *,
    executor: Executor | None = None,
    progress: Any = None,
) -> list[dict[str, Any]]:
    """Trains an estimator with each of several sets of parameters and scores it on the test games.

    Returns one dictionary per set in the order given, for pandas.DataFrame: its parameters, `score`
    (None without test games) and `estimator`. Methods that learn by playing take no training games.
    With an executor the training runs spread over its processes; the results are the same.
    `progress` is called after each run.
    """
    sets = [dict(each) for each in parameters]
    train = None if train is None else Games(train)
    test = test if test is None or isinstance(test, Decisions) else Games(test)
    for each in sets:
        # Reports a wrong parameter before the first training run.
        type(estimator)(**estimator.get_params()).set_params(**each)

    def work(callback: Any) -> list[tuple[Estimator, float | None]]:
        run = functools.partial(_fit_and_score, estimator, train=train, test=test)
        futures = [executor.submit(run, each) for each in sets] if executor else []
        results = []
        try:
            for number, each in enumerate(sets):
                results.append(futures[number].result() if futures else run(each))
                if callback is not None:
                    callback(number + 1, len(sets), "")
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return results

    return [
        {**each, "score": score, "estimator": fitted}
        for each, (fitted, score) in zip(sets, run_with_progress(progress, "runs", work), strict=True)
    ]
