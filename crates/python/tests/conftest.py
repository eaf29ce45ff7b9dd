"""Fixtures: the data folder and the command-line program, where they exist."""

import os
import pathlib
import shutil

import pytest

import outflank

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    """The data folder of OUTFLANK_DATA."""
    folder = os.environ.get("OUTFLANK_DATA")
    if not folder:
        pytest.skip("OUTFLANK_DATA is not set")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def program() -> str:
    """The command-line program: OUTFLANK_PROGRAM, or the release build of the checkout."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = os.environ.get("OUTFLANK_PROGRAM") or shutil.which(str(target / "release" / "outflank"))
    if not built:
        pytest.skip("the program outflank is not built")
    return built


@pytest.fixture(scope="session")
def games() -> outflank.Games:
    """Every tenth embedded game."""
    return outflank.embedded_games()[::10]
