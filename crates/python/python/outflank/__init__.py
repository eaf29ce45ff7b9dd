"""Othello and checkers: rules, game records, models, players, matches and training.

    >>> import outflank
    >>> outflank.Position().perft(6)
    8200
    >>> outflank.Player("champion@4").choose(outflank.Game("f5d6c3"))
    'd3'
"""

from outflank._outflank import (
    Analysis,
    Decisions,
    ExperimentReport,
    Game,
    Games,
    League,
    MatchResult,
    Model,
    OutflankError,
    Player,
    Position,
    Record,
    Solution,
    __version__,
    embedded_games,
    experiments,
    load_model,
    players,
    solve,
)
from outflank import program
from outflank._functions import (
    accuracy,
    analyze,
    league,
    parse_games,
    perft,
    play_match,
    read_games,
    reproduce,
)
from outflank.batch import Positions, random_games, transform_squares
from outflank.estimators import (
    LSTD,
    MM,
    Classify,
    IPref,
    MovePredictor,
    Pref,
    load_decisions,
    sweep,
)
from outflank.policies import OnnxPolicy, TorchPolicy
from outflank.progress import tqdm_progress
from outflank.trainers import ANN, CEL, CNN, CTDL, ETDL, GP, PTDL, TDL, HallOfFame, SelfPlay

__all__ = [
    "ANN",
    "Analysis",
    "CEL",
    "CNN",
    "CTDL",
    "Classify",
    "Decisions",
    "ETDL",
    "ExperimentReport",
    "GP",
    "Game",
    "Games",
    "HallOfFame",
    "IPref",
    "LSTD",
    "League",
    "MM",
    "MatchResult",
    "Model",
    "MovePredictor",
    "OnnxPolicy",
    "OutflankError",
    "PTDL",
    "Player",
    "Position",
    "Positions",
    "Pref",
    "Record",
    "SelfPlay",
    "Solution",
    "TDL",
    "TorchPolicy",
    "__version__",
    "accuracy",
    "analyze",
    "embedded_games",
    "experiments",
    "league",
    "load_decisions",
    "load_model",
    "parse_games",
    "perft",
    "play_match",
    "players",
    "program",
    "random_games",
    "read_games",
    "reproduce",
    "solve",
    "sweep",
    "tqdm_progress",
    "transform_squares",
]
