"""Functions of the extension module with Python conveniences: paths and progress bars."""

from __future__ import annotations

import os
from collections.abc import Iterable

from outflank import _outflank
from outflank._outflank import Games, Position
from outflank.progress import with_progress

PathLike = str | os.PathLike[str]

play_match = with_progress(_outflank.play_match, "games")
league = with_progress(_outflank.league, "games")
analyze = with_progress(_outflank.analyze, "moves")
accuracy = with_progress(_outflank.accuracy, "decisions")
reproduce = with_progress(_outflank.reproduce, "messages")


def read_games(
    paths: PathLike | Iterable[PathLike],
    *,
    years: tuple[int, int] | None = None,
    by: str | None = None,
    tournament: str | None = None,
    sample: int | None = None,
    seed: int = 1,
) -> Games:
    """Reads games of Othello from files and folders, in any format.

    The formats are WTHOR, GGF, transcripts, OBF and boards; a file of positions gives games without
    moves. `years` is a first and a last year, `by` and `tournament` are parts of names (or whole
    names after `=`), and `sample` draws this many of the matching games at random.

    Raises OutflankError with the file and the place if any game is bad.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return _outflank.read_games(
        [os.fspath(path) for path in paths],
        years=years,
        by=by,
        tournament=tournament,
        sample=sample,
        seed=seed,
    )


def parse_games(content: bytes | str, name: str = "games") -> Games:
    """Parses games from the content of a file. The format is detected from the name or content."""
    if isinstance(content, str):
        content = content.encode()
    return _outflank.parse_games(content, name)


def perft(depth: int, position: Position | str | None = None, game: str = "othello") -> int:
    """Returns the number of leaf positions after `depth` plies. A forced pass counts as a ply."""
    if not isinstance(position, Position):
        position = Position(position, game)
    return position.perft(depth)
