"""Methods that learn by playing, and convolutional networks, as estimators.

A trainer runs `outflank train METHOD` and reads the result. `fit` needs no games, except for CNN,
which takes game files:

>>> player = outflank.TDL(games=20_000).fit().player()
>>> network = outflank.CNN(net="conv4", epochs=1).fit("wthor/")     # or Games

After `fit`, `model_` is the trained Model (not of GP, whose heuristics are not one), `run_` the run
folder with its report, and `result_` the result of the program.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from outflank import _outflank, program
from outflank._outflank import Games, OutflankError, Player
from outflank.estimators import Estimator
from outflank.progress import run_with_progress

Self = TypeVar("Self", bound="Trainer")


class Trainer(Estimator):
    """The common part of the trainers.

    `options` holds further options of `outflank train METHOD`, such as `{"match_games": 100}`. `out`
    is the run folder; by default a temporary folder that is deleted with the trainer. `on` is a NATS
    server whose workers play the games.
    """

    _method: str
    _not_options = frozenset({"options", "out"})

    options: Mapping[str, Any] | None
    out: str | os.PathLike[str] | None

    run_: Path | None
    result_: dict[str, Any]

    def _arguments(self) -> dict[str, Any]:
        given = {n: v for n, v in self.get_params().items() if n not in self._not_options}
        return {**given, **(self.options or {})}

    def fit(self: Self, games: Any = None, y: Any = None, *, progress: Any = None) -> Self:
        """Trains the model. `games` are Games, or game files and folders, for CNN only.

        `progress` is called after each measurement of the run.
        """
        arguments = self._arguments()
        with contextlib.ExitStack() as stack:
            if games is not None:
                if self._method != "cnn":
                    raise OutflankError(
                        f"{type(self).__name__} learns by playing; call fit() without games"
                    )
                arguments["records"] = _game_files(games, stack)
            self._temporary = None
            out = self.out
            if out is None:
                self._temporary = tempfile.TemporaryDirectory(prefix="outflank-")
                out = Path(self._temporary.name) / "run"
            words = program.words({**arguments, "out": out, "quiet": True})
            line = [*program.command(), "train", self._method, *words, "--json"]

            def work(callback: Any) -> dict[str, Any]:
                poll = None if callback is None else _Metrics(Path(out), callback)
                result = program.run_line(line, poll=poll)
                if poll is not None:
                    poll()
                return result

            self.result_ = run_with_progress(progress, "units", work)
        self.run_ = Path(self.result_.get("run", out))
        self._read()
        return self

    def _read(self) -> None:
        self.model_ = _outflank.load_model(str(self.run_))

    def __getstate__(self) -> dict[str, Any]:
        # A temporary run folder stays with the process that trained.
        state = {**self.__dict__, "_temporary": None}
        if self.__dict__.get("_temporary") is not None:
            state["run_"] = None
        return state


def _game_files(games: Any, stack: contextlib.ExitStack) -> list[str]:
    """Returns paths of game files; games in memory are written to a file that `stack` deletes."""
    if isinstance(games, (str, os.PathLike)):
        return [os.fspath(games)]
    items = games if isinstance(games, Games) else list(games)
    if not isinstance(items, Games) and all(isinstance(i, (str, os.PathLike)) for i in items):
        return [os.fspath(item) for item in items]
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="outflank-"))
    path = Path(folder) / "games.ggf"
    Games(items).save(path)
    return [os.fspath(path)]


class _Metrics:
    """Reports the measurements of a run, which the program appends to its run folder."""

    def __init__(self, folder: Path, callback: Any) -> None:
        self._folder = folder
        self._callback = callback
        self._seen = 0
        self._total = 0

    def __call__(self) -> None:
        try:
            with open(self._folder / "metrics.csv", encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file))
        except FileNotFoundError:
            return
        if len(rows) < 2 or len(rows) == self._seen:
            return
        self._seen = len(rows)
        (unit, *names), (done, *values) = rows[0], rows[-1]
        self._total = self._total or self._budget(unit)
        pairs = zip(names, values, strict=True)
        message = ", ".join(
            f"{name} {float(value):.4g}"
            for name, value in pairs
            if value and not name.endswith(" error")
        )
        self._callback(int(done), self._total, message)

    def _budget(self, unit: str) -> int:
        """Returns the budget of the run's configuration in its unit, 0 if it is not stated."""
        text = (self._folder / "config.toml").read_text(encoding="utf-8")
        found = re.search(rf"^{re.escape(unit)} = (\d+)$", text, re.MULTILINE)
        return int(found[1]) if found else 0


class _Population(Trainer):
    def __init__(
        self,
        games: int = 2_000_000,
        *,
        shape: str | None = None,
        population: int | None = None,
        learning_rate: float | None = None,
        epsilon: float | None = None,
        options: Mapping[str, Any] | None = None,
        out: str | os.PathLike[str] | None = None,
        seed: int = 1,
        threads: int | None = None,
        on: str | None = None,
    ) -> None:
        self.games = games
        self.shape = shape
        self.population = population
        self.learning_rate = learning_rate
        self.epsilon = epsilon
        self.options = options
        self.out = out
        self.seed = seed
        self.threads = threads
        self.on = on


class TDL(_Population):
    """Temporal difference learning by self-play."""

    _method = "tdl"


class CEL(_Population):
    """Coevolutionary learning: selection by games within the population."""

    _method = "cel"


class HallOfFame(_Population):
    """Coevolution with a hall of fame of former champions."""

    _method = "hof"


class PTDL(_Population):
    """Parallel TDL: a population, each member trained by self-play."""

    _method = "ptdl"


class CTDL(_Population):
    """Coevolutionary TDL: coevolution with temporal difference learning."""

    _method = "ctdl"


class ETDL(_Population):
    """Evolutionary TDL: selection by games against the heuristic."""

    _method = "etdl"


class SelfPlay(Trainer):
    """TD(lambda) by self-play on large patterns with weights per stage of the game."""

    _method = "self-play"

    def __init__(
        self,
        games: int = 2_000_000,
        *,
        features: str = "patterns",
        learning_rate: float | None = None,
        lambda_: float | None = None,
        games_per_batch: int | None = None,
        options: Mapping[str, Any] | None = None,
        out: str | os.PathLike[str] | None = None,
        seed: int = 1,
        threads: int | None = None,
    ) -> None:
        self.games = games
        self.features = features
        self.learning_rate = learning_rate
        self.lambda_ = lambda_
        self.games_per_batch = games_per_batch
        self.options = options
        self.out = out
        self.seed = seed
        self.threads = threads


class ANN(Trainer):
    """Neural networks under TD(0): a pair of networks plays each other."""

    _method = "ann"

    def __init__(
        self,
        games: int = 307_200,
        *,
        net: str | None = None,
        learning_rate: float | None = None,
        lambda_: float | None = None,
        options: Mapping[str, Any] | None = None,
        out: str | os.PathLike[str] | None = None,
        seed: int = 1,
        threads: int | None = None,
    ) -> None:
        self.games = games
        self.net = net
        self.learning_rate = learning_rate
        self.lambda_ = lambda_
        self.options = options
        self.out = out
        self.seed = seed
        self.threads = threads


class CNN(Trainer):
    """A convolutional network that predicts expert moves (Liskowski, Jaskowski & Krawiec, 2018)."""

    _method = "cnn"

    def __init__(
        self,
        net: str | None = None,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        device: str | None = None,
        options: Mapping[str, Any] | None = None,
        out: str | os.PathLike[str] | None = None,
        seed: int = 1,
        threads: int | None = None,
    ) -> None:
        self.net = net
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.device = device
        self.options = options
        self.out = out
        self.seed = seed
        self.threads = threads


class GP(Trainer):
    """Gaussian-process preference learning of heuristics, compared by games."""

    _method = "gp"

    def __init__(
        self,
        rounds: int | None = None,
        *,
        game: str = "othello",
        depth: int | None = None,
        games_per_pair: int | None = None,
        options: Mapping[str, Any] | None = None,
        out: str | os.PathLike[str] | None = None,
        seed: int = 1,
        threads: int | None = None,
    ) -> None:
        self.rounds = rounds
        self.game = game
        self.depth = depth
        self.games_per_pair = games_per_pair
        self.options = options
        self.out = out
        self.seed = seed
        self.threads = threads

    def _read(self) -> None:
        # A heuristic of named features is not a model of squares.
        pass

    def score(self, games: Any, y: Any = None) -> float:
        """Not available: a heuristic of named features is searched, not compared with moves."""
        raise OutflankError("GP trains heuristics, which are rated by matches; use player()")

    def player(self, name: str | None = None) -> Player:
        """Returns a player that searches with the trained heuristic."""
        if not hasattr(self, "run_"):
            raise OutflankError("this GP is not fitted; call fit first")
        if self.run_ is None:
            raise OutflankError("the run folder stayed in the process that trained; set out to keep it")
        depth = self.depth or 4
        return Player(f"{self.run_}@{depth}", name=name or "GP", game=self.game)
